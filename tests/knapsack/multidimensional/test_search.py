"""Multidimensional knapsack problems against brute force, HiGHS and published optima."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import highs
from solvers.core.errors import ProblemError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack
from tests.knapsack.multidimensional.instances import best_profit, drawn


@st.composite
def problems(draw: st.DrawFn) -> MultidimensionalKnapsack:
    n, m = draw(st.integers(0, 9)), draw(st.integers(0, 4))
    largest = draw(st.sampled_from([1, 3, 12, 1000]))
    weight = st.lists(st.integers(0, largest), min_size=n, max_size=n)
    profit = draw(st.lists(st.integers(-2, largest), min_size=n, max_size=n))
    rows = draw(st.lists(weight, min_size=m, max_size=m))
    capacity = draw(st.lists(st.integers(-1, 4 * largest), min_size=m, max_size=m))
    return MultidimensionalKnapsack(
        np.array(profit, dtype=np.int64),
        np.array(rows, dtype=np.int64).reshape(m, n),
        np.array(capacity, dtype=np.int64),
    )


@given(problems())
@settings(max_examples=300, deadline=None)
def test_every_answer_is_the_best_of_all_packings(problem):
    packing = solve_multidimensional(problem, Progress(), threads=1)
    best = best_profit(problem)
    if best is None:
        assert packing.x is None
        return
    assert packing.x is not None
    assert packing.is_optimal
    assert packing.profit == best == problem.profit[packing.x].sum()
    assert problem.fits(packing.x)


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.25, 0.5, 0.75]))
@settings(max_examples=60, deadline=None)
def test_correlated_problems_are_solved_like_by_brute_force(seed, rows, tightness):
    problem = drawn(13, rows, tightness, seed)
    packing = solve_multidimensional(problem, Progress(), threads=1)
    assert packing.is_optimal
    assert packing.profit == best_profit(problem)


@pytest.mark.parametrize(
    ("items", "rows", "tightness"), [(40, 5, 0.25), (40, 5, 0.75), (60, 3, 0.5), (30, 10, 0.5)]
)
def test_larger_problems_are_solved_like_by_highs(items, rows, tightness):
    drawn_problem = drawn(items, rows, tightness, seed=items + rows)
    model = Problem.from_arrays(
        drawn_problem.profit.astype(float),
        drawn_problem.weight.astype(float),
        row_upper=drawn_problem.capacity.astype(float),
        upper=1.0,
        integrality=np.ones(items, dtype=bool),
        maximize=True,
    )
    peer = highs.solve(model, EngineOptions(rel_gap=0.0), Progress())
    assert peer.solution_status is SolutionStatus.OPTIMAL
    packing = solve_multidimensional(drawn_problem, Progress())
    assert packing.is_optimal
    assert packing.profit == pytest.approx(-peer.objective)


def test_a_published_problem_has_its_published_optimum():
    # Weingartner and Ness, "Methods for the solution of the multidimensional 0/1 knapsack
    # problem", 1967: the first of their problems
    profit = [1898, 440, 22507, 270, 14148, 3100, 4650, 30800, 615, 4975, 1160, 4225, 510, 11880]
    profit += [479, 440, 490, 330, 110, 560, 24355, 2885, 11748, 4550, 750, 3720, 1950, 10500]
    first = [45, 0, 85, 150, 65, 95, 30, 0, 170, 0, 40, 25, 20, 0]
    first += [0, 25, 0, 0, 25, 0, 165, 0, 85, 0, 0, 0, 0, 100]
    second = [30, 20, 125, 5, 80, 25, 35, 73, 12, 15, 15, 40, 5, 10]
    second += [10, 12, 10, 9, 0, 20, 60, 40, 50, 36, 49, 40, 19, 150]
    problem = MultidimensionalKnapsack(
        np.array(profit), np.array([first, second]), np.array([600, 600])
    )
    packing = solve_multidimensional(problem, Progress())
    assert packing.is_optimal
    assert packing.profit == 141278


def test_the_answer_does_not_depend_on_the_number_of_threads():
    problem = drawn(60, 5, 0.5, seed=3)
    one, three = (
        solve_multidimensional(problem, Progress(), threads=threads) for threads in (1, 3)
    )
    assert one.work == three.work > 1000
    assert np.array_equal(one.x, three.x)


def test_an_interrupted_search_has_a_packing_and_a_valid_bound():
    problem = drawn(60, 5, 0.5, seed=3)
    progress = Progress()
    progress.interrupt()
    cut = solve_multidimensional(problem, progress)
    optimum = solve_multidimensional(problem, Progress()).profit
    assert cut.x is not None
    assert problem.fits(cut.x)
    assert not cut.is_optimal
    assert cut.profit == problem.profit[cut.x].sum() <= optimum <= cut.bound


def test_what_is_told_ends_with_the_answer_and_never_gets_worse():
    told: list[tuple[int, int]] = []
    packing = solve_multidimensional(
        drawn(50, 5, 0.5, seed=4),
        Progress(),
        tell=lambda profit, bound: told.append((profit, bound)),
    )
    assert told[-1] == (packing.profit, packing.bound)
    assert told == sorted(told, key=lambda pair: (pair[0], -pair[1]))


@pytest.mark.parametrize(
    ("profit", "weight", "capacity", "words"),
    [
        ([1, 1], [[1, -1]], [3], "Item 1 has weight -1 in row 0"),
        ([1, 1], [[1, 2, 3]], [3], "shape"),
        ([2**49, 2**49], [[1, 1]], [1], "2\\^50"),
        ([1, 1], [[1, 1]], [2**50], "2\\^50"),
    ],
)
def test_what_cannot_be_treated_is_refused(profit, weight, capacity, words):
    with pytest.raises(ProblemError, match=words):
        MultidimensionalKnapsack(np.array(profit), np.array(weight), np.array(capacity))
