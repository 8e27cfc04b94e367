"""Small Pyomo models that several tests share."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import Start
from solvers.core.problem import Problem


class Dispatch:
    """Stands in for the pipeline: records what it is given and returns what it is told."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.options: Options | None = None
        self.start: Start | None = None

    def __call__(self, problem: Problem, options: Options, **more: Any) -> Outcome:
        self.options, self.start = options, more["start"]
        return self.outcome


def production() -> Any:
    """Return max 3 x + 2 y, x <= 4, x + y <= 6: x = 4, y = 2, objective 16."""
    m = pyo.ConcreteModel("production")
    m.x = pyo.Var(bounds=(0, 4))
    m.y = pyo.Var(domain=pyo.NonNegativeReals)
    m.profit = pyo.Objective(expr=3 * m.x + 2 * m.y, sense=pyo.maximize)
    m.limit = pyo.Constraint(expr=m.x + m.y <= 6)
    return m


def knapsack(size: int = 30) -> Any:
    """Return a maximisation over binaries whose relaxation is fractional."""
    m = pyo.ConcreteModel("knapsack")
    m.take = pyo.Var(range(size), domain=pyo.Binary)
    weights = [7 + 13 * i % 29 for i in range(size)]
    m.value = pyo.Objective(
        expr=sum((w + i % 5) * m.take[i] for i, w in enumerate(weights)), sense=pyo.maximize
    )
    m.room = pyo.Constraint(
        expr=sum(w * m.take[i] for i, w in enumerate(weights)) <= sum(weights) // 2
    )
    return m


def infeasible() -> Any:
    """Return a model whose two rows contradict each other, with values to keep."""
    m = pyo.ConcreteModel("contradiction")
    m.x = pyo.Var(bounds=(0, 10), initialize=1.5)
    m.y = pyo.Var(bounds=(0, 10), initialize=2.5)
    m.obj = pyo.Objective(expr=m.x + m.y)
    m.at_least = pyo.Constraint(expr=m.x + m.y >= 8)
    m.at_most = pyo.Constraint(expr=m.x + m.y <= 5)
    return m


def from_problem(problem: Problem) -> Any:
    """Return a Pyomo model of a problem in the model's own sense."""
    sign = -1.0 if problem.maximize else 1.0
    m = pyo.ConcreteModel()
    m.x = pyo.Var(
        range(problem.num_columns),
        bounds=lambda _, j: (float(problem.lower[j]), float(problem.upper[j])),
        domain=lambda _, j: pyo.Integers if problem.integrality[j] else pyo.Reals,
    )
    m.obj = pyo.Objective(
        expr=pyo.quicksum(sign * c * m.x[j] for j, c in enumerate(problem.cost.tolist()))
        + sign * problem.offset,
        sense=pyo.maximize if problem.maximize else pyo.minimize,
    )
    m.c = pyo.Constraint(pyo.Any)
    A = problem.matrix.toarray()
    for i in range(problem.num_rows):
        if A[i].any():
            body = pyo.quicksum(a * m.x[j] for j, a in enumerate(A[i].tolist()) if a)
            low, high = float(problem.row_lower[i]), float(problem.row_upper[i])
            m.c[i] = pyo.inequality(low, body, high)
    return m
