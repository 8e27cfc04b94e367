from __future__ import annotations

import dataclasses

import numpy as np
import pulp
import pytest
from hypothesis import given, settings

import gpu_bridge as gb
from gpu_bridge.adapters.pulp.values import set_values
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.adapters.pulp.models import (
    PULP_4,
    in_our_words,
    model_of,
    rows_of,
    small,
    solve,
    solver,
    values,
)
from tests.cases import through
from tests.problems import INTEGER, LINEAR, Case
from tests.properties.strategies import problems

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SENSES = pytest.mark.parametrize("sense", [pulp.LpMinimize, pulp.LpMaximize])


@through("case", [*LINEAR, *INTEGER])
def test_status_and_objective(case: Case) -> None:
    lp = model_of(case.problem)
    assert solve(lp) is case.status
    if case.status is SolutionStatus.OPTIMAL:
        assert pulp.value(lp.objective) == pytest.approx(case.objective, abs=1e-7)
        assert lp.valid(1e-6)


def test_what_the_rows_need_of_an_integer_is_not_rounded_away() -> None:
    lp = pulp.LpProblem("switched", pulp.LpMinimize)
    amount, switch = lp.add_variable("amount", 24), lp.add_variable("switch", 0, 1, cat="Integer")
    lp += 36 * switch
    lp += amount - 1e10 * switch <= 0, "link"
    assert solve(lp) is SolutionStatus.OPTIMAL
    model = lp.solverModel
    tiny = dataclasses.replace(model.outcome, x=np.array([24.0, 2.4e-9]))
    set_values(lp, model.arrays, tiny)
    assert values(lp) == {"amount": 24.0, "switch": 2.4e-9}


@given(problems())
@settings(max_examples=25)
def test_the_same_answer_as_from_matrices(problem: Problem) -> None:
    lower, upper = np.maximum(problem.lower, -20.0), np.minimum(problem.upper, 20.0)
    problem = dataclasses.replace(problem, lower=lower, upper=upper)
    direct = gb.solve(problem)
    lp = model_of(problem)
    assert solve(lp) is direct.solution_status
    if direct.solution_status is SolutionStatus.OPTIMAL:
        assert pulp.value(lp.objective) == pytest.approx(direct.objective, abs=1e-7)
        assert lp.solverModel.outcome.objective == pytest.approx(direct.objective, abs=1e-7)


@SENSES
def test_values_duals_and_slacks(sense: int) -> None:
    sign = -1 if sense == pulp.LpMaximize else 1
    lp = small(sense)
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert values(lp) == pytest.approx({"x": 4, "y": -1, "z": 6})
    assert pulp.value(lp.objective) == pytest.approx(sign * 54)
    rows = {constraint.name: constraint for constraint in rows_of(lp)}
    assert {name: row.slack for name, row in rows.items()} == pytest.approx(
        {"c1": 2, "c2": 0, "c3": 0}
    )
    # x is at its upper bound and y at its lower one; c1 does not bind
    duals = {name: row.pi for name, row in rows.items()}
    assert duals["c1"] == pytest.approx(0)
    for variable, costs in zip(lp.variables(), (1, 4, 9), strict=True):
        price = sum(duals[name] * row.get(variable, 0) for name, row in rows.items())
        assert variable.dj == pytest.approx(sign * costs - price)


@SENSES
@pytest.mark.parametrize("name", ["d1", "d2", "d3"])
def test_pi_is_the_change_of_the_objective(sense: int, name: str) -> None:
    lp, nudged = _unique_duals(sense), _unique_duals(sense)
    nudged.get_constraint_by_name(name).constant -= 0.25  # the right-hand side grows
    for model in (lp, nudged):
        assert solve(model) is SolutionStatus.OPTIMAL
    change = (pulp.value(nudged.objective) - pulp.value(lp.objective)) / 0.25
    assert lp.get_constraint_by_name(name).pi == pytest.approx(change, abs=1e-7)


