"""From nearly optimal points to vertices, with the three traps of HiGHS's crossover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.highs.engine import to_vertex
from solvers.highs.model import prepare
from solvers.highs.run import complementary, slack_form
from tests.highs.kkt import assert_basis, assert_optimal_lp
from tests.highs.models import covering, market_split, packing, transport
from tests.properties.strategies import problems

OPTIONS = EngineOptions()


def inexact(outcome: Outcome, error: float, seed: int = 0) -> Outcome:
    """Return the outcome as a first-order engine would have left it."""
    random = np.random.default_rng(seed)
    x = outcome.x + error * random.standard_normal(outcome.x.size)
    y = outcome.row_dual + error * random.standard_normal(outcome.row_dual.size)
    return Outcome(
        SolutionStatus.FEASIBLE, StopReason.CONVERGED, x=x, row_dual=y, engine="pdlp", device="cuda"
    )


def ranged(m: int, n: int) -> Problem:
    """Return a problem whose every row has two different sides."""
    problem = covering(m, n)
    return replace(problem, row_upper=problem.row_lower + 50.0, cost=problem.cost - 9.0)


@pytest.mark.parametrize("place", ["in_thread", "in_child"])
@pytest.mark.parametrize(
    "problem",
    [ranged(40, 30), packing(30, 60), transport(8, 9)],
    ids=["ranged", "packing", "transport"],
)
def test_the_vertex_is_optimal_with_basis_and_duals(problem, place, request):
    request.getfixturevalue(place)
    expected = solve(problem, OPTIONS, Progress())
    outcome = to_vertex(problem, inexact(expected, 1e-4), OPTIONS, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert (outcome.engine, outcome.device) == ("pdlp", "cuda")
    assert outcome.objective == pytest.approx(expected.objective, rel=1e-10)
    assert_optimal_lp(problem, outcome)
    assert_basis(problem, outcome)


@given(problems(), st.sampled_from([0.0, 1e-5, 1.0]))
@settings(max_examples=60)
def test_any_problem_and_any_precision(problem, error):
    expected = solve(problem, OPTIONS, Progress())
    if expected.solution_status is not SolutionStatus.OPTIMAL:
        return
    outcome = to_vertex(problem, inexact(expected, error), OPTIONS, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_optimal_lp(problem, outcome)
    assert_basis(problem, outcome)


def test_a_point_without_duals_will_do():
    problem = packing(30, 60)
    expected = solve(problem, OPTIONS, Progress())
    given_point = replace(inexact(expected, 1e-6), row_dual=None, x=None, candidate=expected.x)
    outcome = to_vertex(problem, given_point, OPTIONS, Progress())
    assert outcome.objective == pytest.approx(expected.objective, rel=1e-10)


def test_without_time_the_point_stays_and_says_why():
    problem = packing(30, 60)
    given_point = inexact(solve(problem, OPTIONS, Progress()), 1e-4)
    outcome = to_vertex(problem, given_point, OPTIONS, Progress(0.0))
    assert outcome.x is given_point.x
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert "time limit" in outcome.message


def test_a_misleading_point_ends_in_the_truth():
    infeasible = Problem.from_arrays([1, 1], [[1, 1], [1, 1]], [3, -np.inf], [np.inf, 2])
    claim = Outcome(
        SolutionStatus.FEASIBLE, StopReason.CONVERGED, x=np.ones(2), row_dual=np.zeros(2)
    )
    outcome = to_vertex(infeasible, claim, OPTIONS, Progress())
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.engine == "highs"


def test_outcomes_without_a_point_and_mixed_integer_ones_pass_through():
    nothing = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
    assert to_vertex(packing(3, 4), nothing, OPTIONS, Progress()) is nothing
    point = Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, x=np.zeros(38))
    assert to_vertex(market_split(), point, OPTIONS, Progress()) is point


def test_slack_form_adds_one_bounded_column_per_row():
    model = prepare(Problem.from_arrays([1, 2], [[1, 2], [3, 0]], [4, 5], [4, 7])).model
    wide = slack_form(model, np.array([1]))
    assert wide.num_columns == 3
    np.testing.assert_array_equal(wide.row_lower, wide.row_upper)
    np.testing.assert_array_equal(wide.activity(np.array([1.0, 1.0, 3.0])), [3.0, 0.0])
    assert (wide.lower[2], wide.upper[2]) == (5.0, 7.0)


def test_complementary_gives_way_to_the_larger():
    model = prepare(Problem.from_arrays([0] * 4, lower=0.0, upper=10.0)).model
    x = np.array([0.1, 0.1, 9.9, 5.0])
    z = np.array([1.0, 0.01, -1.0, -1.0])
    point, reduced_cost = complementary(model, x, z)
    np.testing.assert_array_equal(point, [0.0, 0.1, 10.0, 5.0])
    np.testing.assert_array_equal(reduced_cost, [1.0, 0.0, -1.0, 0.0])
