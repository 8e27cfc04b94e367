"""PuLP models for tests, built and solved in ways that PuLP 3 and PuLP 4 both understand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pulp
import pytest

from gpu_bridge.adapters.pulp import GPUHEUR
from solvers.outcome import SolutionStatus
from solvers.problem import Problem

PULP_4 = hasattr(pulp, "LpSolveStatus")

pulp_3_only = pytest.mark.skipif(PULP_4, reason="about models of PuLP 3")
pulp_4_only = pytest.mark.skipif(not PULP_4, reason="about models of PuLP 4")


def solve(lp: pulp.LpProblem, mine: GPUHEUR | None = None, **options: Any) -> SolutionStatus:
    """Solve a model and return what PuLP says of it, in our words."""
    return in_our_words(lp, lp.solve(solver() if mine is None else mine, **options))


def in_our_words(lp: pulp.LpProblem, answer: Any) -> SolutionStatus:
    """Translate what ``lp.solve`` returned: statistics in PuLP 4, a status in PuLP 3."""
    if PULP_4:
        settled = {"Optimal": "OPTIMAL", "Infeasible": "INFEASIBLE", "Unbounded": "UNBOUNDED"}
        name = settled.get(answer.status.name, "FEASIBLE" if answer.has_solution else "NOTHING")
        status = SolutionStatus[name]
        assert answer.has_solution == status.has_point
        return status
    assert answer == lp.status
    return {
        (pulp.LpStatusOptimal, pulp.LpSolutionOptimal): SolutionStatus.OPTIMAL,
        (pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible): SolutionStatus.FEASIBLE,
        (pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible): SolutionStatus.INFEASIBLE,
        (pulp.LpStatusUnbounded, pulp.LpSolutionUnbounded): SolutionStatus.UNBOUNDED,
        (pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound): SolutionStatus.NOTHING,
    }[answer, lp.sol_status]


def solver(**options: Any) -> GPUHEUR:
    """Return our solver, silent."""
    return GPUHEUR(**{"msg": False, **options})


def model_of(problem: Problem) -> pulp.LpProblem:
    """Write a problem as a PuLP model; a row with two sides becomes two constraints.

    Constraint ``r3`` is row 3, or its lower side where ``r3_upper`` is the other.
    """
    sign = -1.0 if problem.maximize else 1.0
    lp = pulp.LpProblem("model", pulp.LpMaximize if problem.maximize else pulp.LpMinimize)
    columns = [
        lp.add_variable(
            f"c{j:04d}",
            _finite(problem.lower[j]),
            _finite(problem.upper[j]),
            cat="Integer" if problem.integrality[j] else "Continuous",
        )
        for j in range(problem.num_columns)
    ]
    lp.setObjective(pulp.lpDot((sign * problem.cost).tolist(), columns) + sign * problem.offset)
    for i, (low, high) in enumerate(zip(problem.row_lower, problem.row_upper, strict=True)):
        body = pulp.lpDot(problem.matrix[[i]].toarray()[0].tolist(), columns)
        if low == high:
            lp += body == float(low), f"r{i}"
            continue
        if np.isfinite(low):
            lp += body >= float(low), f"r{i}"
        if np.isfinite(high):
            lp += body <= float(high), (f"r{i}_upper" if np.isfinite(low) else f"r{i}")
    return lp


def _finite(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None


def small(sense: int = pulp.LpMinimize) -> pulp.LpProblem:
    """Return a linear model with a row of every sense, all tight or slack by whole numbers.

    min x + 4y + 9z with x + y <= 5, x + z >= 10, -y + z = 7, x <= 4, -1 <= y <= 1, z >= 0:
    optimal at (4, -1, 6), worth 54. Maximised with its signs turned round it is worth -54.
    """
    sign = -1 if sense == pulp.LpMaximize else 1
    lp = pulp.LpProblem("small", sense)
    x = lp.add_variable("x", 0, 4)
    y = lp.add_variable("y", -1, 1)
    z = lp.add_variable("z", 0)
    lp += sign * (x + 4 * y + 9 * z)
    lp += x + y <= 5, "c1"
    lp += x + z >= 10, "c2"
    lp += -y + z == 7, "c3"
    return lp


def values(lp: pulp.LpProblem) -> dict[str, float | None]:
    """Return the values of all variables by name."""
    return {variable.name: variable.varValue for variable in lp.variables()}
