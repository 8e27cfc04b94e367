"""The relaxation and the feasibility pumps as the schedule sees them."""

from __future__ import annotations

from solvers.mip.heuristics.feasibility_pump.neighbourhood import by_walker
from solvers.mip.heuristics.feasibility_pump.root import root_relaxation
from solvers.mip.heuristics.feasibility_pump.rounding import by_propagation
from solvers.mip.heuristics.feasibility_pump.run import ALPHAS, Pump, PumpBatch
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import OVER, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

DEVICE_WORKERS = 2
"""Threads that round for the pumps on the GPU."""


class SolveRelaxation(Heuristic[HeuristicContext, HeuristicContext]):
    """The relaxation, which is solved once, as far as its time allows."""

    name = "root"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Solve the relaxation."""
        try:
            state.root = root_relaxation(
                state.model, budget, device=state.device, seed=seed, log=state.log
            )
        finally:
            state.is_root_over = True
        return OVER


class FeasibilityPump(Heuristic[HeuristicContext, Pump]):
    """Pumps on the CPU, one for each turn that runs at a time, until they have nothing to gain."""

    name = "pump"
    needs = Needs(relaxation=True)

    def begin(self, prepared: HeuristicContext, number: int) -> Pump:
        """Return a pump with its own seed and share of the objective."""
        context, pool = prepared, prepared.acceptance.pool
        seed = context.seed_of(self.name, number)
        return Pump(
            context.model,
            context.submit,
            seed,
            rounder=by_propagation(context.model, lambda: context.cache),
            search=by_walker(context.model, seed, pool),
            pool=pool,
            root=context.root,
            alpha0=ALPHAS[number % len(ALPHAS)],
        )

    def run(self, state: Pump, budget: Budget, seed: int) -> Report:
        """Let the pump go on."""
        return Report(is_over=state.run(budget).is_over)


class DevicePumps(Heuristic[HeuristicContext, PumpBatch]):
    """Pumps in lockstep on the GPU."""

    name = "pumps on the GPU"
    needs = Needs(relaxation=True, device=True)

    def begin(self, prepared: HeuristicContext, number: int) -> PumpBatch:
        """Return a batch of pumps."""
        context, pool = prepared, prepared.acceptance.pool
        return PumpBatch(
            context.model,
            context.submit,
            context.seed_of(self.name, number + 1),
            rounder_of=lambda _: by_propagation(context.model, lambda: context.cache),
            search_of=lambda number: by_walker(context.model, number, pool),
            pool=pool,
            root=context.root,
            device=context.device,
            workers=DEVICE_WORKERS,
        )

    def run(self, state: PumpBatch, budget: Budget, seed: int) -> Report:
        """Let the pumps go on."""
        state.run(budget)
        return Report(is_over=state.counts.is_over)
