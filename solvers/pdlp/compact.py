"""Vectors, and states, that wait for later in less of the host's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.problem import FloatArray
from solvers.pdlp.state import State


@dataclass(frozen=True, eq=False)
class Compact:
    """A vector for later, without its zeros where these are more than a third of it."""

    size: int
    places: npt.NDArray[np.int32] | None
    values: FloatArray

    @classmethod
    def of(cls, vector: FloatArray, threads: int = 1) -> Compact:
        """Keep a vector, the array itself where it has few zeros, on so many threads at most."""
        from solvers.native.pdlp_compact import compact, count_filled

        threads = threads_for(STEPS_PER_LOOK * vector.size, threads)
        begins = np.zeros(threads + 1, dtype=np.int64)
        count_filled(vector, begins[1:], threads)
        np.cumsum(begins, out=begins)
        filled = int(begins[-1])
        if 3 * filled > 2 * vector.size:
            return cls(vector.size, None, vector)
        places, values = np.empty(filled, dtype=np.int32), np.empty(filled)
        compact(vector, begins, places, values, threads)
        return cls(vector.size, places, values)

    @property
    def vector(self) -> FloatArray:
        """The vector (size,)."""
        if self.places is None:
            return self.values
        found = np.zeros(self.size)
        found[self.places] = self.values
        return found


ITERATED = ("point", "anchor", "projection")
"""Vectors of a side from which the next block begins."""

PASSING = ("difference", "first_difference")
"""Those that it writes anew."""


def is_the_hosts(state: State) -> bool:
    """Whether the vectors of a state are the host's, in the problem's own order."""
    return state.problem.device.kind == "cpu" and isinstance(state.reflected, np.ndarray)


def without_passing(state: State, names: Sequence[str] = PASSING) -> None:
    """Let a state on the CPU forget vectors of both sides that the next block writes anew.

    The zeros in their place take memory as they are written.
    """
    if not is_the_hosts(state):
        return
    state.reflected = np.zeros(state.reflected.size)
    for side in (state.x, state.y):
        for name in names:
            setattr(side, name, np.zeros(getattr(side, name).size))


def parked(state: State) -> Callable[[], None]:
    """Let a state on the CPU wait between two blocks; return what makes it ready again.

    What the next block writes before anybody reads it is forgotten; so are zeros, and a best point
    that is the last one. A GPU's state stays as it is.
    """
    if not is_the_hosts(state):
        return lambda: None
    kept: list[tuple[object, str, Compact]] = []
    for side in (state.x, state.y):
        if not np.array_equal(side.best, side.projection):
            kept.append((side, "best", Compact.of(side.best)))
        side.best = np.zeros(0)
    kept.append((state, "feasible_x", Compact.of(state.feasible_x)))
    state.feasible_x = np.zeros(0)
    iterate_ready = without_iterate(state)

    def ready() -> None:
        iterate_ready()
        for owner, name, vector in kept:
            setattr(owner, name, vector.vector)
        for side in (state.x, state.y):
            if side.best.size < side.projection.size:
                side.best = side.projection.copy()

    return ready


def without_iterate(state: State) -> Callable[[], None]:
    """Take from a state on the CPU all but its best points; return what brings the rest back."""
    if not is_the_hosts(state):
        return lambda: None
    nothing = np.zeros(0)
    kept: list[tuple[object, str, Compact]] = []
    for side in (state.x, state.y):
        for name in ITERATED:
            kept.append((side, name, Compact.of(getattr(side, name))))
            setattr(side, name, nothing)
        for name in PASSING:
            setattr(side, name, nothing)
    state.reflected = nothing

    def ready() -> None:
        for owner, name, vector in kept:
            setattr(owner, name, vector.vector)
        for side in (state.x, state.y):
            for name in PASSING:
                setattr(side, name, np.zeros(side.projection.size))
        state.reflected = np.zeros(state.x.projection.size)

    return ready
