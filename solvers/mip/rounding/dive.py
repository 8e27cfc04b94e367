"""One dive: fix the integer columns one by one, propagate, go back or repair where it fails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.cliques import Cliques
from solvers.mip.domain import Domain
from solvers.mip.domain.state import WORK
from solvers.mip.model import IndexArray, MipModel, is_feasible
from solvers.mip.rounding.choose import Guide, guide_of
from solvers.mip.rounding.dive_loops import (
    CONFLICTS,
    CURSOR,
    DONE,
    FULL,
    GAVE_UP,
    NODES,
    RUNNING,
    Search,
    dive_leniently,
    new_search,
    search_depth_first,
)
from solvers.mip.rounding.orders import order_columns
from solvers.mip.rounding.random import seeded
from solvers.mip.rounding.repair import MAX_SHIFTS, Walk, collect, new_walk, release, repair
from solvers.mip.rounding.strategy import Mode, Strategy, Value
from solvers.problem import FloatArray

SLICE = 1_000_000
"""Entries visited between two looks at the budget: about ten milliseconds."""

SEARCH_PER_NONZERO = 30
"""Entries that the depth-first search of one dive may visit, for each entry of the matrix.

The paper allows 100 and one dive of each kind; here dives are repeated with other seeds.
"""

SMALLEST_SEARCH = 1_000_000
"""The same at least, for small models."""

MORE_NODES = 200
"""Nodes of a depth-first search beyond one for each integer column (the paper's limit)."""


@dataclass(frozen=True, eq=False)
class Dive:
    """Where a dive has ended.

    Parameters
    ----------
    x : (n,) float64
        Integer columns whole and all columns within the model's bounds.
    is_feasible : bool
        Whether ``x`` is a feasible point of the model as it stands.
    integers_feasible : bool
        Whether the integer columns were fixed without a contradiction: without continuous columns
        that is feasibility, with them an LP may find the rest.
    violated_rows : int
        Rows broken once all integers were fixed, whatever the continuous columns do.
    nodes, conflicts : int
        Decisions tried, and how many of them led to a contradiction.
    work : int
        Entries of the matrix visited.
    is_complete : bool
        False where the budget ended the dive on its way; ``x`` is then no more than a start.
    """

    x: FloatArray
    is_feasible: bool
    integers_feasible: bool
    violated_rows: int
    nodes: int
    conflicts: int
    work: int
    is_complete: bool


class Diver:
    """Dives from one box, over and over: what they share is prepared once.

    Parameters
    ----------
    model : MipModel
    domain : Domain
        Propagated box to dive from; it is not changed.
    reference : (n,) float64, optional
        Point that guided strategies go by, mostly that of the relaxation.
    cliques : Cliques, optional
        Without them the order by cliques is that by type.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        reference: FloatArray | None = None,
        cliques: Cliques | None = None,
    ) -> None:
        self.model = model
        self._domain = domain
        self._cliques = cliques
        self._has_reference = reference is not None
        self._guide = guide_of(model, reference)
        self._walk = new_walk(model.num_rows, model.num_columns)
        self._continuous = np.flatnonzero(model.is_integer == 0).astype(np.int32)

    def dive(self, strategy: Strategy, seed: int, budget: Budget) -> Dive:
        """Dive once; seed 0 takes a strategy's order as it is, others disturb it."""
        domain = self._domain.copy()
        order = order_columns(
            self.model, domain.box.bounds, strategy.order, self._guide, self._cliques, seed
        )
        attempt = _Attempt(self.model, domain, self._guide, self._walk, order, seed, budget)
        attempt.fix_integers(strategy)
        broken = attempt.repair()
        if self._continuous.size and attempt.is_consistent:
            attempt.fix_continuous(self._continuous, self._has_reference)
        return attempt.result(broken)


def dive(
    model: MipModel,
    domain: Domain,
    strategy: Strategy,
    seed: int,
    budget: Budget,
    reference: FloatArray | None = None,
    cliques: Cliques | None = None,
) -> Dive:
    """Dive once from ``domain``; see :class:`Diver`, which is cheaper for several dives."""
    return Diver(model, domain, reference, cliques).dive(strategy, seed, budget)


class _Attempt:
    """A dive on its way: its box, its stack and its share of the budget."""

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        guide: Guide,
        walk: Walk,
        order: IndexArray,
        seed: int,
        budget: Budget,
    ) -> None:
        self.model = model
        self.domain = domain
        self.guide = guide
        self.walk = walk
        self.budget = budget
        walk.last[:] = -MAX_SHIFTS
        walk.clock[:] = 0
        self.search: Search = new_search(order, domain.box.bounds, seeded(seed, order.size))
        self.base = domain.mark()
        self.begin = self.charged = domain.work
        self.is_complete = True
        self.is_consistent = False

    def fix_integers(self, strategy: Strategy) -> None:
        """Fix the columns of the order, by search while that is allowed, then whatever comes."""
        mode, rule = strategy.mode.value, strategy.value.value
        if strategy.mode in (Mode.DFS, Mode.DFS_REPAIR) and not self._search(rule, mode):
            mode = Mode.DIVE_PROPAGATE.value
        self._fix_all(self.search, rule, mode)

    def fix_continuous(self, columns: IndexArray, by_reference: bool) -> None:
        """Fix the continuous columns one by one where propagation leaves them."""
        self.search.counts[CURSOR] = 0
        rule = Value.REFERENCE if by_reference else Value.GOOD_OBJECTIVE
        search = self.search._replace(order=columns)
        self._fix_all(search, rule.value, Mode.DIVE_PROPAGATE.value)

    def _fix_all(self, search: Search, rule: int, mode: int) -> None:
        domain = self.domain
        while True:
            domain.reserve()
            status = dive_leniently(
                domain.matrix,
                domain.box,
                self.guide,
                search,
                self.walk,
                rule,
                mode,
                self._slice_end(),
                domain.cap,
            )
            if not self._goes_on(status):
                return

    def _search(self, rule: int, mode: int) -> bool:
        """Dive depth-first; whether that has fixed all columns."""
        domain, size = self.domain, self.domain.matrix.row_value.size
        limit = self.begin + max(SMALLEST_SEARCH, SEARCH_PER_NONZERO * size)
        nodes = self.search.order.size + MORE_NODES
        status = RUNNING
        while status != GAVE_UP and domain.work < limit:
            domain.reserve()
            status = search_depth_first(
                domain.matrix,
                domain.box,
                self.guide,
                self.search,
                self.walk,
                rule,
                mode,
                nodes,
                min(limit, self._slice_end()),
                domain.cap,
            )
            if not self._goes_on(status) or status == DONE:
                break
        if domain.is_infeasible:
            self._start_over()
        return bool(status == DONE)

    def _start_over(self) -> None:
        """Empty the stack: the search has excluded everything that it looks at."""
        self.domain.undo(self.base)
        self.search.counts[CURSOR] = 0

    def repair(self) -> int:
        """Mend the box where all integers are fixed; return how many rows stay broken."""
        matrix, search = self.domain.matrix, self.search
        self.domain.reserve()
        if not self.is_complete:
            return int(collect(self.domain.box, self.walk))
        box, cap = self.domain.box, self.domain.cap
        self.is_consistent = release(matrix, box, search.root, cap)
        if not self.is_consistent:
            end = int(box.counts[WORK]) + SLICE
            self.is_consistent = repair(
                matrix, box, search.root, self.walk, search.random, MAX_SHIFTS, end, cap
            )
        self._charge()
        return int(collect(box, self.walk))

    def result(self, broken: int) -> Dive:
        """Read the point off the box."""
        bounds, counts = self.domain.box.bounds, self.search.counts
        finite = np.where(np.isfinite(bounds[0]), bounds[0], np.minimum(bounds[1], 0.0))
        x = self.model.rounded(finite)
        self._charge()
        feasible = is_feasible(self.model, x)
        return Dive(
            x=x,
            is_feasible=feasible,
            integers_feasible=feasible or self.is_consistent,
            violated_rows=broken,
            nodes=int(counts[NODES]),
            conflicts=int(counts[CONFLICTS]),
            work=self.domain.work - self.begin,
            is_complete=self.is_complete,
        )

    def _slice_end(self) -> int:
        return self.domain.work + int(min(SLICE, self.budget.work_left)) + 1

    def _goes_on(self, status: int) -> bool:
        """Charge the work done and say whether to call the loop again."""
        self._charge()
        if status == RUNNING and self.budget.spent():
            self.is_complete = False
            return False
        return status in (RUNNING, FULL)

    def _charge(self) -> None:
        self.budget.charge(self.domain.work - self.charged)
        self.charged = self.domain.work
