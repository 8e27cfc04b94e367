"""What a solve's answer is called in linopy, whose status *ok* means that there are values."""

from __future__ import annotations

from linopy.constants import SolverStatus, Status
from linopy.constants import TerminationCondition as Condition

from gpu_bridge.adapters.explanation import explanation, why_not_loaded
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason

_SETTLED = {
    SolutionStatus.OPTIMAL: Condition.optimal,
    SolutionStatus.APPROXIMATE: Condition.imprecise,
    SolutionStatus.INFEASIBLE: Condition.infeasible,
    SolutionStatus.UNBOUNDED: Condition.unbounded,
}
_STOPPED = {
    StopReason.CONVERGED: Condition.suboptimal,
    StopReason.TIME_LIMIT: Condition.time_limit,
    StopReason.ITERATION_LIMIT: Condition.iteration_limit,
    StopReason.INTERRUPTED: Condition.user_interrupt,
    StopReason.EXHAUSTED: Condition.suboptimal,
    StopReason.NUMERICAL_TROUBLE: Condition.imprecise,
    StopReason.OUT_OF_MEMORY: Condition.resource_interrupt,
}


def linopy_status(outcome: Outcome, *, has_values: bool) -> Status:
    """Return linopy's status, *ok* exactly where the model gets values.

    Without values an answer that linopy would call *ok*, such as one at a time limit, is a
    *warning*, as its infeasible and unbounded ones are.
    """
    settled = _SETTLED.get(outcome.solution_status)
    condition = _STOPPED[outcome.stop_reason] if settled is None else settled
    status = Status.from_termination_condition(condition)
    if has_values:
        status.status = SolverStatus.ok
    elif status.is_ok:
        status.status = SolverStatus.warning
    status.legacy_status = explanation(outcome) if has_values else why_not_loaded(outcome)
    return status
