"""What solves that follow each other on one matrix have in common: their limits, their weight.

``warm_started`` solves one problem after the other, ``shared_matrix`` several at once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import allowed_duals
from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress

WEIGHT_RANGE = 1e3
"""How far the primal weight carried over may be from the one that the new data suggest, as a
factor: a solve that ended badly leaves an absurd one behind."""


VECTORS = ("cost", "lower", "upper", "row_lower", "row_upper")
"""What may change from solve to solve, by the names of ``Problem``."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where a solve of a sequence ended.

    Parameters
    ----------
    x : (n,) float64
        Within its bounds.
    y : (m,) float64
        Row duals of allowed signs.
    objective : float
        c'x + offset.
    error : float
        The largest of the relative primal residual, dual residual and gap; inf where none was
        measured.
    iterations : int
        Of this solve.
    is_converged : bool
        Whether ``error`` is within the tolerance asked for.
    """

    x: FloatArray
    y: FloatArray
    objective: float
    error: float
    iterations: int
    is_converged: bool


class Clock(Progress):
    """The limits of one of several solves, and whatever stops them all."""

    def __init__(self, outer: Progress) -> None:
        super().__init__()
        self._outer = outer

    def restart(self, seconds: float) -> None:
        """Let so many seconds pass from now."""
        self.time_limit = self.seconds + seconds

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        return self._outer.should_stop() or super().should_stop()


class OwnStream:
    """A stream of its own on a GPU for everything that one object does there."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._stream = None if device.kind == "cpu" else device.xp.cuda.Stream(non_blocking=True)

    def activate(self) -> AbstractContextManager[Any]:
        """Make the device and the stream the current ones."""
        if self._stream is None:
            return nullcontext()
        stack = ExitStack()
        stack.enter_context(self._device.xp.cuda.Device(self._device.index))
        stack.enter_context(self._stream)
        return stack


def within_limits(
    x: FloatArray,
    y: FloatArray,
    *,
    lower: FloatArray,
    upper: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return points within their bounds and duals of allowed signs, zeros for what is unknown."""
    x = np.clip(np.where(np.isfinite(x), x, 0.0), lower, upper)
    y = np.where(np.isfinite(y), y, 0.0)
    return x, allowed_duals(y, row_lower, row_upper)


def near_suggested(weight: Any, suggested: Any) -> Any:
    """Return a weight carried over, or the nearest that is not absurd beside the suggested one."""
    return np.clip(weight, suggested / WEIGHT_RANGE, suggested * WEIGHT_RANGE)
