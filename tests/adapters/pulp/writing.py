"""Problems written as PuLP models, and PuLP's answers read, whichever of PuLP 3 and 4 is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pulp

from gpu_bridge.adapters.pulp.version import constraints_of
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem

PULP_4 = hasattr(pulp, "LpSolveStatus")

if not hasattr(pulp.LpProblem, "add_variable"):  # before PuLP 3.3.1, which is written like 4

    def _add_variable(_: pulp.LpProblem, *arguments: Any, **more: Any) -> pulp.LpVariable:
        return pulp.LpVariable(*arguments, **more)

    pulp.LpProblem.add_variable = _add_variable
    pulp.LpProblem.get_constraint_by_name = lambda lp, name: lp.constraints[name]

if issubclass(pulp.LpConstraint, dict):  # PuLP 2
    pulp.LpConstraint.expr = property(lambda row: row)


def rows_of(lp: pulp.LpProblem) -> list[Any]:
    """Return the constraints of a model."""
    return list(lp.constraints() if PULP_4 else constraints_of(lp).values())


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
