"""What a solve's answer is called in PuLP 3 and in PuLP 4, which share no status.

PuLP 3 has a status and a ``sol_status``; PuLP 4 says why the solver stopped and whether it found
a solution, which are our own two questions.
"""

from __future__ import annotations

from typing import Any

from pulp import constants

from gpu_bridge.outcome import Outcome
from solvers.core.outcome import SolutionStatus, StopReason

_PULP_3 = {
    SolutionStatus.OPTIMAL: ("LpStatusOptimal", "LpSolutionOptimal"),
    SolutionStatus.FEASIBLE: ("LpStatusOptimal", "LpSolutionIntegerFeasible"),
    SolutionStatus.APPROXIMATE: ("LpStatusNotSolved", "LpSolutionNoSolutionFound"),
    SolutionStatus.INFEASIBLE: ("LpStatusInfeasible", "LpSolutionInfeasible"),
    SolutionStatus.UNBOUNDED: ("LpStatusUnbounded", "LpSolutionUnbounded"),
    SolutionStatus.NOTHING: ("LpStatusNotSolved", "LpSolutionNoSolutionFound"),
}

_PULP_4_SETTLED = {
    SolutionStatus.OPTIMAL: "Optimal",
    SolutionStatus.INFEASIBLE: "Infeasible",
    SolutionStatus.UNBOUNDED: "Unbounded",
}
_PULP_4_STOPPED = {
    StopReason.CONVERGED: "Undefined",
    StopReason.TIME_LIMIT: "TimeLimit",
    StopReason.ITERATION_LIMIT: "IterationLimit",
    StopReason.INTERRUPTED: "Interrupted",
    StopReason.EXHAUSTED: "Stopped",
    StopReason.NUMERICAL_TROUBLE: "NumericalError",
    StopReason.OUT_OF_MEMORY: "MemoryLimit",
}


def pulp_3_statuses(outcome: Outcome) -> tuple[int, int]:
    """Return PuLP 3's status and sol_status.

    A point that is not proven optimal is (Optimal, Solution Found), as PuLP's own solvers and
    tests have it; no verified point and no proof is (Not Solved, No Solution Found).
    """
    status, sol_status = _PULP_3[outcome.solution_status]
    return getattr(constants, status), getattr(constants, sol_status)


def pulp_4_status(outcome: Outcome) -> tuple[Any, bool]:
    """Return PuLP 4's ``LpSolveStatus`` and whether there is a verified solution."""
    status, reason = outcome.solution_status, outcome.stop_reason
    name = _PULP_4_SETTLED.get(status, _PULP_4_STOPPED[reason])
    if name == "IterationLimit" and outcome.problem is not None and outcome.problem.is_mip:
        name = "NodeLimit"  # what limits the work on a mixed-integer program
    return constants.LpSolveStatus[name], status.has_point
