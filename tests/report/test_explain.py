"""Explanations of infeasible models whose conflict is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import gpu_bridge.report.explain
from gpu_bridge.report.explain import Conflict, explain
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import run as highs_conflict
from solvers.highs import solve
from tests.highs.models import covering
from tests.properties.strategies import problems

SECONDS = 20.0


def budget(**more) -> Problem:
    """Return a model with one conflict (demand, capacity) among rows that have none."""
    values = {
        "cost": [1, 1, 1],
        "matrix": [[3, 2, 0], [1, 0, 1], [1, 1, 1], [0, 1, -1]],
        "row_lower": [-np.inf, -np.inf, 1, -4],
        "row_upper": [10, 50, np.inf, 4],
        "lower": [5, 0, 0],
        "upper": [np.inf, 9, 9],
        "column_names": ["x", "y", "z"],
        "row_names": ["capacity[2]", "loose", "demand", "balance"],
    }
    return Problem.from_arrays(**{**values, **more})


def rows_of(problem: Problem, conflict: Conflict) -> list[str]:
    return [problem.row_label(i) for i in conflict.rows]


def test_a_row_and_two_bounds():
    problem = budget()
    conflict = explain(problem, SECONDS)
    assert conflict.lines == (
        "capacity[2]: 3 x + 2 y <= 10",
        "bound of x: x >= 5",
        "bound of y: y >= 0",
    )
    assert conflict.minimal
    assert rows_of(problem, conflict) == ["capacity[2]"]
    assert conflict.columns == (0, 1)
    assert conflict.integers == ()


def test_two_rows_alone():
    problem = Problem.from_arrays(
        [0, 0], [[1, 1], [1, 1], [1, -1]], [3, -np.inf, 0], [np.inf, 2, 9], lower=-np.inf
    )
    conflict = explain(problem, SECONDS)
    assert conflict.lines == ("r0: c0 + c1 >= 3", "r1: c0 + c1 <= 2")
    assert conflict.minimal


def test_the_paragraph_names_everything():
    text = str(explain(budget(), SECONDS))
    assert text.splitlines() == [
        "The model is infeasible: these 3 conditions cannot hold together; "
        "without any one of them the others can.",
        "  capacity[2]: 3 x + 2 y <= 10",
        "  bound of x: x >= 5",
        "  bound of y: y >= 0",
    ]


def test_equations_negative_terms_and_long_rows():
    names = [f"v{k}" for k in range(12)]
    signs = [-1.0, 1.0, -2.5] * 4
    problem = Problem.from_arrays(
        np.zeros(12), [signs], [99], [99], upper=1.0, column_names=names, row_names=["sum"]
    )
    conflict = explain(problem, SECONDS)
    assert conflict.lines[0] == (
        "sum: -v0 + v1 - 2.5 v2 - v3 + v4 - 2.5 v5 - v6 + v7 + ... (4 more terms) = 99"
    )


def test_integrality_is_named_where_it_is_to_blame():
    problem = Problem.from_arrays(
        [0, 0, 0],
        [[2, 2, 0], [0, 1, 1]],
        [3, 1],
        [3, np.inf],
        upper=5.0,
        integrality=[1, 1, 0],
        column_names=["a", "b", "c"],
        row_names=["odd", "other"],
    )
    conflict = explain(problem, SECONDS)
    assert rows_of(problem, conflict) == ["odd"]
    assert conflict.integers == (0, 1)
    assert "a must be integer" in conflict.lines
    assert "b must be integer" in conflict.lines
    assert conflict.lines[0] == "odd: 2 a + 2 b = 3"
    assert conflict.minimal


def test_an_integer_model_with_an_infeasible_relaxation():
    conflict = explain(budget(integrality=[1, 1, 0]), SECONDS)
    assert conflict.lines[0] == "capacity[2]: 3 x + 2 y <= 10"
    assert conflict.integers == ()


def test_an_integer_column_without_an_integer():
    problem = Problem.from_arrays(
        [1, 1], lower=[0.2, 0], upper=[0.8, 1], integrality=True, column_names=["pick", "b"]
    )
    conflict = explain(problem, SECONDS)
    assert conflict.lines == ("bound of pick: 0.2 <= pick <= 0.8", "pick must be integer")


def test_rows_without_variables():
    problem = Problem.from_arrays([], np.zeros((2, 0)), [-1, 2], [1, 3])
    conflict = explain(problem, SECONDS)
    assert conflict.rows == (1,)
    assert conflict.lines == ("r1: 0 >= 2",)
    assert "this cannot hold" in str(conflict)
    empty_row = Problem.from_arrays([1], [[0]], [1], row_names=["nothing"])
    assert explain(empty_row, SECONDS).lines == ("nothing: 0 >= 1",)


@pytest.mark.parametrize("integrality", [False, True])
def test_feasible_models_have_no_conflict(integrality):
    assert explain(covering(20, 10, integer=integrality), SECONDS) is None
    unbounded = Problem.from_arrays([-1], [[1]], [0], integrality=integrality)
    assert explain(unbounded, SECONDS) is None


def test_without_time_there_is_no_explanation():
    assert explain(budget(), 0.0) is None


def test_the_farkas_proof_serves_where_highs_fails(monkeypatch):
    monkeypatch.setattr(highs_conflict, "_subsystem", lambda *_: None)
    conflict = explain(budget(), SECONDS)
    assert conflict.lines[0] == "capacity[2]: 3 x + 2 y <= 10"
    assert not conflict.minimal
    assert "not all may be needed" in str(conflict)


def test_a_subsystem_that_is_satisfiable_is_never_given_out(monkeypatch):
    nothing = (np.array([0, 1, 0, 0], np.int8), np.array([1, 0, 0], np.int8), True)
    monkeypatch.setattr(highs_conflict, "_subsystem", lambda *_: nothing)
    conflict = explain(budget(), SECONDS)
    assert conflict.rows == (0,)


def test_what_time_did_not_allow_to_test_is_not_called_minimal(monkeypatch):
    problem = Problem.from_arrays(
        [0, 0, 0], [[2, 2, 0], [0, 1, 1]], [3, 1], [3, 9], upper=5.0, integrality=True
    )
    judge = gpu_bridge.report.explain._is_infeasible
    asked = []

    def slow(*arguments):
        asked.append(1)
        return judge(*arguments) if len(asked) < 4 else None

    monkeypatch.setattr(gpu_bridge.report.explain, "_is_infeasible", slow)
    conflict = explain(problem, SECONDS)
    assert conflict.rows == (0,)
    assert not conflict.minimal


def test_long_conflicts_are_cut_in_the_paragraph_only():
    n = 40
    chain = np.eye(n) - np.eye(n, k=1)
    chain[-1, 0] = -1.0
    problem = Problem.from_arrays(np.zeros(n), chain, np.ones(n), lower=-np.inf)
    conflict = explain(problem, SECONDS)
    assert len(conflict.lines) == n
    assert "  ... and 10 more" in str(conflict)


@given(problems())
@settings(max_examples=60)
def test_every_conflict_is_infeasible_and_minimal_where_it_says_so(problem):
    conflict = explain(problem, SECONDS)
    status = solve(problem, EngineOptions(), Progress()).solution_status
    if status is not SolutionStatus.INFEASIBLE:
        assert conflict is None
        return
    assert conflict is not None
    whole = part(problem, conflict.rows, conflict.columns)
    assert whole is SolutionStatus.INFEASIBLE
    if conflict.minimal:
        for row in conflict.rows:
            fewer = tuple(i for i in conflict.rows if i != row)
            assert part(problem, fewer, conflict.columns) is not SolutionStatus.INFEASIBLE


def part(problem: Problem, rows: tuple[int, ...], columns: tuple[int, ...]) -> SolutionStatus:
    """Return the status of the problem with these rows and these columns' bounds only."""
    free = np.ones(problem.num_columns, dtype=bool)
    free[list(columns)] = False
    chosen = list(rows)
    smaller = Problem(
        cost=np.zeros(problem.num_columns),
        matrix=problem.matrix[chosen] if chosen else np.zeros((0, problem.num_columns)),
        row_lower=problem.row_lower[chosen],
        row_upper=problem.row_upper[chosen],
        lower=np.where(free, -np.inf, problem.lower),
        upper=np.where(free, np.inf, problem.upper),
        integrality=problem.integrality,
    )
    return solve(smaller, EngineOptions(), Progress()).solution_status
