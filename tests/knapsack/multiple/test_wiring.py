"""Multiple knapsack models through the front door, Pyomo and PuLP."""

from __future__ import annotations

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest

import gpu_bridge
from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.registry import choose
from gpu_bridge.pipeline.routes import knapsack as knapsack_route
from solvers.core.errors import OptionError
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.knapsack.multiple.engine import solve_multiple
from tests.knapsack.multiple.instances import as_model, drawn

PROFIT, WEIGHT, CAPACITY = [6, 5, 4, 3, 7], [3, 3, 2, 2, 4], [5, 4]
BEST = 17
"""Of these items in these knapsacks: 3 and 2 in one, 4 in the other."""


def test_they_are_solved_exactly_unasked() -> None:
    small = drawn("weakly", 100, 5, seed=0)
    problem = as_model(small)
    assert classify(problem).kind is ProblemKind.KNAPSACK_MULTIPLE
    outcome = gpu_bridge.solve(problem)
    assert outcome.engine == "knapsack-multiple"
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == outcome.bound == solve_multiple(small).profit
    assert "a multiple knapsack problem of 100 items and 5 knapsacks" in outcome.log


def test_other_methods_can_be_asked_for() -> None:
    problem = as_model(drawn("weakly", 12, 3, seed=0))
    assert choose(problem, make_options(method="mip")).method == "mip"
    assert choose(problem, make_options(heuristics_only=True)).method == "mip"
    assert choose(problem, make_options(method="knapsack")).method == "knapsack"


def test_why_the_engine_cannot_be_had_is_said() -> None:
    model = as_model(drawn("weakly", 12, 3, seed=0))
    lower = model.row_lower.copy()
    lower[0] = 1.0  # item 0 must be packed
    problem = Problem.from_arrays(
        model.cost,
        model.matrix,
        row_lower=lower,
        row_upper=model.row_upper,
        upper=1.0,
        integrality=model.integrality,
    )
    with pytest.raises(OptionError, match="several knapsacks that share their items"):
        gpu_bridge.solve(problem, method="knapsack")


def test_branch_and_bound_goes_on_where_the_engine_does_not_end(monkeypatch) -> None:
    monkeypatch.setattr(knapsack_route, "MULTIPLE_SECONDS", 0.0)
    small = drawn("weakly", 16, 4, seed=16)
    outcome = gpu_bridge.solve(as_model(small), rel_gap=0.0, abs_gap=0.5, device="cpu")
    assert "branch and bound goes on" in outcome.log
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_multiple(small).profit)


def test_what_presolve_leaves_is_solved_exactly() -> None:
    small = drawn("strongly", 12, 3, seed=1)
    model = as_model(small)
    twice = np.vstack([model.matrix.toarray(), np.zeros((1, 36))])
    twice[-1, [0, 1, 2, 3, 4]] = 1.0  # never more than two of them, as is known already
    problem = Problem.from_arrays(
        -model.cost,
        twice,
        row_upper=np.append(model.row_upper, 5.0),
        upper=1.0,
        integrality=model.integrality,
        maximize=True,
    )
    assert classify(problem).kind is ProblemKind.MIP
    outcome = gpu_bridge.solve(problem, rel_gap=0.0, abs_gap=0.5, device="cpu")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_multiple(small).profit)


def test_a_pyomo_model() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(5), range(2), domain=pyo.Binary)
    model.once = pyo.Constraint(range(5), rule=lambda m, i: sum(m.x[i, :]) <= 1)
    model.room = pyo.Constraint(
        range(2),
        rule=lambda m, j: sum(WEIGHT[i] * m.x[i, j] for i in range(5)) <= CAPACITY[j],
    )
    model.value = pyo.Objective(
        expr=-sum(PROFIT[i] * sum(model.x[i, :]) for i in range(5)), sense=pyo.minimize
    )
    results = pyo.SolverFactory("gpuheur").solve(model)
    assert results.solver.termination_condition == pyo.TerminationCondition.optimal
    assert pyo.value(model.value) == -BEST


def test_a_pulp_model() -> None:
    model = pulp.LpProblem("trip", pulp.LpMaximize)
    x = [[model.add_variable(f"x_{i}_{j}", cat="Binary") for j in range(2)] for i in range(5)]
    model += pulp.lpSum(PROFIT[i] * x[i][j] for i in range(5) for j in range(2))
    for i in range(5):
        model += pulp.lpSum(x[i]) <= 1
    for j in range(2):
        model += pulp.lpSum(WEIGHT[i] * x[i][j] for i in range(5)) <= CAPACITY[j]
    model.solve(pulp.getSolver("GPUHEUR", msg=False))
    assert pulp.value(model.objective) == BEST
