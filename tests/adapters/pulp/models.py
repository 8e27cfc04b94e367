"""PuLP models for tests: from a problem, at random, and with every quirk PuLP has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pulp

from gpu_bridge.adapters.pulp import GPUHEUR
from solvers.problem import Problem


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
    terms = list(zip(columns, (sign * problem.cost).tolist(), strict=True))
    lp.setObjective(pulp.LpAffineExpression(terms, constant=sign * problem.offset))
    for i, (low, high) in enumerate(zip(problem.row_lower, problem.row_upper, strict=True)):
        row = list(zip(columns, problem.matrix[[i]].toarray()[0].tolist(), strict=True))
        if low == high:
            _add(lp, row, pulp.LpConstraintEQ, low, f"r{i}")
            continue
        if np.isfinite(low):
            _add(lp, row, pulp.LpConstraintGE, low, f"r{i}")
        if np.isfinite(high):
            name = f"r{i}_upper" if np.isfinite(low) else f"r{i}"
            _add(lp, row, pulp.LpConstraintLE, high, name)
    return lp


def _add(lp: pulp.LpProblem, row: list[Any], sense: int, side: float, name: str) -> None:
    expression = pulp.LpAffineExpression(row)
    lp.addConstraint(pulp.LpConstraint(expression, sense, name, float(side)), name)


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
