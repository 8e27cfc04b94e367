"""How much better the next point is to be, and the values that columns are to have until then.

Improving by the smallest step at a time takes as many points as there are steps, and most of them
teach nothing. So the search assumes more: that the count of the objective is at most a target
between both ends (progressive search, as in stratified and in core-boosted MaxSAT; Berg, Demirovic,
Stuckey 2019). A target that is met makes the next one bolder; one that is refuted raises the lower
end; one that takes too long gives way to one that is closer to the best point.

A target is reached over rungs, each an assumption of its own. Explanations take the weakest rung
that they can do with, so that what is learned below a bold target holds for others, too.

Halving the way from the beginning is too bold: where a contradiction takes long, as in models with
long rows, most of the time went into targets that are out of reach. A first share of 1/256 came to
better points than 1/32 on 18 of 34 runs and to worse ones on 12; faster growth, or twice the time
for each target, to worse ones on most (17 models of integers, two seeds, 300 million entries).

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

FIRST = 1 / 256
"""Share of the way that the first target takes."""

BOLDEST = 1 / 2
"""Largest share."""

CAUTION, CONFIDENCE = 1 / 4, 2.0
"""What the share is multiplied by after a target that took too long, and after one that was met."""

RUNG_RATIO, NUM_RUNGS = 1 / 4, 4
"""Distance of a rung from the best point, over that of the next one, and rungs up to the target."""

DISTANT = 0.1
"""Where no bound is known: distance to it, relative to the count of the best point."""


class Targets:
    """The policy: what to assume next, from what became of the last assumption."""

    def __init__(self) -> None:
        self._share = FIRST
        self._is_plain = False

    def rungs(self, least: float, most: float) -> list[float]:
        """Return the counts to assume, falling; none for a plain search.

        Parameters
        ----------
        least : float
            No count is below; -inf where nothing is known.
        most : float
            Largest count that is an improvement.
        """
        way = most - least if np.isfinite(least) else DISTANT * max(1.0, abs(most))
        reach = np.ceil(self._share * way)
        self._is_plain = not 1.0 <= self._share * way <= most - least
        if self._is_plain:
            return []
        steps = {float(np.floor(reach * RUNG_RATIO**k)) for k in range(NUM_RUNGS)}
        return [most - step for step in sorted(steps) if step >= 1.0]

    def met(self) -> None:
        """Take note that a point was found."""
        self._share = min(BOLDEST, self._share * CONFIDENCE)

    def spent(self) -> None:
        """Take note that the attempt came to nothing."""
        self._share *= CAUTION
        if self._is_plain:
            self._share = FIRST


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
