"""Batched dives on a GPU as the schedule sees them: each turn begins anew."""

from __future__ import annotations

from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext


class DeviceDives(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives along all orders at once."""

    name = "dives on the GPU"
    needs = Needs(device=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive along every order."""
        from solvers.mip.heuristics.diving.batched.run import run_dives

        run_dives(
            state.device_model,
            state.model,
            state.submit,
            budget,
            seed,
            reference=state.reference(),
            cliques=state.cliques,
            box=(state.domain.lower, state.domain.upper),
        )
        return UNFINISHED
