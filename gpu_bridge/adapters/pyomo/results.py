"""An outcome in the words of Pyomo's API version 2."""

from __future__ import annotations

import math
from typing import Any

from pyomo.contrib.solver.common.results import Results

from gpu_bridge.adapters.pyomo.convert import ConvertedModel
from gpu_bridge.adapters.pyomo.loader import GpuHeurSolutionLoader
from gpu_bridge.adapters.pyomo.statuses import new_condition, new_status
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason


def make_results(
    model: Any,
    converted: ConvertedModel | None,
    outcome: Outcome,
    config: Any,
    *,
    load_approximate: bool = False,
) -> Results:
    """Return results with every field filled but the solver's name and the times."""
    results = Results()
    results.solution_loader = GpuHeurSolutionLoader(model, converted, outcome, load_approximate)
    results.termination_condition = new_condition(outcome.solution_status, outcome.stop_reason)
    results.solution_status = new_status(outcome.solution_status)
    if converted is not None and converted.objective is not None:
        if outcome.solution_status.has_point:
            results.incumbent_objective = outcome.objective
        if not math.isnan(outcome.bound) and _has_optimum(outcome):
            results.objective_bound = outcome.bound
    results.solver_config = config
    results.solver_log = outcome.log
    _fill_extra_info(results.extra_info, outcome)
    return results


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
    extra.statistics = dict(outcome.statistics)


def why_not_loaded(outcome: Outcome) -> str:
    """Return why the model keeps its values, and what to do about it where something can be."""
    if outcome.solution_status is not SolutionStatus.APPROXIMATE:
        return explanation(outcome)
    return f"{explanation(outcome)} With the option load_approximate=True it is loaded."


def explanation(outcome: Outcome) -> str:
    """Return what the answer is and, where there is no optimum, why."""
    parts = [f"The answer is {outcome.answer}"]
    if outcome.stop_reason is not StopReason.CONVERGED:
        parts.append(str(outcome.stop_reason))
    more = [outcome.message, "" if outcome.conflict is None else str(outcome.conflict)]
    return " ".join(["; ".join(parts) + ".", *dict.fromkeys(text for text in more if text)])
