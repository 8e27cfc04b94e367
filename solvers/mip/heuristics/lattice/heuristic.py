"""The search among integer solutions of equations as the schedule sees it."""

from __future__ import annotations

from solvers.mip.heuristics.lattice.lattice_search import LatticeSearch, Status, suits
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Declined, Heuristic, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext


class Lattice(Heuristic[HeuristicContext, LatticeSearch]):
    """One search, for one turn at a time."""

    name = "lattice"

    def prepare(self, context: HeuristicContext) -> HeuristicContext:
        """Look for equations of general integers."""
        if not suits(context.model, context.domain.lower, context.domain.upper):
            raise Declined("there are no equations of general integers, or too many")
        return context

    def begin(self, prepared: HeuristicContext, number: int) -> LatticeSearch:
        """Begin, unless the equations do no more than imply columns: that takes no lattice."""
        context = prepared
        sub = context.aggregated
        if sub is not None and not suits(sub.model, sub.model.lower, sub.model.upper):
            raise Declined("the equations only imply columns")
        return LatticeSearch(
            context.model,
            context.domain.lower,
            context.domain.upper,
            context.seed_of(self.name, number),
            context.submit,
        )

    def run(self, state: LatticeSearch, budget: Budget, seed: int) -> Report:
        """Let the search go on."""
        return Report(is_over=state.run(budget) is Status.OVER)
