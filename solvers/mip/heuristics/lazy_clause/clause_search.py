"""The search from outside: slices by budget, restarts, targets, what to do with a candidate.

Restarts come after Luby's sequence of contradictions (Luby, Sinclair, Zuckerman).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import SLICE, VERY_LARGE_MODEL, Budget
from solvers.mip.heuristics.lazy_clause.candidates import (
    Candidates,
    Settle,
    Targets,
    ValueSelection,
)
from solvers.mip.heuristics.lazy_clause.grid import bounds_of, grid_of, is_safe, sides_of
from solvers.mip.heuristics.lazy_clause.state import (
    Count,
    SliceEnd,
    reduce_clauses,
    state_of,
)
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel, Submit
from solvers.mip.portfolio.credit import CLAUSES
from solvers.mip.portfolio.heuristic import Declined, Heuristic, HeuristicContext, Needs, Report
from solvers.native.mip_heuristics_lazy_clause import (
    begin,
    limit_count,
    search,
    settle_root,
    to_root,
    watch_clauses,
)

RESTART_UNIT = 100
"""Contradictions before the first restart, times Luby's sequence; fewer where they take long and
there is a point."""

LEAST_UNIT = 10
"""The same where they take longest."""

WORK_PER_UNIT = 1e7
"""Entries visited in as many contradictions as a unit has at most: a tenth of a second. Where one
takes 400,000, a hundred of them would leave time for two targets in a second. While there is no
point they are not cut short: tbfp-network came to its first one later, or not at all."""


def unit_of(conflicts: int, work: int) -> int:
    """Return the contradictions that make a unit, from how many took how much work so far."""
    affordable = WORK_PER_UNIT * conflicts / max(1, work)
    return int(min(max(affordable, LEAST_UNIT), RESTART_UNIT))


def luby(k: int) -> int:
    """Return number k = 1, 2, ... of Luby's sequence: 1 1 2 1 1 2 4 ..."""
    while True:
        size = k.bit_length()
        if k == (1 << size) - 1:
            return 1 << (size - 1)
        k -= (1 << (size - 1)) - 1


FIRST_CLAUSES, MORE_CLAUSES = 4000, 500
"""Clauses kept before half of them are dropped, and how many more after each time."""

WISHES_EVERY = 8
"""Restarts from one setting of the values to the next, while there is no point."""


def nothing_believed() -> float:
    """Return -inf: that no objective is too low to be believed."""
    return -np.inf


class Status(Enum):
    """How a run ended."""

    SPENT = "the budget was spent"
    EXHAUSTED = "nothing is left to search"


