"""How each pair of answer and reason to stop reads in Pyomo's enumerations, new and old."""

from __future__ import annotations

from typing import NamedTuple

from pyomo.opt.results.solution import SolutionStatus as OldSolutionStatus
from pyomo.opt.results.solver import SolverStatus as OldSolverStatus
from pyomo.opt.results.solver import TerminationCondition as OldCondition

from gpu_bridge.adapters.pyomo.interface import SolutionStatus as NewStatus
from gpu_bridge.adapters.pyomo.interface import TerminationCondition as NewCondition
from solvers.core.outcome import SolutionStatus, StopReason


class OldStatuses(NamedTuple):
    """The three statuses of a result of the old interface."""

    solver: OldSolverStatus
    condition: OldCondition
    solution: OldSolutionStatus


_SETTLED = {
    SolutionStatus.OPTIMAL: NewCondition.convergenceCriteriaSatisfied,
    SolutionStatus.INFEASIBLE: NewCondition.provenInfeasible,
    SolutionStatus.UNBOUNDED: NewCondition.unbounded,
}
_STOPPED = {
    StopReason.CONVERGED: NewCondition.unknown,
    StopReason.TIME_LIMIT: NewCondition.maxTimeLimit,
    StopReason.ITERATION_LIMIT: NewCondition.iterationLimit,
    StopReason.INTERRUPTED: NewCondition.interrupted,
    StopReason.EXHAUSTED: NewCondition.unknown,
    StopReason.NUMERICAL_TROUBLE: NewCondition.error,
    StopReason.OUT_OF_MEMORY: NewCondition.error,
}
_HELD = {
    SolutionStatus.OPTIMAL: NewStatus.optimal,
    SolutionStatus.FEASIBLE: NewStatus.feasible,
    SolutionStatus.APPROXIMATE: NewStatus.infeasible,
}
_OLD_SETTLED = {
    SolutionStatus.OPTIMAL: OldStatuses(
        OldSolverStatus.ok, OldCondition.optimal, OldSolutionStatus.optimal
    ),
    SolutionStatus.INFEASIBLE: OldStatuses(
        OldSolverStatus.warning, OldCondition.infeasible, OldSolutionStatus.infeasible
    ),
    SolutionStatus.UNBOUNDED: OldStatuses(
        OldSolverStatus.warning, OldCondition.unbounded, OldSolutionStatus.unbounded
    ),
}
_OLD_LIMITS = {
    StopReason.TIME_LIMIT: OldCondition.maxTimeLimit,
    StopReason.ITERATION_LIMIT: OldCondition.maxIterations,
    StopReason.INTERRUPTED: OldCondition.userInterrupt,
}


def new_condition(status: SolutionStatus, reason: StopReason) -> NewCondition:
    """Return the termination condition; only a proven optimum counts as converged."""
    if status in _SETTLED:
        return _SETTLED[status]
    if status.has_values and reason is StopReason.NUMERICAL_TROUBLE:
        return NewCondition.unknown  # a point is no error
    return _STOPPED[reason]


def new_status(status: SolutionStatus) -> NewStatus:
    """Return what is held, in the words of the new interface.

    Its ``infeasible`` is that of a point: one that does not satisfy all constraints.
    """
    return _HELD.get(status, NewStatus.noSolution)


def old_statuses(status: SolutionStatus, reason: StopReason) -> OldStatuses:
    """Return the statuses of the old interface, as its own solvers give them.

    A point at a limit is ``aborted`` with the limit's condition; any other unproven point is
    ``ok`` and ``feasible``, which ``check_optimal_termination`` does not take for optimal. A point
    that misses the tolerance is ``unsure``.
    """
    if status in _OLD_SETTLED:
        return _OLD_SETTLED[status]
    has_point = status is SolutionStatus.FEASIBLE
    approximate = status is SolutionStatus.APPROXIMATE
    unverified = OldSolutionStatus.unsure if approximate else OldSolutionStatus.unknown
    if reason in _OLD_LIMITS:
        held = OldSolutionStatus.stoppedByLimit if has_point else unverified
        return OldStatuses(OldSolverStatus.aborted, _OLD_LIMITS[reason], held)
    if has_point:
        return OldStatuses(OldSolverStatus.ok, OldCondition.feasible, OldSolutionStatus.feasible)
    if not approximate and reason in (StopReason.NUMERICAL_TROUBLE, StopReason.OUT_OF_MEMORY):
        return OldStatuses(OldSolverStatus.error, OldCondition.error, OldSolutionStatus.error)
    return OldStatuses(OldSolverStatus.warning, OldCondition.unknown, unverified)
