"""Dives and roundings as the schedule sees them: each turn begins anew."""

from __future__ import annotations

from collections.abc import Sequence

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.bulk import round_point
from solvers.mip.heuristics.fix_and_propagate.portfolio import run_portfolio
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_FREE, LP_GUIDED, Strategy
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

BULK_ROUNDINGS = 8
"""Roundings of the relaxation's point in one turn, each with other draws."""


class Dive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that need no relaxation, beginning with another one in each turn."""

    name = "dive"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        _dive(state, LP_FREE, budget, seed)
        return UNFINISHED


class GuidedDive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that follow the relaxation's point."""

    name = "guided dive"
    needs = Needs(relaxation=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        _dive(state, LP_GUIDED, budget, seed, state.reference())
        return UNFINISHED


class Round(Heuristic[HeuristicContext, HeuristicContext]):
    """Roundings of the relaxation's point, with propagation."""

    name = "round"
    needs = Needs(relaxation=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Round some times, with other draws each time."""
        context, reference = state, state.reference()
        if reference is None:
            return UNFINISHED
        for draw in range(BULK_ROUNDINGS):
            if budget.spent():
                break
            found = round_point(
                context.model, reference, budget, seed + draw, context.cache, context.domain
            )
            context.submit(found.x, "rounding")
        return UNFINISHED


def _dive(
    context: HeuristicContext,
    every: Sequence[Strategy],
    budget: Budget,
    seed: int,
    reference: FloatArray | None = None,
) -> None:
    begin = seed % len(every)
    done = run_portfolio(
        context.model,
        context.submit,
        budget,
        seed,
        (*every[begin:], *every[:begin]),
        reference=reference,
        cliques=context.cliques,
        domain=context.domain,
    )
    if done.closest is not None:
        context.acceptance.infeasible_points(done.closest, done.closest_rows)
