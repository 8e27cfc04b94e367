"""Sub-MIPs as the schedule sees them: neighbourhoods of points, and mending infeasible ones."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.mip.heuristics.large_neighbourhood.loop import search_neighbourhoods
from solvers.mip.heuristics.large_neighbourhood.mending import Mending
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

QUICK_MEND, SLOW_MEND = 3.0, 0.5
"""Factors of mending's share: while less and less is violated, which is a sign that a point is
near, and after a turn without success."""

FEW_VIOLATED = 30
"""Violated rows up to which a point is worth mending before the relaxation is solved: that may take
a third of a short solve, and mending germanrr's points of three to five rows some seconds."""


class Neighbourhoods(Heuristic[HeuristicContext, HeuristicContext]):
    """Large-neighbourhood search; all turns share one bandit, which chooses what to search."""

    name = "neighbourhood"
    needs = Needs(relaxation=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Search one neighbourhood after the other."""
        search_neighbourhoods(
            state.model,
            state.acceptance.pool,
            state.submit,
            budget,
            seed,
            bandit=state.bandit,
            relaxation=state.relaxation,
            infeasible_point=state.least_violated,
            implied=state.implied,
        )
        return UNFINISHED


@dataclass(eq=False)
class _Mends:
    context: HeuristicContext
    mending: Mending | None = None


class Mend(Heuristic[_Mends, _Mends]):
    """Sub-MIPs around infeasible points, while there is no feasible one."""

    name = "mend"
    needs = Needs(incumbent=False)

    def prepare(self, context: HeuristicContext) -> _Mends:
        """Wait for an infeasible point."""
        return _Mends(context)

    def share(self, prepared: _Mends, usual: float) -> float:
        """Return what mending is due, which is nothing where no point may be mended.

        Points that violate many rows are mended after the relaxation.
        """
        context, mending = prepared.context, prepared.mending
        points = context.acceptance.infeasible_points.points()
        if not points:
            return 0.0
        if not context.is_root_over and points[0].violated_rows > FEW_VIOLATED:
            return 0.0
        if mending is None:
            return usual
        if not mending.has_work(points):
            return 0.0
        return usual * (QUICK_MEND if mending.is_getting_on else SLOW_MEND)

    def run(self, state: _Mends, budget: Budget, seed: int) -> Report:
        """Mend one of the points."""
        context, points = state.context, state.context.acceptance.infeasible_points
        if state.mending is None:
            state.mending = Mending(context.model, context.submit, context.implied, points)
        state.mending.run(points.points(), budget, seed)
        return UNFINISHED
