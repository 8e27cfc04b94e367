"""Sequences of solves that share a matrix, against HiGHS's answers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.warm_started import WarmStarted
from tests.pdlp.lps import random_lp, solve_with_highs

OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=1e-7)


def sequence_of(problem, device=None, tolerance=OPTIONS.tolerance):
    options = dataclasses.replace(OPTIONS, tolerance=tolerance)
    return WarmStarted(problem, options, device or cpu(), Progress())


def changed(problem: Problem, seed: int) -> Problem:
    """Return another problem with the same matrix and wider sides."""
    generator = np.random.default_rng(seed)
    return dataclasses.replace(
        problem,
        row_lower=problem.row_lower - generator.random(problem.num_rows),
        row_upper=problem.row_upper + generator.random(problem.num_rows),
    )


def sides_of(problem):
    return {"row_lower": problem.row_lower, "row_upper": problem.row_upper}


def assert_solves(point, problem):
    status, objective = solve_with_highs(problem)
    assert status == "kOptimal"
    assert point.is_converged
    assert point.error <= OPTIONS.tolerance
    assert point.objective == pytest.approx(objective, rel=1e-5, abs=1e-5)
    assert (point.x >= problem.lower).all()
    assert (point.x <= problem.upper).all()
    activity = problem.matrix @ point.x
    beyond = np.maximum(problem.row_lower - activity, activity - problem.row_upper)
    assert beyond.max() <= 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_every_solve_of_a_sequence_finds_the_optimum(seed):
    problem = random_lp(seed, 30, 40)
    sequence = sequence_of(problem)
    assert_solves(sequence.solve(), problem)
    for other in (changed(problem, 10 + seed), problem, changed(problem, 20 + seed)):
        assert_solves(sequence.solve(**sides_of(other)), other)


def test_what_is_not_given_stays():
    problem = random_lp(5, 25, 30)
    sequence = sequence_of(problem)
    sequence.solve(row_upper=problem.row_upper + 1.0)
    point = sequence.solve(row_lower=problem.row_lower - 1.0)
    assert_solves(
        point,
        dataclasses.replace(
            problem, row_lower=problem.row_lower - 1.0, row_upper=problem.row_upper + 1.0
        ),
    )


def test_a_solved_problem_takes_fewer_iterations_again():
    sequence = sequence_of(random_lp(1, 60, 80))
    first = sequence.solve()
    again = sequence.solve()
    assert again.is_converged
    assert again.iterations < first.iterations


def test_a_given_start_is_where_the_solve_begins():
    problem = random_lp(2, 40, 50)
    solved = sequence_of(problem).solve()
    untouched = sequence_of(problem).solve(x=solved.x, seconds=0.0)
    np.testing.assert_array_equal(untouched.x, solved.x)


def test_looser_tolerances_stop_sooner():
    problem = random_lp(3, 60, 80)
    loose = sequence_of(problem, tolerance=1e-2).solve()
    tight = sequence_of(problem, tolerance=1e-8).solve()
    assert loose.is_converged
    assert loose.iterations < tight.iterations
    assert tight.error <= 1e-8


def test_limits_end_a_solve_with_the_best_point_so_far():
    problem = random_lp(3, 60, 80)
    sequence = sequence_of(problem)
    point = sequence.solve(iterations=200)
    assert not point.is_converged
    assert point.iterations == 200
    assert np.isfinite(point.error)
    assert (point.x >= problem.lower).all()
    untouched = sequence.solve(seconds=0.0)
    assert untouched.iterations == 0
    np.testing.assert_array_equal(untouched.x, point.x)
    assert sequence.solve().is_converged


def test_the_same_calls_give_the_same_bits():
    problem = random_lp(4, 50, 60)
    points = []
    for _ in range(2):
        sequence = sequence_of(problem)
        sequence.solve(iterations=400)
        points.append(sequence.solve(row_upper=problem.row_upper + 1.0, iterations=600))
    np.testing.assert_array_equal(points[0].x, points[1].x)
    np.testing.assert_array_equal(points[0].y, points[1].y)


def test_an_infeasible_problem_claims_nothing_and_spoils_nothing():
    problem = random_lp(0, 30, 40)
    sequence = sequence_of(problem)
    impossible = sequence.solve(
        row_lower=np.full(problem.num_rows, 1e6),
        row_upper=np.full(problem.num_rows, np.inf),
        iterations=4000,
    )
    assert not impossible.is_converged
    assert np.isfinite(impossible.x).all()
    assert_solves(sequence.solve(**sides_of(problem)), problem)


def test_starts_that_are_no_numbers_are_mended():
    problem = random_lp(6, 20, 25)
    sequence = sequence_of(problem)
    assert_solves(sequence.solve(x=np.full(problem.num_columns, np.nan)), problem)


def test_progress_stops_the_sequence():
    class Stopped(Progress):
        def should_stop(self):
            return StopReason.INTERRUPTED

    problem = random_lp(6, 20, 25)
    sequence = WarmStarted(problem, OPTIONS, cpu(), Stopped())
    point = sequence.solve()
    assert not point.is_converged
    assert point.iterations <= 200


def test_a_matrix_without_coefficients_is_refused():
    problem = Problem.from_arrays([1.0], np.zeros((1, 1)), -1.0, 1.0)
    with pytest.raises(EngineError, match="coefficients"):
        sequence_of(problem)


@pytest.mark.gpu
def test_the_gpu_solves_the_same_sequence():
    from solvers.core.device import find_device

    problem = random_lp(0, 300, 400, density=0.05)
    sequence = sequence_of(problem, find_device("cuda"))
    assert_solves(sequence.solve(), problem)
    for seed in range(5):
        other = changed(problem, seed)
        assert_solves(sequence.solve(**sides_of(other)), other)
