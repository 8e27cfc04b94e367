"""Swap moves with costs as the schedule sees them, once there is a point."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.annealing.heuristic import MOST_ENTRIES
from solvers.mip.heuristics.annealing.with_costs.rounds import CostSwapMoves
from solvers.mip.heuristics.annealing.with_costs.structure import Structure, find_structure
from solvers.mip.heuristics.local_search.heuristic import (
    SearchSpace,
    aggregated_space,
    full_space,
)
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import OVER, UNFINISHED, Declined, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

LEAST_SHARE = 0.15
"""What these searches are due at least."""

IN_VAIN = 0.4
"""Factor of their share for each turn without a better point."""


@dataclass(eq=False)
class _Prepared:
    context: HeuristicContext
    usual: float = 0.0
    due: float | None = None  # None: as usual


_State = tuple[_Prepared, CostSwapMoves]


class CostAnnealing(Heuristic[_Prepared, _State]):
    """One search for each turn that runs at a time, due less and less while it is in vain.

    They are on the model as it is, or without its implied columns, whichever consists of groups
    and slacks.
    """

    name = "swap moves with costs"
    needs = Needs(pool_size=1, most_entries=MOST_ENTRIES)

    def prepare(self, context: HeuristicContext) -> _Prepared:
        """Keep for later what has been in vain."""
        return _Prepared(context)

    def begin(self, prepared: _Prepared, number: int) -> _State:
        """Look for groups and slacks, once, and begin a search in them."""
        context = prepared.context
        found = context.once(self, lambda: _space_with_structure(context))
        if found is None:
            raise Declined("the model does not consist of groups and slacks")
        space, structure = found

        def best() -> FloatArray | None:
            point = context.acceptance.pool.best
            return None if point is None else space.here(point.x)

        seed = context.seed_of("exchanges with costs", number)
        return prepared, CostSwapMoves(space.model, structure, space.submit, best, seed)

    def share(self, prepared: _Prepared, usual: float) -> float:
        """Return the share that turns in vain have left."""
        prepared.usual = usual
        return usual if prepared.due is None else prepared.due

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Go on, and count whether it was in vain."""
        prepared, search = state
        pool = prepared.context.acceptance.pool
        before = pool.objective
        if not search.run(budget):
            return OVER
        due = prepared.usual if prepared.due is None else prepared.due
        prepared.due = None if pool.objective < before else max(LEAST_SHARE, IN_VAIN * due)
        return UNFINISHED


def _space_with_structure(context: HeuristicContext) -> tuple[SearchSpace, Structure] | None:
    for make in (full_space, aggregated_space):
        space = make(context)
        structure = None if space is None else find_structure(space.model)
        if space is not None and structure is not None:
            return space, structure
    return None
