"""Knapsack models in many guises, solved by the engine and by HiGHS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge.classify import ProblemKind, classify
from solvers import knapsack
from solvers.core.errors import EngineError, OptionError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.recognise import floor_of, recognise, whole
from tests.knapsack.brute import instance


def model(
    profit: list[float],
    weight: list[float],
    capacity: float,
    *,
    lower: float | list[float] = 0.0,
    upper: float | list[float] = 1.0,
    at_least: bool = False,
) -> Problem:
    sides = (capacity, np.inf) if at_least else (-np.inf, capacity)
    return Problem.from_arrays(
        profit,
        np.atleast_2d(np.array(weight, dtype=float)),
        row_lower=[sides[0]],
        row_upper=[sides[1]],
        lower=lower,
        upper=upper,
        integrality=np.ones(len(profit), dtype=bool),
        maximize=not at_least,
    )


@st.composite
def models(draw: st.DrawFn) -> Problem:
    n = draw(st.integers(2, 6))
    quantum = draw(st.sampled_from([1.0, 0.1, 0.25, 1e-3]))
    numbers = st.lists(st.integers(-30, 60), min_size=n, max_size=n)
    weight = [w * quantum for w in draw(numbers)]
    lower = draw(st.lists(st.integers(-3, 2), min_size=n, max_size=n))
    extent = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return model(
        [p * quantum for p in draw(numbers)],
        weight,
        draw(st.integers(-60, 120)) * quantum,
        lower=[float(v) for v in lower],
        upper=[float(v + e) for v, e in zip(lower, extent, strict=True)],
        at_least=draw(st.booleans()),
    )


@given(models())
def test_any_knapsack_model_has_the_answer_of_the_reference_engine(problem: Problem) -> None:
    reference = gpu_bridge.solve(problem, method="highs", rel_gap=0.0, abs_gap=0.0)
    found = gpu_bridge.solve(problem)
    assert found.solution_status == reference.solution_status
    if np.count_nonzero(problem.matrix.toarray()) > 1:
        assert found.engine == "knapsack"
    if found.x is not None:
        assert found.objective == pytest.approx(reference.objective, rel=1e-9, abs=1e-6)
        assert found.bound == found.objective


def test_unbounded_copies_are_limited_by_the_capacity() -> None:
    problem = model([5.0, 4.0, 3.0], [2.5, 1.5, 1.25], 10.5, upper=np.inf)
    found = gpu_bridge.solve(problem)
    assert (found.engine, found.objective) == ("knapsack", 28.0)


def test_columns_bounded_above_only_are_mirrored() -> None:
    problem = model([-3.0, -5.0], [-4.0, -7.0], 30.0, lower=-np.inf, upper=[0.0, 2.0])
    found = recognise(problem)
    assert found is not None
    assert found.sign.tolist() == [-1, -1]
    answer = gpu_bridge.solve(problem)
    assert answer.engine == "knapsack"
    assert answer.objective == gpu_bridge.solve(problem, method="highs").objective


def test_rows_of_one_entry_are_bounds() -> None:
    problem = Problem.from_arrays(
        [4.0, 3.0, 7.0],
        np.array([[3.0, 2.0, 4.0], [0.0, 2.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]),
        row_lower=[-np.inf, 2.0, -np.inf, -1.0],
        row_upper=[6.0, np.inf, 0.0, 1.0],
        upper=1.0,
        integrality=np.ones(3, dtype=bool),
        maximize=True,
    )
    found = gpu_bridge.solve(problem, method="knapsack")
    assert (found.engine, found.objective) == ("knapsack", 10.0)
    assert found.x is not None
    assert found.x.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "problem",
    [
        model([1.0, 2.0], [np.pi, 1.0], 3.0),
        model([1.0, np.e], [2.0, 1.0], 3.0),
        model([1.0, 1.0], [1.0, -1.0], 3.0, upper=np.inf),
        model([1.0, 1.0], [1.0, 1.0], 3.0, lower=-np.inf, upper=np.inf),
        Problem.from_arrays(
            [1.0, 2.0], [[1.0, 1.0], [1.0, -1.0]], row_upper=[1.0, 1.0], integrality=[True] * 2
        ),
        Problem.from_arrays(
            [1.0, 2.0], np.ones((1, 2)), row_upper=[1.0], upper=1.0, integrality=[True, False]
        ),
        Problem.from_arrays(
            [1.0, 2.0], np.ones((1, 2)), row_lower=[0.5], row_upper=[1.0], integrality=[True] * 2
        ),
    ],
    ids=["irrational weight", "irrational profit", "free", "no start", "rows", "mixed", "range"],
)
def test_what_is_no_knapsack_problem_goes_to_the_other_engines(problem: Problem) -> None:
    assert recognise(problem) is None
    assert classify(problem).kind is ProblemKind.MIP
    with pytest.raises(OptionError, match="one capacity constraint"):
        gpu_bridge.solve(problem, method="knapsack")
    with pytest.raises(EngineError, match="not a knapsack"):
        knapsack.solve(problem, EngineOptions(), Progress())


def test_the_log_says_what_was_recognised() -> None:
    subset_sum = model([0.5, 1.5, 2.5], [0.5, 1.5, 2.5], 3.5)
    outcome = gpu_bridge.solve(subset_sum)
    assert "a subset-sum problem of 3 items, weights times 2" in outcome.log
    assert outcome.objective == 3.0
    assert "bounded knapsack problem" in classify(model([1, 2], [3, 4], 9, upper=3.0)).sentence


def test_a_limit_leaves_a_packing_with_a_gap() -> None:
    hard = instance("circle", 3000, 10**6, 0)
    problem = model(hard.profit.tolist(), hard.weight.tolist(), hard.capacity)
    found = gpu_bridge.solve(problem, time_limit=0.0001)
    assert found.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)
    direct = knapsack.solve(problem, EngineOptions(), Progress(0.0))
    assert direct.solution_status is SolutionStatus.FEASIBLE
    assert direct.bound < direct.objective  # minimised sense
    assert direct.x is not None
    assert (problem.matrix @ direct.x <= hard.capacity).all()


def test_decimals_and_fractions_are_made_whole() -> None:
    for given_numbers, scale in (
        ([1.0, -7.0, 0.0], 1),
        ([0.1, 0.2, 12.345], 200),
        ([1 / 3, 2 / 7], 21),
        ([2.5e-7], 4_000_000),
        ([3 * 0.1, 0.1 + 0.7], 10),
    ):
        found = whole(np.array(given_numbers))
        assert found is not None
        assert found.scale == scale
        exact = [Fraction(number).limit_denominator(10**7) * scale for number in given_numbers]
        assert found.values.tolist() == exact
    assert whole(np.array([np.pi])) is None
    assert whole(np.array([np.inf])) is None
    assert whole(np.array([2.0**60])) is None


def test_a_side_is_rounded_down_as_it_was_written() -> None:
    assert floor_of(0.3, 10) == 3  # the double nearest to 0.3 is below it
    assert floor_of(-0.35, 10) == -4
    assert floor_of(1 / 3, 3) == 1
    assert floor_of(np.pi, 100) == 314
    assert floor_of(1e18, 1) == 10**18


def test_a_side_that_rounding_moved_is_the_one_that_was_meant() -> None:
    assert floor_of(1.9 - 2.1, 10) == -2  # the double is below -0.2
    assert floor_of(9.33333333333, 3) == 28  # as PuLP writes 28 / 3
    assert floor_of(2.9999999, 1) == 2
    assert floor_of(1e12, 1) == 10**12
    assert floor_of(1e12 - 1.0, 1) == 10**12 - 1


def test_rounding_does_not_decide_between_packings() -> None:
    """Both models mean what HiGHS makes of them; exactly, their best packing misses a side."""
    third = [2.66666666667, 3.33333333333, 2.0, 1.0, 1.66666666667, 3.33333333333, 3.0]
    cut_off = Problem.from_arrays(
        [-9.0, -11.0, -7.0, -4.0, -6.0, -11.0, -10.0],
        [third],
        row_upper=[9.33333333333],
        upper=[3.0, 4.0, 2.0, 2.0, 5.0, 2.0, 5.0],
        integrality=True,
    )
    computed = Problem.from_arrays(
        [0.4, 0.7, 0.2],
        [[0.0, 1.9, -2.1], [1.0, 0.0, -0.5]],
        row_upper=[1.9 - 2.1, 2.5],
        upper=[8.0, 8.0, 1.0],
        integrality=True,
        maximize=True,
    )
    for problem in (cut_off, computed):
        reference = gpu_bridge.solve(problem, method="highs", rel_gap=0.0)
        outcome = gpu_bridge.solve(problem, rel_gap=0.0, device="cpu")
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert outcome.objective == pytest.approx(reference.objective, abs=1e-9)
    assert classify(computed).kind is ProblemKind.KNAPSACK_MULTIDIMENSIONAL
    assert classify(cut_off).kind is ProblemKind.MIP
