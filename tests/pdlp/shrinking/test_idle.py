"""Which columns and rows count as idle, on cases that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.lp_answer import judge
from solvers.core.problem import Problem
from solvers.pdlp.shrinking.part import (
    Kept,
    Movement,
    not_idle,
    wrongly_left_out,
)

INF = np.inf


def one_row(cost, lower, upper, row=(1.0, INF)) -> Problem:
    """Return an LP with one row, the sum of its columns."""
    matrix = np.ones((1, len(cost)))
    return Problem.from_arrays(cost, matrix, [row[0]], [row[1]], lower=lower, upper=upper)


def kept(problem: Problem, x, y, before_x=None, before_y=None, margin: float = 1.0) -> Kept:
    """Return what is kept at a point, after a movement from an earlier one."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    before_x = x if before_x is None else np.asarray(before_x, float)
    before_y = y if before_y is None else np.asarray(before_y, float)
    now = judge(problem, x, y)
    moved = Movement.between(problem, before_x, before_y, now)
    return not_idle(problem, now, moved, margin)


def test_columns_held_at_either_bound_are_idle_and_others_are_not() -> None:
    problem = one_row([3.0, -1.0, 1.0, 3.0], [0.0] * 4, [9.0, 2.0, 9.0, 9.0])
    # with y = 1 the reduced costs are 2, -2, 0, 2; the last column is off its bound
    assert kept(problem, [0.0, 2.0, 0.0, 0.5], [1.0]).columns.tolist() == [False, False, True, True]


def test_a_bound_on_the_wrong_side_of_the_reduced_cost_keeps_the_column() -> None:
    problem = one_row([3.0, -1.0], [0.0, 0.0], [2.0, 2.0])
    assert kept(problem, [2.0, 0.0], [1.0]).columns.all()


def test_a_free_column_is_never_idle_and_a_fixed_one_always() -> None:
    problem = one_row([3.0, -3.0, 1.0], [-INF, -INF, 1.5], [INF, INF, 1.5])
    found = kept(problem, [0.0, 0.0, 1.5], [1.0], before_y=[90.0])
    assert found.columns.tolist() == [True, True, False]


@pytest.mark.parametrize(("moved", "idle"), [(1.9, True), (2.1, False)])
def test_what_the_duals_moved_decides_about_a_column(moved: float, idle: bool) -> None:
    problem = one_row([3.0], [0.0], [INF])
    assert kept(problem, [0.0], [1.0], before_y=[1.0 + moved]).columns[0] == (not idle)
    assert kept(problem, [0.0], [1.0], before_y=[1.0 - moved / 2], margin=2.0).columns[0] != idle


@pytest.mark.parametrize(
    ("row", "x", "y", "before", "idle"),
    [
        ((1.0, INF), 4.0, 0.0, 2.0, True),  # 3 away from its side, moved by 2
        ((1.0, INF), 4.0, 0.0, 0.0, False),  # moved by 4
        ((1.0, 5.0), 4.0, 0.0, 2.0, False),  # the other side is 1 away
        ((1.0, INF), 4.0, 0.5, 4.0, False),  # has a dual
        ((4.0, 4.0), 4.0, 0.0, 4.0, False),  # an equation
        ((-INF, INF), 4.0, 0.0, 0.0, True),  # cannot bind
    ],
)
def test_slack_rows_without_a_dual_are_idle(row, x, y, before, idle) -> None:
    problem = one_row([1.0], [0.0], [9.0], row)
    assert kept(problem, [x], [y], before_x=[before]).rows[0] == (not idle)


def test_wrong_are_columns_called_in_and_rows_violated() -> None:
    problem = one_row([3.0, 0.5, 0.5, 1.0], [0.0] * 4, [INF, INF, INF, 0.0])
    now = judge(problem, np.zeros(4), np.array([1.0]))
    nothing = Kept(np.zeros(4, dtype=bool), np.zeros(1, dtype=bool))
    wrong = wrongly_left_out(problem, now, nothing)
    assert wrong.columns.tolist() == [False, True, True, False]
    assert wrong.rows.tolist() == [True]
    second_kept = Kept(np.array([False, True, False, False]), np.ones(1, dtype=bool))
    wrong = wrongly_left_out(problem, now, second_kept)
    assert wrong.columns.tolist() == [False, False, True, False]
    assert not wrong.rows.any()


def test_entries_are_bounded_by_those_in_kept_columns_and_in_kept_rows() -> None:
    matrix = np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0], [0.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    problem = Problem.from_arrays(np.zeros(3), matrix)
    all_columns, all_rows = np.ones(3, dtype=bool), np.ones(4, dtype=bool)
    two, last = np.array([True, True, False]), np.array([False, False, False, True])
    assert Kept(all_columns, all_rows).entries_at_most(problem) == 9
    assert Kept(two, all_rows).entries_at_most(problem) == 6
    assert Kept(two, last).entries_at_most(problem) == 3
    assert Kept(~all_columns, last).entries_at_most(problem) == 0


@pytest.mark.parametrize("seed", range(5))
def test_without_movement_as_much_is_idle_as_can_be(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(12, 20)) * (random.random((12, 20)) < 0.4)
    problem = Problem.from_arrays(random.normal(size=20), matrix, -1.0, 1.0, upper=3.0)
    now = judge(problem, random.normal(size=20), random.normal(size=12).clip(0.0))
    moved = Movement.between(problem, random.normal(size=20), now.row_dual, now)
    least = not_idle(problem, now, None, 1.0)
    assert not least.columns.all()
    for margin in (0.0, 1.0):
        found = not_idle(problem, now, moved, margin)
        assert not (least.columns & ~found.columns).any()
        assert not (least.rows & ~found.rows).any()
