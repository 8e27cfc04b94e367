"""One dive: fix the integer columns one by one, propagate, go back where it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.budget import SLICE, SMALL_MODEL, Budget
from solvers.mip.heuristics.fix_and_propagate.strategy import (
    Guide,
    Mode,
    Strategy,
    Value,
    guide_of,
    order_columns,
)
from solvers.mip.inference.domain import Domain
from solvers.mip.model import IndexArray, MipModel, is_feasible
from solvers.native.mip_heuristics_fix_and_propagate_dive import (
    count_broken,
    dive_leniently,
    search_depth_first,
)

RandomState = npt.NDArray[np.uint64]


def seeded(*seeds: int) -> RandomState:
    """Return the state (1,) that belongs to a few whole numbers."""
    sequence = np.random.SeedSequence([seed % 2**63 for seed in seeds])
    state: RandomState = sequence.generate_state(1, dtype=np.uint64).astype(np.uint64)
    return state


class SliceEnd(IntEnum):
    """How a slice of a dive ends."""

    RUNNING = 0
    """Its work is spent."""
    FULL = auto()
    """The trail is full."""
    DONE = auto()
    """All columns are fixed."""
    GAVE_UP = auto()
    """There is no search, or no more."""


class Count(IntEnum):
    """Places in ``Search.counts``: next column, decisions on the stack, and tallies."""

    CURSOR = 0
    DEPTH = auto()
    NODES = auto()


class Search(NamedTuple):
    """The order and the stack of a dive over k integer columns."""

    order: IndexArray
    """(k,) int32."""
    stack_column: IndexArray
    stack_value: FloatArray
    """(k,) int32, float64: decisions taken."""
    stack_place: np.ndarray
    stack_cursor: np.ndarray
    """(k,) int64 each: where the trail and the order stood before each."""
    random: RandomState
    """(1,) uint64."""
    counts: np.ndarray
    """(len(Count),) int64."""


def new_search(order: IndexArray, random: RandomState) -> Search:
    """Return the state of a dive that has decided nothing yet."""
    k = order.size
    return Search(
        order=np.ascontiguousarray(order, dtype=np.int32),
        stack_column=np.zeros(k, dtype=np.int32),
        stack_value=np.zeros(k),
        stack_place=np.zeros(k, dtype=np.int64),
        stack_cursor=np.zeros(k, dtype=np.int64),
        random=random,
        counts=np.zeros(len(Count), dtype=np.int64),
    )


@dataclass(eq=False)
class Attempt:
    """What the steps of a dive share: a domain of their own, the continuous columns."""

    model: MipModel
    domain: Domain
    """Changed from here on."""
    guide: Guide
    search: Search
    """Order, stack and random numbers."""
    budget: Budget
    """Charged with the work done."""
    is_complete: bool = field(default=True, init=False)
    is_consistent: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.base = self.domain.mark()
        self._begin = self._charged = self.domain.work

    @property
    def work(self) -> int:
        """Entries visited by this attempt."""
        return self.domain.work - self._begin

    def fix_all(self, search: Search, rule: int, mode: int) -> None:
        """Fix the columns of an order, passing contradictions over."""
        domain = self.domain
        while True:
            domain.reserve()
            status = dive_leniently(
                domain.model,
                domain.box,
                self.guide,
                search,
                rule,
                mode,
                self.slice_end(),
                domain.cap,
            )
            if not self.goes_on(status):
                return

    def fix_continuous(self, columns: IndexArray, by_reference: bool) -> None:
        """Fix the continuous columns one by one where propagation leaves them."""
        self.search.counts[Count.CURSOR] = 0
        rule = Value.REFERENCE if by_reference else Value.GOOD_OBJECTIVE
        search = self.search._replace(order=columns)
        self.fix_all(search, rule.value, Mode.DIVE_PROPAGATE.value)

    def settle(self) -> int:
        """Check the box where all integers are fixed; return how many rows are broken."""
        if self.is_complete:
            self.is_consistent = self.domain.propagate()
        self.charge()
        return count_broken(self.domain.box)

    def point(self) -> FloatArray:
        """Read the point off the box: the lower bounds, where there are any."""
        low, high = self.domain.box.bounds
        return self.model.rounded(np.where(np.isfinite(low), low, np.minimum(high, 0.0)))

    def slice_end(self) -> int:
        """Return the reading of the work counter at which to look at the budget."""
        return self.domain.work + int(min(SLICE, self.budget.work_left)) + 1

    def goes_on(self, status: int) -> bool:
        """Charge the work done and say whether to call the loop again."""
        self.charge()
        if status == SliceEnd.RUNNING and self.budget.spent():
            self.is_complete = False
            return False
        return status in (SliceEnd.RUNNING, SliceEnd.FULL)

    def charge(self) -> None:
        """Charge the work done since the last time."""
        self.budget.charge(self.domain.work - self._charged)
        self._charged = self.domain.work


SEARCH_PER_NONZERO = 30
"""Entries that the depth-first search of one dive may visit, for each entry of the matrix.

