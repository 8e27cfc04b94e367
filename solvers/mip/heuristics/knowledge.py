"""What other heuristics need, as the schedule sees it: the relaxation's solution, and probing."""

from __future__ import annotations

import numpy as np

from solvers.mip.inference.probing import ProbingCache, build_cache
from solvers.mip.inference.relaxation import root_relaxation
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import OVER, Heuristic, HeuristicContext, Needs, Report


class SolveRelaxation(Heuristic[HeuristicContext, HeuristicContext]):
    """The relaxation, which is solved once, as far as its time allows."""

    name = "root"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Solve the relaxation."""
        state.root = root_relaxation(
            state.model, budget, device=state.device, seed=seed, log=state.log
        )
        return OVER


class Probe(Heuristic[HeuristicContext, HeuristicContext]):
    """Probing on the CPU."""

    name = "probe"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Fix columns one after the other, and keep what follows."""
        take_cache(state, build_cache(state.model, None, budget, seed, cliques=state.cliques))
        return OVER


class DeviceProbe(Heuristic[HeuristicContext, HeuristicContext]):
    """Probing on a GPU, many columns at a time."""

    name = "probing on the GPU"
    needs = Needs(device=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Fix columns batch by batch, and keep what follows."""
        from solvers.mip.inference.probing.on_device import BatchProber

        prober = BatchProber(state.model, state.device_model)
        take_cache(state, build_cache(state.model, prober, budget, seed, cliques=state.cliques))
        return OVER


def take_cache(context: HeuristicContext, cache: ProbingCache) -> None:
    """Let dives begin from what probing has found to hold for every feasible point."""
    if cache.is_infeasible:
        context.solve.prove_infeasible()
        return
    domain = context.domain.copy()
    narrower = (cache.lower > domain.lower) | (cache.upper < domain.upper)
    for j in np.flatnonzero(narrower):
        low = max(float(cache.lower[j]), float(domain.lower[j]))
        high = min(float(cache.upper[j]), float(domain.upper[j]))
        if not domain.tighten(int(j), low, high):
            return  # rounding errors: what was known stays
    context.domain, context.cache = domain, cache
