"""Values that columns are to have, as long as nothing that was learned speaks against them.

A descent keeps the values that columns had (Pipatsrisawat, Darwiche 2007), and now and then takes
them anew: while there is no point, from where most columns were fixed and from plain or random
ends; afterwards from the relaxation, from the ends that the objective wants and from the best
point, one for each target (as in solution-guided search; Demirovic, Chu, Stuckey 2018).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lazy_clause.state import Count, State
from solvers.mip.heuristics.trivial import trivial_points
from solvers.mip.model import MipModel

BETTER = ("start", "objective", "best")
"""Sources of values for one attempt after the other at a better point."""


class ValueSelection:
    """Where values come from, in turn.

    Parameters
    ----------
    model : MipModel
    rng : Generator
    starts : callable
        Returns points (n,) whose values are worth trying, the best first.
    """

    def __init__(
        self, model: MipModel, rng: np.random.Generator, starts: Callable[[], list[FloatArray]]
    ) -> None:
        self.plain = trivial_points(model)
        self._rng = rng
        self._starts = starts
        self._turn = 0
        self._refused = 0

    def after_refusal(self) -> FloatArray | None:
        """Return other bounds after a candidate was refused, each of them once."""
        if self._refused >= len(self.plain):
            return None
        self._refused += 1
        return self.plain[-self._refused]

    def anew(self, state: State) -> None:
        """Take values from another source than the last ones, to come to a first point."""
        starts, turn, kind = self._starts(), self._turn // 4, self._turn % 4
        self._turn += 1
        state.counts[Count.MOST_FIXED] = 0
        if kind in (0, 2):
            state.preferred[:] = state.closest
        elif kind == 1 and starts:
            state.preferred[:-1] = starts[int(self._rng.integers(len(starts)))]
        elif kind == 1:
            state.preferred[:-1] = self.plain[turn % len(self.plain)]
        else:
            state.preferred[:-1] = self._random_ends(state)

    def better(self, state: State, best: FloatArray | None) -> None:
        """Take values from another source than the last ones, to come to a better point."""
        starts, kind = self._starts(), BETTER[self._turn % len(BETTER)]
        self._turn += 1
        state.counts[Count.MOST_FIXED] = 0
        if kind == "start" and starts:
            state.preferred[:-1] = starts[-1]
        elif kind == "best" and best is not None:
            state.preferred[:-1] = best
        elif kind == "objective":
            state.preferred[:-1] = self.plain[0]

    def _random_ends(self, state: State) -> FloatArray:
        low, high = state.bound[0:-2:2], -state.bound[1:-2:2]
        preferred = np.where(self._rng.random(low.size) < 0.5, low, high)
        return np.where(np.isfinite(preferred), preferred, self.plain[0])
