"""Presolve and the way back: duals and bases pass the original optimality conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from gpu_bridge.verify.residuals import lp_residuals
from solvers import presolve
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from tests.cases import through
from tests.highs.kkt import assert_basis, assert_optimal_lp
from tests.highs.models import covering, market_split, packing, transport
from tests.problems import INTEGER, LINEAR
from tests.properties.strategies import problems

PLAIN = EngineOptions(presolve=False, rel_gap=0.0)


def reduced_and_back(problem: Problem, *, with_basis: bool = True) -> Outcome:
    reduction = presolve.apply(problem, Progress())
    if reduction.settled is not None:
        return reduction.settled
    outcome = solve(reduction.problem, PLAIN, Progress())
    return reduction.undo(outcome if with_basis else replace(outcome, basis=None))


@through("case", LINEAR + INTEGER)
def test_every_case_keeps_its_answer(case):
    outcome = reduced_and_back(case.problem)
    assert outcome.solution_status is case.status
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1 if case.problem.maximize else 1
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-7)


@pytest.mark.parametrize(
    "problem",
    [covering(60, 40), packing(30, 60), transport(8, 9)],
    ids=["covering", "packing", "transport"],
)
@pytest.mark.parametrize("with_basis", [True, False])
def test_duals_come_back(problem, with_basis):
    outcome = reduced_and_back(problem, with_basis=with_basis)
    assert_optimal_lp(problem, outcome)
    if with_basis:
        assert_basis(problem, outcome)


@given(problems())
@settings(max_examples=100)
def test_undoing_an_optimal_solution_with_duals_passes_the_original_conditions(problem):
    outcome = reduced_and_back(problem)
    expected = solve(problem, PLAIN, Progress())
    assert outcome.solution_status is expected.solution_status
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        assert outcome.objective == pytest.approx(expected.objective, abs=1e-7)
        assert_optimal_lp(problem, outcome)
        assert_basis(problem, outcome)


@given(problems(binary=True))
@settings(max_examples=60)
def test_points_of_integer_problems_come_back_feasible(problem):
    outcome = reduced_and_back(problem)
    expected = solve(problem, PLAIN, Progress())
    assert outcome.solution_status is expected.solution_status
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        assert outcome.objective == pytest.approx(expected.objective, abs=1e-7)
        np.testing.assert_allclose(outcome.x, np.round(outcome.x), atol=1e-9)
        activity = problem.matrix @ outcome.x
        assert np.all(activity >= problem.row_lower - 1e-7)
        assert np.all(activity <= problem.row_upper + 1e-7)


def test_integer_models_shrink_and_keep_their_integers():
    problem = covering(60, 80, integer=True)
    reduction = presolve.apply(problem, Progress())
    assert reduction.problem.num_columns < problem.num_columns
    assert reduction.problem.integrality.all()
    outcome = solve(reduction.problem, PLAIN, Progress())
    pool = (PoolSolution(outcome.x, outcome.objective, 0.0, "highs"),)
    back = reduction.undo(replace(outcome, pool=pool))
    expected = solve(problem, PLAIN, Progress())
    assert back.objective == pytest.approx(expected.objective)
    assert back.bound == pytest.approx(expected.bound)
    assert back.row_dual is None
    np.testing.assert_array_equal(back.x, np.round(back.x))
    # the way back may be taken again
    np.testing.assert_array_equal(back.pool[0].x, back.x)
    np.testing.assert_array_equal(reduction.undo(outcome).x, back.x)


def test_a_point_short_of_optimal_comes_back_too():
    problem = covering(60, 40)
    reduction = presolve.apply(problem, Progress())
    middle = np.clip(np.full(reduction.problem.num_columns, 8.0), 0, reduction.problem.upper)
    given_point = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT, candidate=middle)
    back = reduction.undo(given_point)
    assert back.x is None
    assert back.candidate.shape == (problem.num_columns,)
    feasible = replace(
        given_point, solution_status=SolutionStatus.FEASIBLE, x=middle, candidate=None
    )
    again = reduction.undo(replace(feasible, candidate=middle))
    np.testing.assert_array_equal(again.candidate, back.candidate)
    assert again.objective == pytest.approx(problem.objective_at(again.x))
    assert again.solution_status is SolutionStatus.FEASIBLE


def test_the_duals_of_a_candidate_come_back_with_it():
    problem = transport(8, 9)
    reduction = presolve.apply(problem, Progress())
    found = solve(reduction.problem, PLAIN, Progress())
    stopped = replace(
        found, solution_status=SolutionStatus.NOTHING, x=None, basis=None, candidate=found.x
    )
    back = reduction.undo(stopped)
    assert back.x is None
    residuals, _ = lp_residuals(problem, back.candidate, back.row_dual)
    assert residuals.largest_relative < 1e-8


def test_claims_come_back_without_rays():
    reduction = presolve.apply(covering(60, 40), Progress())
    m = reduction.problem.num_rows
    claim = Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=np.ones(m))
    back = reduction.undo(claim)
    assert back.solution_status is SolutionStatus.INFEASIBLE
    assert back.dual_ray is None


def test_without_time_nothing_is_done():
    problem = covering(60, 40)
    reduction = presolve.apply(problem, Progress(0.0))
    assert reduction.problem is problem
    assert reduction.settled is None
    outcome = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
    assert reduction.undo(outcome) is outcome


def test_a_model_that_presolve_cannot_shrink_stays_itself():
    problem = market_split()
    assert presolve.apply(problem, Progress()).problem is problem


def test_tiny_coefficients_survive_the_round_trip():
    problem = Problem.from_arrays(
        [1, 2, 1], [[1e-13, 1, 0], [1, 1, 1], [0, 1, 1]], [1e-7, 1, 1], upper=1e9
    )
    outcome = reduced_and_back(problem)
    expected = solve(problem, PLAIN, Progress())
    assert outcome.objective == pytest.approx(expected.objective, rel=1e-9)
    assert_optimal_lp(problem, outcome)


def test_a_model_that_highs_cannot_hold_stays_itself():
    problem = Problem.from_arrays([1, 1], [[1e-14, 1e14]], [1])
    assert presolve.apply(problem, Progress()).problem is problem


def test_an_integer_model_of_which_nothing_is_left_is_settled_with_its_bound():
    problem = Problem.from_arrays(
        [-1.0, -2.0],
        [[1, 1]],
        -np.inf,
        1.5,
        lower=[-1, 0],
        upper=[1.5, 1],
        integrality=[False, True],
    )
    settled = presolve.apply(problem, Progress()).settled
    assert settled is not None
    assert (settled.objective, settled.bound) == (-2.5, -2.5)
