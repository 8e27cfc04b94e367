"""An outcome in the words of Pyomo's API version 2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pyomo.common.config import ADVANCED_OPTION, ConfigValue

from gpu_bridge.adapters.pyomo.interface import Results
from gpu_bridge.adapters.pyomo.loader import GpuHeurSolutionLoader
from gpu_bridge.adapters.pyomo.statuses import new_condition, new_status
from gpu_bridge.outcome import Outcome, SolutionStatus

if TYPE_CHECKING:
    from gpu_bridge.adapters.pyomo.solve_model import Solved


class _Log(ConfigValue):  # type: ignore[misc]
    """A log that is composed when somebody reads it."""

    _UninitializedClass = None

    def __init__(self, written: Any) -> None:
        super().__init__(domain=str, visibility=ADVANCED_OPTION)
        self._data = written

    def value(self, accessValue: bool = True) -> str:
        """Return its text."""
        self._data = str(self._data)
        return super().value(accessValue)  # type: ignore[no-any-return]


def make_results(solver: Any, solved: Solved, config: Any) -> Results:
    """Return results with every field filled."""
    results = Results()
    loader = solved.loader
    outcome = loader.outcome
    results.solution_loader = loader
    results.termination_condition = new_condition(outcome.solution_status, outcome.stop_reason)
    results.solution_status = new_status(outcome.solution_status)
    results.incumbent_objective = incumbent_of(loader)
    results.objective_bound = bound_of(loader)
    results.solver_config = config
    results.solver_name = solver.name
    results.solver_version = solver.version()
    del results["solver_log"]
    results.declare("solver_log", _Log(outcome.written))
    results.timing_info.start_timestamp = solved.timestamp
    results.timing_info.wall_time = solved.seconds
    results.timing_info.timer = solved.timer
    _fill_extra_info(results.extra_info, outcome)
    return results


def incumbent_of(loader: GpuHeurSolutionLoader) -> float | None:
    """Return the objective of the point found, None without a point or an objective."""
    known = _has_objective(loader) and loader.outcome.solution_status.has_point
    return loader.outcome.objective if known else None


def bound_of(loader: GpuHeurSolutionLoader) -> float | None:
    """Return the bound on the optimum, None where there is no optimum to bound."""
    outcome = loader.outcome
    known = _has_objective(loader) and not math.isnan(outcome.bound) and _has_optimum(outcome)
    return outcome.bound if known else None


def _has_objective(loader: GpuHeurSolutionLoader) -> bool:
    return loader.converted is not None and loader.converted.objective is not None


def _has_optimum(outcome: Outcome) -> bool:
    """Whether there may be an optimum for the bound to bound."""
    return outcome.solution_status not in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def _fill_extra_info(extra: Any, outcome: Outcome) -> None:
    extra.gap = outcome.gap
    extra.engine = outcome.engine
    extra.device = outcome.device
    extra.solve_seconds = outcome.seconds
    extra.answer = outcome.answer
    extra.stop_reason = str(outcome.stop_reason)
    extra.message = outcome.message
    extra.residuals = outcome.residuals
    extra.conflict = outcome.conflict
    extra.relaxation = outcome.relaxation
    extra.statistics = dict(outcome.statistics)
