"""Vectors, and states, that wait for later in less of the host's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.pdlp.state import State


@dataclass(frozen=True, eq=False)
class Compact:
    """A vector for later, without its zeros where these are more than a third of it."""

    size: int
    places: npt.NDArray[np.int32] | None
    values: FloatArray

    @classmethod
    def of(cls, vector: FloatArray) -> Compact:
        """Keep a vector, the array itself where it has few zeros."""
        if 3 * np.count_nonzero(vector) > 2 * vector.size:
            return cls(vector.size, None, vector)
        places = np.flatnonzero(vector).astype(np.int32)
        return cls(vector.size, places, vector[places])

    @property
    def vector(self) -> FloatArray:
        """The vector (size,)."""
        if self.places is None:
            return self.values
        found = np.zeros(self.size)
        found[self.places] = self.values
        return found


def parked(state: State) -> Callable[[], None]:
    """Let a state on the CPU wait between two blocks; return what makes it ready again.

    What the next block writes before anybody reads it is forgotten; so are zeros, and a best point
    that is the last one. A GPU's state stays as it is.
    """
    if not isinstance(state.reflected, np.ndarray):
        return lambda: None
    kept: list[tuple[object, str, Compact]] = []
    nothing = np.zeros(0)
    for side in (state.x, state.y):
        is_latest = np.array_equal(side.best, side.projection)
        for name in ("point", "anchor", "projection", *(() if is_latest else ("best",))):
            kept.append((side, name, Compact.of(getattr(side, name))))
            setattr(side, name, nothing)
        side.best = side.difference = side.first_difference = nothing
    kept.append((state, "feasible_x", Compact.of(state.feasible_x)))
    state.feasible_x = state.reflected = nothing

    def ready() -> None:
        for owner, name, vector in kept:
            setattr(owner, name, vector.vector)
        for side in (state.x, state.y):
            if side.best.size < side.projection.size:
                side.best = side.projection.copy()
            side.difference = np.zeros(side.projection.size)
            side.first_difference = np.zeros(side.projection.size)
        state.reflected = np.zeros(state.x.point.size)

    return ready
