"""The one reformulation of special ordered sets, on problems written down as arrays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import gpu_bridge as gb
from gpu_bridge.adapters.sos import (
    FixedMember,
    OrderedSet,
    add_ordered_sets,
    imply_bounds,
    joined_names,
)
from solvers.core.errors import UnsupportedModelError
from solvers.core.problem import Problem
from tests.properties.strategies import problems

INF = np.inf


def solved(problem: Problem, *sets: OrderedSet) -> gb.Outcome:
    return gb.solve(add_ordered_sets(problem, sets), rel_gap=0.0, explain=False)


@given(
    kind=st.sampled_from([1, 2]),
    order=st.permutations(range(4)),
    cost=st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    row=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
@settings(max_examples=20)
def test_bounds_from_rows_serve_as_well_as_declared_ones(
    kind: int, order: list[int], cost: list[int], row: list[int]
) -> None:
    problem = Problem.from_arrays(cost, [row], row_upper=[6.0])  # no upper bounds but by the row
    best = INF
    for k in range(4):
        free = set(order[k : k + kind])
        bounds = [(0, None if j in free else 0) for j in range(4)]
        best = min(best, linprog(cost, [row], [6.0], bounds=bounds).fun)
    answer = solved(problem, OrderedSet("set", kind, tuple(order)))
    assert answer.solution_status is gb.SolutionStatus.OPTIMAL
    assert answer.objective == pytest.approx(best, abs=1e-6)
    places = [order.index(j) for j in np.flatnonzero(np.abs(answer.x[:4]) > 1e-6)]
    assert max(places, default=0) - min(places, default=0) < kind


@given(problems())
@settings(max_examples=60)
def test_implied_bounds_cut_nothing_off(problem: Problem) -> None:
    lower, upper = imply_bounds(
        problem.matrix,
        problem.row_lower,
        problem.row_upper,
        problem.lower,
        problem.upper,
        range(problem.num_columns),
    )
    assert not np.isnan([lower, upper]).any()
    for point in itertools.product(range(-3, 4), repeat=min(problem.num_columns, 3)):
        x = np.append(point, np.zeros(problem.num_columns - len(point)))
        activity = problem.matrix @ x
        inside = (problem.row_lower <= activity) & (activity <= problem.row_upper)
        if inside.all() and ((problem.lower <= x) & (x <= problem.upper)).all():
            assert ((lower <= x) & (x <= upper)).all()


def test_a_member_without_bounds_is_named() -> None:
    problem = Problem.from_arrays(
        [1.0, 1.0], [[1.0, -1.0]], row_upper=[0.0], upper=[3, INF], column_names=["a", "b"]
    )
    with pytest.raises(UnsupportedModelError, match=r"'b' of SOS constraint 'set' has bounds \[0"):
        add_ordered_sets(problem, [OrderedSet("set", 1, (0, 1))])


def test_sets_that_allow_everything_add_nothing() -> None:
    problem = Problem.from_arrays([1.0, 1.0])  # unbounded columns would be refused
    sets = [OrderedSet("a", 2, (0, 1)), OrderedSet("b", 1, (0,)), OrderedSet("c", 1, ())]
    assert add_ordered_sets(problem, sets) is problem


@pytest.mark.parametrize("level", [0, 3])
def test_other_levels_are_refused(level: int) -> None:
    with pytest.raises(UnsupportedModelError, match=f"'set' has level {level}"):
        add_ordered_sets(Problem.from_arrays([1.0]), [OrderedSet("set", level, (0,))])


@pytest.mark.parametrize("value", [0.0, 2.5, -1.0])
def test_a_fixed_member_keeps_its_place(value: float) -> None:
    problem = Problem.from_arrays([-2.0, -3.0], upper=[2.0, 1.0])  # both alone: -4 and -3
    members = (0, FixedMember("f", value), FixedMember("g", 0.0), 1)
    assert solved(problem, OrderedSet("set", 2, members)).x[:2] == pytest.approx([2, 0])
    if value:  # as the last of three it rules out the first
        answer = solved(problem, OrderedSet("set", 2, (0, 1, FixedMember("f", value))))
        assert answer.x[:2] == pytest.approx([0, 1])


def test_names_follow_each_other() -> None:
    problem = Problem.from_arrays(
        [1.0, 1.0], [[1.0, 1.0]], upper=[1, 1], column_names=["a", "b"], row_names=["r"]
    )
    larger = add_ordered_sets(problem, [OrderedSet("s", 1, (0, 1))])
    assert list(larger.column_names) == ["a", "b", "s.switch[1]", "s.switch[2]"]
    assert list(larger.row_names) == ["r", "s[a].upper", "s[b].upper", "s.one"]
    assert larger.row_names[-1] == "s.one"
    assert joined_names(["a"], ["b", "c"])[1:] == ["b", "c"]
    with pytest.raises(IndexError):
        joined_names(["a"], ["b"])[2]
