"""Moves of one and two columns from the best point, once for each best point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solvers.mip.heuristics.one_opt.improve import improve
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Declined, Heuristic, Needs, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext

if TYPE_CHECKING:
    from solvers.mip.inference.propagation import DeviceModel

DEVICE_ENTRIES = 1_000_000
"""Nonzeros from which moves of one and two columns are scored on a GPU; below, a CPU takes
hundredths of a second for them."""

SOURCE = "one-opt, two-opt"


@dataclass(eq=False)
class _Improving:
    context: HeuristicContext
    there: DeviceModel | None  # the model in a GPU's memory
    tried: int = 0


class Improve(Heuristic[_Improving, _Improving]):
    """One-opt and two-opt on the CPU, for models that are not large enough for the GPU."""

    name = "improve"
    needs = Needs(pool_size=1)

    def prepare(self, context: HeuristicContext) -> _Improving:
        """Leave large models to the GPU, where there is one."""
        if context.device.kind == "cuda" and context.model.num_nonzeros >= DEVICE_ENTRIES:
            raise Declined("it runs on the GPU")
        return _Improving(context, None)

    def share(self, prepared: _Improving, usual: float) -> float:
        """Return the share while the best point is new: this takes moments."""
        return usual if prepared.context.acceptance.pool.version != prepared.tried else 0.0

    def run(self, state: _Improving, budget: Budget, seed: int) -> Report:
        """Improve the best point."""
        model, pool = state.context.model, state.context.acceptance.pool
        version, best = pool.version, pool.best
        if best is None or version == state.tried:
            return UNFINISHED
        state.tried = version
        better = improve(model, best.x, budget, seed, state.there)
        if model.objective_at(better) < best.objective and state.context.submit(better, SOURCE):
            state.tried = pool.version
        return UNFINISHED


class DeviceImprove(Improve):
    """The same on the model in a GPU's memory, for models that are large enough."""

    name = "improve on the GPU"
    needs = Needs(pool_size=1, device=True)

    def prepare(self, context: HeuristicContext) -> _Improving:
        """Leave small models to the CPU."""
        if context.model.num_nonzeros < DEVICE_ENTRIES:
            raise Declined("it runs on the CPU")
        return _Improving(context, context.device_model)
