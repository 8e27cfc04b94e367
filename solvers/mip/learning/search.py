"""The search from outside: slices by budget, restarts, what to do with a candidate."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.domain import Domain
from solvers.mip.learning.clauses import reduce_clauses
from solvers.mip.learning.doors import (
    begin,
    learn_decisions,
    learn_row,
    search,
    settle_root,
    to_root,
    watch_clauses,
)
from solvers.mip.learning.farkas import aggregated
from solvers.mip.learning.loop import CANDIDATE, EXHAUSTED, RESTART, RUNNING
from solvers.mip.learning.sides import ROUNDING_OF_SUMS, bounds_of, sides_of, whole_costs
from solvers.mip.learning.state import (
    CLAUSES,
    CONFLICTS,
    MOST_FIXED,
    UNTIL_RESTART,
    WORK,
    state_of,
)
from solvers.mip.learning.wishes import plain_wishes
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.polish import Polished, PolishStatus
from solvers.mip.pool import Offer
from solvers.problem import FloatArray

SLICE = 1_000_000
"""Entries visited between two looks at the budget: some ten milliseconds."""

RESTART_UNIT = 100
"""Contradictions before the first restart, times Luby's sequence."""

FIRST_CLAUSES, MORE_CLAUSES = 4000, 500
"""Clauses kept before half of them are dropped, and how many more after each time."""

WISHES_EVERY = 8
"""Restarts from one setting of the values to the next."""

WORK_PER_ITERATION = 1.0
"""Visits of each entry of the continuous part that an iteration of the simplex counts for."""

SOURCE = "clause search"


MOST_ENTRIES, MOST_INTEGERS = 5_000_000, 500_000
"""Entries and integer columns of a model up to which it is searched: an entry takes up to 48 bytes,
a column 150, or 700 if it is no binary."""

Settle = Callable[[FloatArray, str, float], Polished]


class Status(Enum):
    """How a run ended."""

    SPENT = "the budget was spent"
    EXHAUSTED = "nothing is left to search"


def suits(model: MipModel) -> bool:
    """Whether a model is one to search: with integers, and not too large."""
    return 0 < int(model.integers.size) <= MOST_INTEGERS and model.num_nonzeros <= MOST_ENTRIES


