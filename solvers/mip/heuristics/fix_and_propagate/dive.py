"""One dive: fix the integer columns one by one, propagate, go back or repair where it fails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.attempt import Attempt
from solvers.mip.heuristics.fix_and_propagate.choose import guide_of
from solvers.mip.heuristics.fix_and_propagate.dive_stack import (
    CONFLICTS,
    CURSOR,
    DONE,
    GAVE_UP,
    NODES,
    RUNNING,
    new_search,
)
from solvers.mip.heuristics.fix_and_propagate.orders import order_columns
from solvers.mip.heuristics.fix_and_propagate.random import seeded
from solvers.mip.heuristics.fix_and_propagate.repair_state import new_walk
from solvers.mip.heuristics.fix_and_propagate.strategy import Mode, Strategy
from solvers.mip.inference.cliques import Cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_heuristics_fix_and_propagate_dive import search_depth_first

SEARCH_PER_NONZERO = 30
"""Entries that the depth-first search of one dive may visit, for each entry of the matrix.

The paper allows 100 and one dive of each kind; here dives are repeated with other seeds.
"""

SMALLEST_SEARCH = 300_000
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
        search = new_search(order, domain.box.bounds, seeded(seed, order.size))
        attempt = Attempt(self.model, domain, self._guide, self._walk, search, budget)
        _fix_integers(attempt, strategy)
        broken = attempt.settle()
        if self._continuous.size and attempt.is_consistent:
            attempt.fix_continuous(self._continuous, self._has_reference)
        x = attempt.point()
        feasible = is_feasible(self.model, x)
        return Dive(
            x=x,
            is_feasible=feasible,
            integers_feasible=feasible or attempt.is_consistent,
            violated_rows=broken,
            nodes=int(search.counts[NODES]),
            conflicts=int(search.counts[CONFLICTS]),
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
    cliques: Cliques | None = None,
) -> Dive:
    """Dive once from ``domain``; see :class:`Diver`, which is cheaper for several dives."""
    return Diver(model, domain, reference, cliques).dive(strategy, seed, budget)


def _fix_integers(attempt: Attempt, strategy: Strategy) -> None:
    """Fix the columns of the order, by search while that is allowed, then whatever comes."""
    mode, rule = strategy.mode, strategy.value.value
    if mode in (Mode.DFS, Mode.DFS_REPAIR):
        if _search(attempt, rule, mode.value) or not attempt.is_complete:
            return
        mode = Mode.DIVE_PROPAGATE
    attempt.fix_all(attempt.search, rule, mode.value)


def _search(attempt: Attempt, rule: int, mode: int) -> bool:
    """Dive depth-first; whether that has fixed all columns."""
    domain, search = attempt.domain, attempt.search
    limit = domain.work + max(SMALLEST_SEARCH, SEARCH_PER_NONZERO * domain.model.num_nonzeros)
    nodes = search.order.size + MORE_NODES
    status = RUNNING
    while status != GAVE_UP and domain.work < limit:
        domain.reserve()
        status = search_depth_first(
            domain.model,
            domain.box,
            attempt.guide,
            search,
            attempt.walk,
            rule,
            mode,
            nodes,
            min(limit, attempt.slice_end()),
            domain.cap,
        )
        if not attempt.goes_on(status):
            break
    if domain.is_infeasible:  # the search has excluded everything that it looks at
        domain.undo(attempt.base)
        search.counts[CURSOR] = 0
    return status == DONE