The paper allows 100 and one dive of each kind; here dives are repeated with other seeds.
"""

MORE_NODES = 200
"""Nodes of a depth-first search beyond one for each integer column (the paper's limit)."""


@dataclass(frozen=True, eq=False)
class DiveResult:
    """Where a dive has ended."""

    x: FloatArray
    """(n,) float64: integer columns whole and all columns within the model's bounds."""
    is_feasible: bool
    """Whether ``x`` is a feasible point of the model as it stands."""
    integers_feasible: bool
    """Whether the integer columns were fixed without a contradiction: without continuous columns
    that is feasibility, with them an LP may find the rest."""
    violated_rows: int
    """Rows broken once all integers were fixed, whatever the continuous columns do."""
    work: int
    """Entries of the matrix visited."""
    is_complete: bool
    """False where the budget ended the dive on its way; ``x`` is then no more than a start."""


class Diver:
    """Dives from one box, over and over: what they share is prepared once.

    Parameters
    ----------
    domain : Domain
        Propagated box to dive from; it is not changed.
    reference : (n,) float64, optional
        Point that guided strategies go by, mostly that of the relaxation.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        reference: FloatArray | None = None,
    ) -> None:
        self.model = model
        self._domain = domain
        self._has_reference = reference is not None
        self._guide = guide_of(model, reference)
        self._continuous = np.flatnonzero(model.is_integer == 0).astype(np.int32)

    def dive(self, strategy: Strategy, seed: int, budget: Budget) -> DiveResult:
        """Dive once; seed 0 takes a strategy's order as it is, others disturb it."""
        domain = self._domain.copy()
        order = order_columns(self.model, domain.box.bounds, strategy.order, self._guide, seed)
        search = new_search(order, seeded(seed, order.size))
        attempt = Attempt(self.model, domain, self._guide, search, budget)
        _fix_integers(attempt, strategy)
        broken = attempt.settle()
        if self._continuous.size and attempt.is_consistent:
            attempt.fix_continuous(self._continuous, self._has_reference)
        x = attempt.point()
        feasible = is_feasible(self.model, x)
        return DiveResult(
            x=x,
            is_feasible=feasible,
            integers_feasible=feasible or attempt.is_consistent,
            violated_rows=broken,
            work=attempt.work,
            is_complete=attempt.is_complete,
        )


def dive(
    model: MipModel,
    domain: Domain,
    strategy: Strategy,
    seed: int,
    budget: Budget,
    reference: FloatArray | None = None,
) -> DiveResult:
    """Dive once from ``domain``; see :class:`Diver`, which is cheaper for several dives."""
    return Diver(model, domain, reference).dive(strategy, seed, budget)


def _fix_integers(attempt: Attempt, strategy: Strategy) -> None:
    """Fix the columns of the order, by search while that is allowed, then whatever comes."""
    mode, rule = strategy.mode, strategy.value.value
    if mode is Mode.DFS:
        if _search(attempt, rule) or not attempt.is_complete:
            return
        mode = Mode.DIVE_PROPAGATE
    attempt.fix_all(attempt.search, rule, mode.value)


def _search(attempt: Attempt, rule: int) -> bool:
    """Dive depth-first; whether that has fixed all columns."""
    domain, search = attempt.domain, attempt.search
    limit = domain.work + SEARCH_PER_NONZERO * max(SMALL_MODEL, domain.model.num_nonzeros)
    nodes = search.order.size + MORE_NODES
    status: int = SliceEnd.RUNNING
    while status != SliceEnd.GAVE_UP and domain.work < limit:
        domain.reserve()
        status = search_depth_first(
            domain.model,
            domain.box,
            attempt.guide,
            search,
            rule,
            nodes,
            min(limit, attempt.slice_end()),
            domain.cap,
        )
        if not attempt.goes_on(status):
            break
    if domain.is_infeasible:  # the search has excluded everything that it looks at
        domain.undo(attempt.base)
        search.counts[Count.CURSOR] = 0
    return status == SliceEnd.DONE