class ClauseSearch:
    """A search of one model that goes on from run to run; one run at a time.

    Parameters
    ----------
    model : MipModel
    domain : Domain
        Propagated box to search; it is not changed.
    seed : int
    offer : Offer
    starts : callable
        Returns points (n,) whose values are worth trying, the best first: near ones, that of the
        relaxation. Asked now and then.
    settle : callable, optional
        Offers a point whose integers are decided, and returns what an LP says of its continuous
        columns within so many seconds. Needed where there are such columns.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        seed: int,
        offer: Offer,
        starts: Callable[[], list[FloatArray]] = list,
        settle: Settle | None = None,
    ) -> None:
        self._model = model
        self._offer = offer
        self._starts = starts
        self._settle = settle
        self._rng = np.random.default_rng(seed)
        continuous = model.is_integer == 0
        self._is_whole = not continuous.any()
        self._continuous_entries = int(np.count_nonzero(continuous[model.row_column]))
        bound = bounds_of(domain.lower, domain.upper)
        self._sides, right = sides_of(model, bound)
        self._plain = plain_wishes(model)
        self.state = state_of(self._sides, right, bound, self._plain[0])
        self._begin()

    @property
    def conflicts(self) -> int:
        """Contradictions so far."""
        return int(self.state.counts[CONFLICTS])

    def beat(self, objective: float) -> None:
        """Look only for points that are better than ``objective``, offset included."""
        to_root(self._sides, self.state)
        target = objective - self._model.offset
        room = ROUNDING_OF_SUMS * max(1.0, abs(target))
        gain = 1.0 if whole_costs(self._model) else max(room, 1e-4 * abs(target))
        side = target - gain + (0.5 if whole_costs(self._model) else 0.0)
        self.state.right[-1] = min(self.state.right[-1], side)
        begin(self._sides, self.state)

    def run(self, budget: Budget) -> Status:
        """Search until the budget is spent or nothing is left."""
        state, counts = self.state, self.state.counts
        while not budget.spent():
            before = int(counts[WORK])
            end = before + int(min(SLICE, budget.work_left)) + 1
            status = int(search(self._sides, state, end))
            if status == CANDIDATE:
                status = self._judge(budget)
            budget.charge(float(counts[WORK] - before))
            if status == RESTART:
                status = self._restart()
            if status == EXHAUSTED:
                return Status.EXHAUSTED
        return Status.SPENT

    def _begin(self) -> None:
        state = self.state
        score = np.diff(self._sides.code_start)
        density = (score[0::2] + score[1::2]).astype(np.float64)
        noise = self._rng.random(density.size)
        state.score[:] = 0.5 * density / max(1.0, float(density.max(initial=1.0))) + 0.1 * noise
        begin(self._sides, state)
        state.counts[UNTIL_RESTART] = RESTART_UNIT
        self._restarts = 0
        self._wishes = 0
        self._tried = 0
        self._next: FloatArray | None = None
        self._limit = FIRST_CLAUSES

    def _judge(self, budget: Budget) -> int:
        """Offer a point whose integers are all fixed, and learn from what comes of it."""
        low, high = self.state.bound[0::2], -self.state.bound[1::2]
        point = self._model.rounded(np.where(np.isfinite(low), low, np.minimum(high, 0.0)))
        if self._settle is None or self._is_whole:
            feasible = is_feasible(self._model, point)
            self._offer(point, SOURCE)
            return self._found(point) if feasible else self._refuse()
        polished = self._settle(point, SOURCE, budget.seconds_left if budget.is_timed else np.inf)
        budget.charge(WORK_PER_ITERATION * polished.iterations * self._continuous_entries)
        if polished.x is not None:
            status = self._refuse()  # these integers have nothing better
            return EXHAUSTED if status == EXHAUSTED else self._found(polished.x)
        if polished.status is PolishStatus.LIMIT:
            return RUNNING
        for codes, coefficients, right in aggregated(self._model, polished.conflict, polished.ray):
            status = learn_row(self._sides, self.state, codes, coefficients, right)
            if status >= 0:
                return self._after_refusal(status)
        return self._after_refusal(self._refuse())

    def _after_refusal(self, status: int) -> int:
        """Try the next ends of the bounds at once, while one candidate is due to each of them."""
        if status == EXHAUSTED or self._tried >= len(self._plain):
            return status
        self._tried += 1
        self._next = self._plain[-self._tried]
        return RESTART

    def _found(self, point: FloatArray) -> int:
        """Go on with what is better than a feasible point."""
        if not np.any(self._model.cost):
            return EXHAUSTED
        self.beat(self._model.objective_at(point))
        return RUNNING

    def _refuse(self) -> int:
        """Learn that the present decisions lead nowhere."""
        return learn_decisions(self._sides, self.state)

    def _restart(self) -> int:
        state, counts = self.state, self.state.counts
        status = settle_root(self._sides, state)
        if counts[CLAUSES] > self._limit:
            reduce_clauses(state)
            watch_clauses(self._sides, state)
            self._limit += MORE_CLAUSES
        self._restarts += 1
        counts[UNTIL_RESTART] = RESTART_UNIT * luby(self._restarts)
        if self._next is not None:
            state.wish[:] = self._next
            self._next = None
        elif self._restarts % WISHES_EVERY == 0:
            self._wish_anew()
        return status

    def _wish_anew(self) -> None:
        """Take the values to try from another source than the last ones."""
        state, starts, turn = self.state, self._starts(), self._wishes // 4
        kind = self._wishes % 4
        self._wishes += 1
        state.counts[MOST_FIXED] = 0
        if kind in (0, 2):
            state.wish[:] = state.closest
        elif kind == 1 and starts:
            state.wish[:] = starts[int(self._rng.integers(len(starts)))]
        elif kind == 1:
            state.wish[:] = self._plain[turn % len(self._plain)]
        else:
            state.wish[:] = self._random_ends()

    def _random_ends(self) -> FloatArray:
        low, high = self.state.bound[0::2], -self.state.bound[1::2]
        wish = np.where(self._rng.random(low.size) < 0.5, low, high)
        return np.where(np.isfinite(wish), wish, self._plain[0])


def luby(k: int) -> int:
    """Return number k = 1, 2, ... of Luby's sequence: 1 1 2 1 1 2 4 ..."""
    while True:
        size = k.bit_length()
        if k == (1 << size) - 1:
            return 1 << (size - 1)
        k -= (1 << (size - 1)) - 1