@SENSES
@pytest.mark.parametrize("name", ["u", "v", "w"])
def test_dj_is_the_change_of_the_objective(sense: int, name: str) -> None:
    lp, nudged = _unique_duals(sense), _unique_duals(sense)
    for model in (lp, nudged):
        assert solve(model) is SolutionStatus.OPTIMAL
    variable = nudged.variablesDict()[name]
    if variable.varValue == variable.upBound:
        variable.upBound += 0.25
    elif variable.varValue == variable.lowBound:
        variable.lowBound += 0.25
    assert solve(nudged) is SolutionStatus.OPTIMAL
    change = (pulp.value(nudged.objective) - pulp.value(lp.objective)) / 0.25
    assert lp.variablesDict()[name].dj == pytest.approx(change, abs=1e-7)


def _unique_duals(sense: int) -> pulp.LpProblem:
    """Return a model whose one optimal vertex is not degenerate, for either sense."""
    lp = pulp.LpProblem("model", sense)
    u = lp.add_variable("u", 0, 6)
    v = lp.add_variable("v", 1, 8)
    w = lp.add_variable("w", 0)
    lp += (u + 3 * v - 2 * w) if sense == pulp.LpMaximize else (u + 3 * v + 2 * w)
    lp += u + v <= 9, "d1"
    lp += u + 2 * v + w >= 4, "d2"
    lp += u - w == 1.5, "d3"
    return lp


def test_slack_is_right_hand_side_minus_activity() -> None:
    lp = small()
    x, _, z = lp.variables()
    lp += x + z >= 7, "loose"  # where x + z = 10
    lp.solve(solver())
    assert lp.get_constraint_by_name("c1").slack == pytest.approx(2)
    assert lp.get_constraint_by_name("loose").slack == pytest.approx(-3)


def test_integers_are_whole_and_have_no_duals() -> None:
    lp = small()
    lp.solve(solver())
    assert lp.get_constraint_by_name("c3").pi is not None
    lp.variablesDict()["x"].cat = "Integer"
    lp.get_constraint_by_name("c2").constant = -9.5
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert lp.variablesDict()["x"].varValue == 4.0
    assert all(_is_missing(row.pi) for row in rows_of(lp))
    assert all(_is_missing(variable.dj) for variable in lp.variables())
    assert {row.slack is None for row in rows_of(lp)} == {False}


def _is_missing(dual: float | None) -> bool:
    return dual is None if not PULP_4 else np.isnan(dual)


def test_integers_solved_at_once_have_no_duals() -> None:
    lp = small()
    lp.variablesDict()["x"].cat = "Integer"
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert {row.pi for row in rows_of(lp)} == {None}
    assert {variable.dj for variable in lp.variables()} == {None}


def test_the_relaxation_on_request() -> None:
    lp = pulp.LpProblem("model", pulp.LpMaximize)
    x = lp.add_variable("x", 0, 5, cat="Integer")
    lp += x
    lp += 2 * x <= 7, "row"
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert x.varValue == 3
    assert solve(lp, solver(mip=False)) is SolutionStatus.OPTIMAL
    assert x.varValue == pytest.approx(3.5)
    assert lp.get_constraint_by_name("row").pi == pytest.approx(0.5)


def test_a_limit_without_a_point_keeps_the_values() -> None:
    lp = small()
    assert solve(lp, solver(timeLimit=0)) is SolutionStatus.NOTHING
    assert set(values(lp).values()) == {None}
    lp.solve(solver())
    before = values(lp)
    duals = [row.pi for row in rows_of(lp)]
    assert solve(lp, solver(timeLimit=0)) is SolutionStatus.NOTHING
    assert values(lp) == before
    assert [row.pi for row in rows_of(lp)] == duals


def test_a_point_at_a_limit_is_a_solution_found() -> None:
    lp = pulp.LpProblem("knapsack", pulp.LpMaximize)
    random = np.random.default_rng(4)
    items = [lp.add_variable(f"x{j}", cat="Binary") for j in range(60)]
    lp += pulp.lpDot(random.integers(10, 99, 60).tolist(), items)
    for _ in range(20):
        lp += pulp.lpDot(random.integers(10, 99, 60).tolist(), items) <= 900
    start = solver(warmStart=True, node_limit=0)
    for item in items:
        item.setInitialValue(0)
    assert solve(lp, start) is SolutionStatus.FEASIBLE
    assert start.outcome.bound >= pulp.value(lp.objective)
    assert lp.valid(1e-6)


