"""The LP over the continuous columns by PDLP, where it is too large for simplex."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from solvers.core.device import Device, cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.mip.model import MipModel
from solvers.mip.solutions.polish.split import ContinuousPart

if TYPE_CHECKING:
    from solvers.pdlp.warm_started import WarmStarted

TOLERANCE = 1e-8
"""Relative, because points are checked by an absolute 1e-6 on rows of any size."""

ITERATIONS = 20_000
"""Iterations of one LP, which PDLP would never end where there is no solution."""


class FirstOrder:
    """PDLP from the multipliers of the last LP; one run at a time, from any thread."""

    def __init__(self, model: MipModel, part: ContinuousPart, device: str) -> None:
        self._problem = part.problem(model)
        self._device = device
        self._sequence: WarmStarted | None = None
        self._lock = threading.Lock()

    def solve(
        self, low: FloatArray, high: FloatArray, guess: FloatArray, seconds: float
    ) -> tuple[FloatArray | None, bool]:
        """Return values (k,) for row sides (r,) and whether they are optimal.

        ``guess`` (k,) is where to start. What comes back at the time limit may be feasible
        enough or not: the caller checks. None where other threads' LPs took all the time.
        """
        began = Progress(time_limit=seconds)
        with self._lock:
            if began.should_stop() is not None:
                return None, False
            sequence = self._prepared()
            point = sequence.solve(
                row_lower=low,
                row_upper=high,
                x=guess,
                seconds=began.time_left,
                iterations=ITERATIONS,
            )
        return point.x, point.is_converged

    def _prepared(self) -> WarmStarted:
        if self._sequence is None:
            device = find_device(self._device)
            try:
                self._sequence = self._on(device)
            except Exception as error:
                if device.kind == "cpu" or not device.is_out_of_memory(error):
                    raise
                device.release_memory()
                self._sequence = self._on(cpu())
        return self._sequence

    def _on(self, device: Device) -> WarmStarted:
        from solvers.pdlp.warm_started import WarmStarted  # few models' LPs are that large

        options = EngineOptions(threads=1, tolerance=TOLERANCE)
        return WarmStarted(self._problem, options, device, Progress())