class ClauseSearch:
    """A search of one model that goes on from run to run; one run at a time.

    Parameters
    ----------
    domain : Domain
        Propagated box to search; it is not changed.
    starts : callable
        Returns points (n,) whose values are worth trying, the best first: near ones, that of the
        relaxation, which is the last. Asked now and then.
    settle : callable, optional
        Submits a point whose integers are decided, and returns what an LP says of its continuous
        columns within so many seconds. Needed where there are such columns.
    believed : callable, optional
        Returns an objective that points can hardly be below, such as the relaxation's, or -inf. It
        says how far a bold target is away, and nothing follows from it.

    Attributes
    ----------
    state : State
    grid : Grid
        How the objective is counted.
    targets : Targets
        What is assumed about the objective.
    most, least : float
        Largest count that is an improvement, inf without a point; and none is below this one.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        seed: int,
        submit: Submit,
        starts: Callable[[], list[FloatArray]] = list,
        settle: Settle | None = None,
        believed: Callable[[], float] = nothing_believed,
    ) -> None:
        self._model = model
        self._believed = believed
        rng = np.random.default_rng(seed)
        bound = bounds_of(domain.lower, domain.upper)
        self.grid = grid_of(model, domain.lower, domain.upper)
        self._sides, right = sides_of(model, bound, self.grid)
        self._is_safe = is_safe(self._sides, right, bound)
        self._values = ValueSelection(model, rng, starts)
        self.state = state_of(self._sides, right, bound, self._values.plain[0])
        self._candidates = Candidates(model, self._sides, self.state, submit, settle)
        self.targets = Targets()
        self.most, self.least = np.inf, -np.inf
        self._best: FloatArray | None = None
        self._next: FloatArray | None = None
        self._is_over = False
        self._restarts = self._aimed_at = 0
        self._limit = FIRST_CLAUSES
        self._patience = RESTART_UNIT
        self._begin(rng)
        self._aim()
        self._plain_least = self.least

    @property
    def conflicts(self) -> int:
        """Contradictions so far."""
        return int(self.state.counts[Count.CONFLICTS])

    @property
    def proven(self) -> float:
        """What no feasible point's objective is below, offset included; inf if there is no point.

        -inf where sums are rounded, so that nothing the search concludes is a proof, and while
        nothing is known but what the columns' bounds say.
        """
        if not self._is_safe or not (self._is_over or self.least > self._plain_least):
            return -np.inf
        return np.inf if np.isposinf(self.least) else self.grid.objective_of(self.least)

    def beat(self, objective: float, point: FloatArray | None = None) -> None:
        """Look only for points that are better than ``objective``, offset included.

        ``point`` (n,) is one that has it; its values are those to try first.
        """
        most = self.grid.below(objective)
        if point is not None:
            most = min(most, self.grid.below_point(point))
        if most >= self.most:
            return
        if np.isposinf(self.most):
            to_root(self._sides, self.state)
            self.state.sums.right[-1] = 0.0
            self.state.bound[-1] = self.state.root[-1] = -most
            begin(self._sides, self.state)
        elif limit_count(self._sides, self.state, most) == SliceEnd.EXHAUSTED:
            self._is_over = True
        self.most, self._best = most, point
        self.targets.met()
        self._aim()
        if point is not None:
            self.state.order.preferred[:-1] = point

    def run(self, budget: Budget) -> Status:
        """Search until the budget is spent or nothing is left."""
        state, counts = self.state, self.state.counts
        while not budget.spent() and not self._is_over:
            before = int(counts[Count.WORK])
            end = before + int(min(SLICE, budget.work_left)) + 1
            status = int(search(self._sides, state, end))
            if status == SliceEnd.CANDIDATE:
                status = self._judge(budget)
            budget.charge(float(counts[Count.WORK] - before))
            if status == SliceEnd.REFUTED:
                self._aim()
            if status == SliceEnd.RESTART:
                status = self._restart()
            self._is_over |= status == SliceEnd.EXHAUSTED
        if self._is_over:
            self.least = self.most + 1.0
        return Status.EXHAUSTED if self._is_over else Status.SPENT

    def _begin(self, rng: np.random.Generator) -> None:
        state = self.state
        entries = self._sides.by_code.lengths[:-2]
        density = (entries[0::2] + entries[1::2]).astype(np.float64)
        density *= 0.5 / max(1.0, float(density.max(initial=1.0)))
        state.order.score[:-1] = density + 0.1 * rng.random(density.size)
        begin(self._sides, state)
        state.counts[Count.UNTIL_RESTART] = RESTART_UNIT

    def _aim(self) -> None:
        """Set the next target, at the root, and note what the root proves."""
        to_root(self._sides, self.state)
        state, counts = self.state, self.state.counts
        counts[Count.RUNGS] = 0
        self._aimed_at = self.conflicts
        if self._is_over:
            return
        least = float(state.bound[-2])
        if state.sums.infinite[-1] == 0:
            least = max(least, float(state.sums.activity[-1] - state.bound[-1]))
        self.least = max(self.least, min(least, self.most + 1.0))
        if np.isfinite(self.most):
            hint = self.grid.nearest(self._believed())
            rungs = self.targets.rungs(max(self.least, min(hint, self.most)), self.most)
            state.rung[: len(rungs)] = rungs
            counts[Count.RUNGS] = len(rungs)

    def _judge(self, budget: Budget) -> int:
        """Go on from a candidate: below its objective, or with other values where it is refuted.

        While one candidate is due to each of the bounds, the next ends come at once.
        """
        verdict = self._candidates.judge(budget)
        if verdict.point is not None:
            self.beat(self._model.objective_at(verdict.point), verdict.point)
        if not verdict.is_refuted or verdict.status == SliceEnd.EXHAUSTED:
            return verdict.status
        self._next = self._values.after_refusal()
        return verdict.status if self._next is None else SliceEnd.RESTART

    def _restart(self) -> int:
        state, counts = self.state, self.state.counts
        status = settle_root(self._sides, state)
        if counts[Count.CLAUSES] > self._limit:
            reduce_clauses(state)
            watch_clauses(self._sides, state)
            self._limit += MORE_CLAUSES
        self._restarts += 1
        if np.isfinite(self.most):
            self._patience = unit_of(self.conflicts, int(counts[Count.WORK]))
        counts[Count.UNTIL_RESTART] = self._patience * luby(self._restarts)
        if self._next is not None:
            state.order.preferred[:-1] = self._next
            self._next = None
        elif np.isfinite(self.most):
            self._try_another_target()
        elif self._restarts % WISHES_EVERY == 0:
            self._values.anew(state)
        return status

    def _try_another_target(self) -> None:
        """Take another target, and other values, where the present one has taken too long."""
        if self.conflicts - self._aimed_at >= self._patience:
            self.targets.spent()
            self._values.better(self.state, self._best)
            self._aim()


MOST_INTEGERS = 500_000
"""Integer columns of a model up to which it is searched: one takes 150 bytes, or 700 if it is no
binary, and an entry up to 48."""

_State = tuple[HeuristicContext, ClauseSearch]


class LazyClause(Heuristic[HeuristicContext, _State]):
    """One search for each turn that runs at a time, until one of them has excluded everything."""

    name = CLAUSES
    needs = Needs(integers=True, most_entries=VERY_LARGE_MODEL)

    def prepare(self, context: HeuristicContext) -> HeuristicContext:
        """Leave out models with too many integers."""
        if context.model.integers.size > MOST_INTEGERS:
            raise Declined(f"there are more than {MOST_INTEGERS:,} integer columns")
        return context

    def begin(self, prepared: HeuristicContext, number: int) -> _State:
        """Begin a search from what is known of the columns."""
        context = prepared

        def starts() -> list[FloatArray]:
            """Return points whose values are worth trying."""
            acceptance, reference = context.acceptance, context.reference()
            best = [point.x for point in acceptance.pool.points()[:1]]
            infeasible = [point.x for point in acceptance.infeasible_points.points()[:2]]
            return [*best, *infeasible, *([] if reference is None else [reference])]

        def believed() -> float:
            """Return the relaxation's objective where it is to be relied on."""
            relaxation = context.relaxation
            is_exact = relaxation is not None and relaxation.is_exact
            return relaxation.objective if relaxation is not None and is_exact else -np.inf

        return context, ClauseSearch(
            context.model,
            context.domain,
            context.seed_of("clauses", number),
            context.submit,
            starts=starts,
            settle=context.acceptance.settle,
            believed=believed,
        )

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Go on, for points better than the best."""
        context, search = state
        best = context.acceptance.pool.best
        if best is not None:
            search.beat(best.objective, best.x)
        status = search.run(budget)
        return Report(is_over=status is Status.EXHAUSTED, proven=search.proven)
