"""What comes of a candidate, whose integers are all decided, and what the next one is to be.

From an infeasible LP follows a side: Farkas' lemma makes one of all its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.constructive import trivial_points
from solvers.mip.heuristics.lazy_clause.grid import Sides
from solvers.mip.heuristics.lazy_clause.state import Count, SliceEnd, State
from solvers.mip.model import SAME, IndexArray, MipModel, Submit, is_feasible
from solvers.mip.portfolio.credit import CLAUSES
from solvers.mip.solutions.polish import Polished, PolishStatus
from solvers.native.mip_heuristics_lazy_clause import learn_decisions, learn_row

Side = tuple[IndexArray, FloatArray, float]
"""Codes, coefficients above zero, and the right-hand side; see ``sides``."""


def aggregated(model: MipModel, rows: IndexArray, ray: FloatArray) -> list[Side]:
    """Return the sides that the rows of an LP make when added with the weights of a Farkas ray.

    Both signs of the ray are tried, as solvers do not agree on it; a sign that needs a side which a
    row does not have gives nothing. Every feasible point of the model keeps a returned side, up to
    rounding errors.

    Parameters
    ----------
    rows : (k,) int32
    ray : (k,) float64
    """
    if not ray.size or rows.size != ray.size:
        return []
    sides = []
    for weights in (ray, -ray):
        ends = np.where(weights > 0.0, model.row_upper[rows], model.row_lower[rows])
        if not np.isfinite(ends).all():
            continue
        total = np.asarray(weights @ model.problem.matrix[rows])
        right = float(np.sum(weights * ends))
        size = np.abs(total)
        rounding = (model.is_integer == 0) & (size <= SAME * np.max(size, initial=0.0))
        columns = np.flatnonzero((size > 0.0) & ~rounding)
        codes = (2 * columns + (total[columns] < 0.0)).astype(np.int32)
        sides.append((codes, size[columns], right))
    return sides


Settle = Callable[[FloatArray, str, float], Polished]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What came of a candidate."""

    status: int
    """How the search is to go on; see :class:`SliceEnd`."""
    point: FloatArray | None = None
    """(n,) float64: a feasible point with these integers."""
    is_refuted: bool = False
    """Whether an LP has shown that no values of the continuous columns go with them."""


class Candidates:
    """Judges the candidates of one search.

    Parameters
    ----------
    sides, state : Sides, State
        Of the search; what a candidate teaches becomes a clause there.
    submit, settle : callable
        See ``ClauseSearch``.
    """

    def __init__(
        self, model: MipModel, sides: Sides, state: State, submit: Submit, settle: Settle | None
    ) -> None:
        self._model = model
        self._sides = sides
        self._state = state
        self._submit = submit
        continuous = model.is_integer == 0
        self._settle = settle if continuous.any() else None
        self._continuous_entries = int(np.count_nonzero(continuous[model.rows.indices]))

    def judge(self, budget: Budget) -> Verdict:
        """Submit the point at which the search stands, and learn from what comes of it."""
        low, high = self._state.bound[0::2], -self._state.bound[1::2]
        values = np.where(np.isfinite(low), low, np.minimum(high, 0.0))
        point = self._model.rounded(values[:-1])
        if self._settle is None:
            feasible = is_feasible(self._model, point)
            self._submit(point, CLAUSES)
            return Verdict(SliceEnd.RUNNING, point) if feasible else Verdict(self._refuse())
        return self._judge_by_lp(self._settle, point, budget)

    def _judge_by_lp(self, settle: Settle, point: FloatArray, budget: Budget) -> Verdict:
        """Let an LP find the values of the continuous columns, or a row that excludes them."""
        polished = settle(point, CLAUSES, budget.seconds_left if budget.is_timed else np.inf)
        # an iteration of the simplex visits each entry of the continuous part about once
        budget.charge(float(polished.iterations * self._continuous_entries))
        if polished.x is not None:
            status = self._refuse()  # these integers have nothing better
            return (
                Verdict(status)
                if status == SliceEnd.EXHAUSTED
                else Verdict(SliceEnd.RUNNING, polished.x)
            )
        if polished.status is PolishStatus.LIMIT:
            return Verdict(SliceEnd.RUNNING)
        for codes, coefficients, right in aggregated(self._model, polished.conflict, polished.ray):
            status = learn_row(self._sides, self._state, codes, coefficients, right)
            if status >= 0:
                return Verdict(status, is_refuted=True)
        return Verdict(self._refuse(), is_refuted=True)

    def _refuse(self) -> int:
        """Learn that the present decisions lead nowhere."""
        return int(learn_decisions(self._sides, self._state))


# How much better the next point is to be, and the values that columns are to have until then.
#
# Improving by the smallest step at a time takes as many points as there are steps, and most of them
# teach nothing. So the search assumes more: that the count of the objective is at most a target
# between both ends (progressive search, as in stratified and in core-boosted MaxSAT; Berg,
# Demirovic, Stuckey 2019). A target that is met makes the next one bolder; one that is refuted
# raises the lower end; one that takes too long gives way to one that is closer to the best point.
#
# A target is reached over rungs, each an assumption of its own. Explanations take the weakest rung
# that they can do with, so that what is learned below a bold target holds for others, too.
#
# Halving the way from the beginning is too bold: where a contradiction takes long, as in models
# with long rows, most of the time went into targets that are out of reach. A first share of 1/256
# came to better points than 1/32 on 18 of 34 runs and to worse ones on 12; faster growth, or twice
# the time for each target, to worse ones on most (17 models of integers, two seeds, 300 million
# entries).
#
# A descent keeps the values that columns had (Pipatsrisawat, Darwiche 2007), and now and then takes
# them anew: while there is no point, from where most columns were fixed and from plain or random
# ends; afterwards from the relaxation, from the ends that the objective wants and from the best
# point, one for each target (as in solution-guided search; Demirovic, Chu, Stuckey 2018).


FIRST = 1 / 256
"""Share of the way that the first target takes."""

BOLDEST = 1 / 2
"""Largest share of the way that a target takes."""

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
            state.order.preferred[:] = state.order.closest
        elif kind == 1 and starts:
            state.order.preferred[:-1] = starts[int(self._rng.integers(len(starts)))]
        elif kind == 1:
            state.order.preferred[:-1] = self.plain[turn % len(self.plain)]
        else:
            state.order.preferred[:-1] = self._random_ends(state)

    def better(self, state: State, best: FloatArray | None) -> None:
        """Take values from another source than the last ones, to come to a better point."""
        starts, kind = self._starts(), BETTER[self._turn % len(BETTER)]
        self._turn += 1
        state.counts[Count.MOST_FIXED] = 0
        if kind == "start" and starts:
            state.order.preferred[:-1] = starts[-1]
        elif kind == "best" and best is not None:
            state.order.preferred[:-1] = best
        elif kind == "objective":
            state.order.preferred[:-1] = self.plain[0]

    def _random_ends(self, state: State) -> FloatArray:
        low, high = state.bound[0:-2:2], -state.bound[1:-2:2]
        preferred = np.where(self._rng.random(low.size) < 0.5, low, high)
        return np.where(np.isfinite(preferred), preferred, self.plain[0])