def test_an_infeasible_model_holds_a_point_that_shows_what_is_violated_and_is_explained() -> None:
    lp = small()
    lp.solve(solver())
    lp += lp.variablesDict()["x"] >= 4.5, "too much"
    mine = solver()
    assert solve(lp, mine) is SolutionStatus.INFEASIBLE
    assert all(variable.dj is None or np.isnan(variable.dj) for variable in lp.variables())
    assert not lp.valid(1e-6)
    conflict = str(mine.outcome.conflict)
    assert "too_much" in conflict
    assert "x" in conflict


@pytest.mark.parametrize("lower", [4.5, float("inf")])
def test_crossed_bounds_leave_values_that_are_numbers(lower: float) -> None:
    lp = small()
    lp.variablesDict()["x"].lowBound = lower
    assert solve(lp) is SolutionStatus.INFEASIBLE
    assert np.isfinite(list(values(lp).values())).all()
    assert not lp.valid(1e-6)


def test_solving_again_after_changes() -> None:
    lp = small()
    mine = solver()
    lp.solve(mine)
    lp.variablesDict()["x"].upBound = 3
    assert in_our_words(lp, lp.resolve()) is SolutionStatus.OPTIMAL
    assert pulp.value(lp.objective) == pytest.approx(3 + 4 * 0 + 9 * 7)
    lp.resolveOK = True  # PuLP 3 then asks for actualResolve
    lp.variablesDict()["x"].upBound = 4
    assert in_our_words(lp, lp.resolve()) is SolutionStatus.OPTIMAL
    assert pulp.value(lp.objective) == pytest.approx(54)


def test_one_objective_after_another() -> None:
    lp = small()
    x, y, z = lp.variables()
    answers = lp.sequentialSolve([1 * z, x + y], solver=solver())
    assert [in_our_words(lp, answer) for answer in answers] == [SolutionStatus.OPTIMAL] * 2
    assert values(lp) == pytest.approx({"x": 4, "y": -1, "z": 6})


def test_variables_of_no_row_and_no_objective_are_left_alone() -> None:
    lp = small()
    unused = lp.add_variable("unused", 2, 9)
    lp.solve(solver())
    assert unused.varValue is None


@pytest.mark.parametrize("objective", [None, 0, 7])
def test_a_constant_or_no_objective(objective: int | None) -> None:
    lp = pulp.LpProblem("model")
    x = lp.add_variable("x", 0, 4)
    if objective is not None:
        lp += objective
    lp += x >= 3
    for _ in range(2):
        assert solve(lp) is SolutionStatus.OPTIMAL
        assert x.varValue >= 3 - 1e-9
        if objective is not None:
            assert pulp.value(lp.objective) == objective


def test_an_empty_model() -> None:
    lp = pulp.LpProblem("model")
    assert solve(lp) is SolutionStatus.OPTIMAL


@pytest.mark.parametrize("side", [5, -5, 0])
def test_a_constraint_without_variables(side: int) -> None:
    lp = small()
    lp += pulp.lpSum([]) >= side, "empty"
    empty = lp.get_constraint_by_name("empty")
    if side <= 0:
        assert solve(lp) is SolutionStatus.OPTIMAL
        assert (empty.pi, empty.slack) == (0, side)
    else:
        assert solve(lp) is SolutionStatus.INFEASIBLE
        assert "empty" in str(lp.solverModel.outcome.conflict)


def test_crossed_bounds_are_infeasible_and_logged(capsys: pytest.CaptureFixture[str]) -> None:
    lp = small()
    lp.variablesDict()["x"].lowBound = 5
    assert solve(lp, solver(msg=True)) is SolutionStatus.INFEASIBLE
    assert "'x'" in capsys.readouterr().out
    assert "'x'" in str(lp.solverModel.outcome.conflict)
