"""Swap moves within groups as the schedule sees them, while there is no point."""

from __future__ import annotations

from solvers.mip.heuristics.annealing.group_annealing import SOURCE, SwapMoves
from solvers.mip.heuristics.annealing.groups import Groups, find_groups
from solvers.mip.heuristics.local_search.heuristic import (
    SearchSpace,
    aggregated_space,
    full_space,
)
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Declined, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

MOST_ENTRIES = 5_000_000
"""Entries of a model up to which groups are looked for: beyond, that takes seconds."""

_State = tuple[HeuristicContext, SwapMoves]


class GroupAnnealing(Heuristic[HeuristicContext, _State]):
    """One search for each turn that runs at a time.

    They are on the model without its implied columns, or on the model as it is: columns outside
    groups do not move, and implied ones would have to.
    """

    name = SOURCE
    needs = Needs(incumbent=False, most_entries=MOST_ENTRIES)

    def begin(self, prepared: HeuristicContext, number: int) -> _State:
        """Look for groups, once, and begin a search in them."""
        context = prepared
        found = context.once(self, lambda: _space_with_groups(context))
        if found is None:
            raise Declined("the columns do not fall into groups")
        space, groups = found
        seed = context.seed_of("exchanges", number)
        return context, SwapMoves(space.model, groups, space.submit, space.infeasible_points, seed)

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Go on until there is a point."""
        context, search = state
        search.run(budget, lambda: context.has_point)
        return Report(is_over=search.is_over)


def _space_with_groups(context: HeuristicContext) -> tuple[SearchSpace, Groups] | None:
    for make in (aggregated_space, full_space):
        space = make(context)
        groups = None if space is None else find_groups(space.model)
        if space is not None and groups is not None:
            return space, groups
    return None
