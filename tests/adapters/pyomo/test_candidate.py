"""The least violated point, where a search has found no feasible one, by Pyomo's variables."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import gpu_bridge  # noqa: F401  registers the solver
from gpu_bridge.adapters.pyomo.interface import NoSolutionError


def even_numbers(low: float, high: float) -> pyo.ConcreteModel:
    """Twice a sum of binaries between two sides."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(40), domain=pyo.Binary, initialize=1)
    model.cost = pyo.Objective(expr=0)
    model.sum = pyo.Constraint(expr=(low, 2 * pyo.quicksum(model.x[j] for j in model.x), high))
    return model


ALONE = {
    "method": "mip",
    "heuristics_only": True,
    "deterministic": True,
    "work_limit": 0.01,
    "presolve": False,
    "device": "cpu",
}


def test_it_is_there_by_variable_and_not_in_the_model() -> None:
    model = even_numbers(30.5, 31.5)
    results = pyo.SolverFactory("gpuheur").solve(model, options=ALONE)
    candidate = results.solution_loader.get_candidate()
    assert sum(candidate[model.x[j]] for j in model.x) in (15.0, 16.0)
    assert all(model.x[j].value == 1 for j in model.x)


def test_with_a_feasible_point_there_is_none() -> None:
    results = pyo.SolverFactory("gpuheur").solve(even_numbers(30.0, 31.5), options=ALONE)
    with pytest.raises(NoSolutionError):
        results.solution_loader.get_candidate()
