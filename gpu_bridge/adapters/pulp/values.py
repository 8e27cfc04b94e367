"""The answer put back into PuLP's objects, and its status in PuLP's words."""

from __future__ import annotations

from typing import Any

import numpy as np
from pulp import constants

from gpu_bridge.adapters.pulp.reading import ModelArrays
from gpu_bridge.outcome import Outcome
from solvers.outcome import SolutionStatus
from solvers.problem import FloatArray

_STATUSES = {
    SolutionStatus.OPTIMAL: (constants.LpStatusOptimal, constants.LpSolutionOptimal),
    SolutionStatus.FEASIBLE: (constants.LpStatusOptimal, constants.LpSolutionIntegerFeasible),
    SolutionStatus.INFEASIBLE: (constants.LpStatusInfeasible, constants.LpSolutionInfeasible),
    SolutionStatus.UNBOUNDED: (constants.LpStatusUnbounded, constants.LpSolutionUnbounded),
    SolutionStatus.NOTHING: (
        constants.LpStatusNotSolved,
        constants.LpSolutionNoSolutionFound,
    ),
}


def statuses(status: SolutionStatus) -> tuple[int, int]:
    """Return PuLP's status and sol_status.

    A point that is not proven optimal is (Optimal, Solution Found), as PuLP's own solvers and
    tests have it; no point and no proof is (Not Solved, No Solution Found).
    """
    return _STATUSES[status]


def set_values(lp: Any, arrays: ModelArrays, outcome: Outcome) -> None:
    """Set varValue, dj, pi and slack; without a point everything stays as it was."""
    if not outcome.solution_status.has_point or outcome.x is None:
        return
    size, height = len(arrays.variables), len(arrays.constraints)
    x = outcome.x[:size] + 0.0  # no negative zeros
    whole = outcome.problem is not None and outcome.problem.is_mip
    if whole and outcome.problem is not None:
        x = np.where(outcome.problem.integrality[:size], np.rint(x) + 0.0, x)
    duals = None if whole else outcome.row_dual
    reduced_costs = None if whole else outcome.reduced_cost
    _set_columns(arrays, x, None if reduced_costs is None else reduced_costs[:size])
    _set_rows(arrays, arrays.matrix @ x, None if duals is None else duals[:height])
    if lp.dummyVar is not None:
        lp.dummyVar.varValue = 0.0


def _set_columns(arrays: ModelArrays, x: FloatArray, reduced_costs: FloatArray | None) -> None:
    costs = [None] * x.size if reduced_costs is None else reduced_costs.tolist()
    for variable, value, reduced_cost in zip(arrays.variables, x.tolist(), costs, strict=True):
        variable.varValue = value
        variable.dj = reduced_cost
        variable.modified = False


def _set_rows(arrays: ModelArrays, activity: FloatArray, duals: FloatArray | None) -> None:
    side = np.where(np.isfinite(arrays.row_upper), arrays.row_upper, arrays.row_lower)
    slacks = (side - activity).tolist()
    prices = [None] * len(slacks) if duals is None else duals.tolist()
    for constraint, slack, price in zip(arrays.constraints, slacks, prices, strict=True):
        constraint.slack = slack
        constraint.pi = price
        constraint.modified = False
