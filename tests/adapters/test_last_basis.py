"""Warm starts of linear models from the basis of the last answer, from both packages."""

from __future__ import annotations

import gc

import pulp
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

import gpu_bridge
from gpu_bridge.adapters.last_answer import _last, recall_basis, remember_basis
from solvers.core.outcome import Basis

SIZE = 30


def pyomo_model() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.demand = pyo.Param(range(SIZE), mutable=True, initialize=lambda _, i: 10 + 3 * (i % 7))
    model.x = pyo.Var(range(SIZE), range(3), bounds=(0, 25))
    model.cost = pyo.Objective(
        expr=sum((1 + (5 * i + 3 * k) % 11) * model.x[i, k] for i in range(SIZE) for k in range(3))
    )
    model.meet = pyo.Constraint(
        range(SIZE), rule=lambda m, i: sum(m.x[i, k] for k in range(3)) >= m.demand[i]
    )
    model.share = pyo.Constraint(
        range(3), rule=lambda m, k: sum(m.x[i, k] for i in range(SIZE)) <= 12 * SIZE
    )
    return model


def iterations(outcome: gpu_bridge.Outcome) -> int:
    return int(outcome.statistics["simplex_iterations"])


def test_pyomo_starts_from_the_basis_it_ended_with() -> None:
    model = pyomo_model()
    options = {"method": "simplex", "presolve": False}
    solver = SolverFactory("gpuheur")
    first = solver.solve(model, solver_options=options)
    assert iterations(outcome_of(first)) > 5
    again = solver.solve(model, solver_options=options, warmstart=True)
    assert iterations(outcome_of(again)) == 0
    model.demand[3] = 18
    warm = solver.solve(model, solver_options=options, warmstart=True)
    cold = SolverFactory("gpuheur").solve(model, solver_options=options)
    assert outcome_of(warm).objective == pytest.approx(outcome_of(cold).objective)
    assert iterations(outcome_of(warm)) < iterations(outcome_of(cold)) / 3


def test_pyomo_starts_from_nothing_after_a_reset() -> None:
    model = pyomo_model()
    options = {"method": "simplex", "presolve": False}
    solver = pyo.SolverFactory("gpuheur", options=options)
    solver.solve(model)
    assert iterations(outcome_of(solver.solve(model, warmstart=True))) == 0
    solver.reset()
    assert iterations(outcome_of(solver.solve(model, warmstart=True))) > 0


def outcome_of(results: object) -> gpu_bridge.Outcome:
    found: gpu_bridge.Outcome = results.solution_loader.outcome  # type: ignore[attr-defined]
    return found


def test_pulp_starts_from_the_basis_it_ended_with() -> None:
    model = pulp.LpProblem("shares")
    x = [model.add_variable(f"x{i}", 0, 9) for i in range(SIZE)]
    model += pulp.lpSum((3 + 7 * i % 11) * x[i] for i in range(SIZE))
    for i in range(SIZE - 1):
        model += x[i] + 2 * x[i + 1] >= 4 + i % 5, f"pair{i}"
    solver = gpu_bridge.GPUHEUR(msg=False, method="simplex", presolve=False, warmStart=True)
    model.solve(solver)
    assert solver.outcome is not None
    assert iterations(solver.outcome) > 5
    model.solve(solver)
    assert iterations(solver.outcome) == 0


def test_only_what_fits_is_recalled_and_nothing_is_kept_alive() -> None:
    solver, model = SolverFactory("gpuheur"), pyomo_model()
    solver.solve(model, solver_options={"method": "simplex", "presolve": False})
    basis = _last.value[solver][1]
    problem = gpu_bridge.Problem.from_arrays([1.0], [[1.0]], row_lower=[1.0])
    assert recall_basis(solver, model, problem) is None, "of another shape"
    assert recall_basis(solver, pyomo_model(), problem) is None, "another model"
    remember_basis(solver, model, None)
    assert solver not in _last.value
    remember_basis(solver, model, Basis(basis.column_status, basis.row_status))
    del solver
    gc.collect()
    assert all(kept[1].column_status is not basis.column_status for kept in _last.value.values())
