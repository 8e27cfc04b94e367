"""What a fresh installation is asked: each engine and each modelling package, once."""

from __future__ import annotations

import shutil

import numpy as np
import pulp
import pyomo.environ as pyo

import gpu_bridge as gb


def linear_program() -> gb.Problem:
    """Return a transport problem of 12 plants and 20 markets."""
    random = np.random.default_rng(1)
    cost = random.uniform(1.0, 9.0, (12, 20))
    shipped = np.kron(np.eye(12), np.ones(20))
    received = np.kron(np.ones(12), np.eye(20))
    return gb.Problem.from_arrays(
        cost=cost.ravel(),
        matrix=np.vstack([shipped, received]),
        row_lower=np.r_[np.full(12, -np.inf), np.full(20, 10.0)],
        row_upper=np.r_[np.full(12, 30.0), np.full(20, np.inf)],
    )


def integer_program(rows: int) -> gb.Problem:
    """Return a knapsack problem, with so many capacities."""
    random = np.random.default_rng(rows)
    weights = random.integers(5, 60, (rows, 40)).astype(float)
    return gb.Problem.from_arrays(
        cost=random.integers(10, 90, 40).astype(float),
        matrix=weights,
        row_upper=np.floor(weights.sum(axis=1) / 3.0),
        upper=np.ones(40),
        integrality=np.ones(40, dtype=bool),
        maximize=True,
    )


def agree(problem: gb.Problem, *methods: str) -> None:
    """Solve by several methods, and compare."""
    wanted = gb.solve(problem, method="highs", rel_gap=0.0)
    assert wanted.solution_status is gb.SolutionStatus.OPTIMAL, wanted
    for method in methods:
        found = gb.solve(problem, method=method, rel_gap=0.0, time_limit=60.0)
        print(f"{method}: {found.objective:.6g} in {found.seconds:.2f} s by {found.engine}")
        assert abs(found.objective - wanted.objective) <= 1e-4 * abs(wanted.objective)


def from_pulp() -> None:
    """Solve a small model of PuLP."""
    model = pulp.LpProblem("tiny", pulp.LpMaximize)
    x = [model.add_variable(f"x{j}", cat="Binary") for j in range(4)]
    model += 5 * x[0] + 4 * x[1] + 3 * x[2] + 7 * x[3]
    model += 2 * x[0] + 3 * x[1] + x[2] + 4 * x[3] <= 6
    model.solve(gb.GPUHEUR(msg=False))
    assert pulp.value(model.objective) == 12.0


def from_pyomo() -> None:
    """Solve a small model of Pyomo."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), bounds=(0, 4))
    model.cost = pyo.Objective(expr=sum((j + 1) * model.x[j] for j in range(3)))
    model.need = pyo.Constraint(expr=sum(model.x[j] for j in range(3)) >= 6)
    pyo.SolverFactory("gpuheur").solve(model)
    assert abs(pyo.value(model.cost) - 8.0) < 1e-6


if __name__ == "__main__":
    assert shutil.which("c++") is None, "a compiler is in reach"
    agree(linear_program(), "auto", "pdlp", "simplex")
    agree(integer_program(1), "auto", "knapsack", "mip")
    agree(integer_program(5), "auto", "mip")
    from_pulp()
    from_pyomo()
    print("The wheel works.")
