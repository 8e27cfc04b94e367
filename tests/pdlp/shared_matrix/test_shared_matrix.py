"""Several solves side by side against HiGHS and against one by one."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.shared_matrix import SharedMatrix, solve_with_shared_matrix
from solvers.pdlp.warm_started import WarmStarted
from tests.pdlp.lps import random_lp, solve_with_highs
from tests.pdlp.shared_matrix.cases import stacked, variants

OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=1e-7)


def made(problem, width=8, device=None, progress=None):
    return SharedMatrix(problem, width, OPTIONS, device or cpu(), progress or Progress())


def assert_solves(point, problem):
    status, objective = solve_with_highs(problem)
    assert status == "kOptimal"
    assert point.is_converged
    assert point.error <= OPTIONS.tolerance
    assert point.objective == pytest.approx(objective, rel=1e-5, abs=1e-5)
    assert (point.x >= problem.lower).all()
    assert (point.x <= problem.upper).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [8, 16])
def test_every_problem_finds_its_own_optimum(width, seed):
    problem = random_lp(seed, 30, 40)
    solver = made(problem, width)
    for round_ in range(2):
        problems = variants(problem, width, 10 * seed + round_)
        for point, own in zip(solver.solve(**stacked(problems)), problems, strict=True):
            assert_solves(point, own)


def test_a_problem_alone_needs_about_as_many_iterations():
    problem = random_lp(1, 60, 80)
    problems = variants(problem, 8, 3)
    points = made(problem).solve(**stacked(problems))
    sequence = WarmStarted(problem, OPTIONS, cpu(), Progress())
    zeros = {"x": np.zeros(80), "y": np.zeros(60)}
    names = ("cost", "lower", "upper", "row_lower", "row_upper")
    alone = [
        sequence.solve(**{name: getattr(p, name) for name in names}, **zeros).iterations
        for p in problems
    ]
    assert sum(point.iterations for point in points) <= 2 * sum(alone)


def test_fewer_problems_than_lanes_and_vectors_common_to_all():
    problem = random_lp(2, 25, 30)
    costs = problem.cost * np.array([[1.0], [1.5], [0.7]])
    points = solve_with_shared_matrix(
        problem, costs, options=OPTIONS, device=cpu(), progress=Progress(), tolerance=1e-7
    )
    assert len(points) == 3
    for point, cost in zip(points, costs, strict=True):
        own = Problem(
            cost,
            problem.matrix,
            problem.row_lower,
            problem.row_upper,
            problem.lower,
            problem.upper,
            problem.integrality,
            offset=problem.offset,
        )
        assert_solves(point, own)


def test_each_problem_has_its_own_tolerance():
    problem = random_lp(3, 60, 80)
    problems = variants(problem, 4, 1)
    tolerance = np.array([1e-1, 1e-3, 1e-5, 1e-7])
    points = made(problem).solve(4, **stacked(problems), tolerance=tolerance)
    for point, allowed in zip(points, tolerance, strict=True):
        assert point.is_converged
        assert point.error <= allowed
    assert points[0].iterations < points[3].iterations


def test_solves_start_where_the_last_ones_ended():
    problem = random_lp(1, 60, 80)
    vectors = stacked(variants(problem, 8, 3))
    solver = made(problem)
    first = solver.solve(**vectors)
    again = solver.solve(cost=1.001 * vectors["cost"])
    assert all(point.is_converged for point in again)
    assert sum(p.iterations for p in again) < sum(p.iterations for p in first)
    fresh = made(problem)
    x, y = np.stack([p.x for p in first]), np.stack([p.y for p in first])
    given = fresh.solve(**vectors, x=x, y=y, tolerance=1e-6)
    assert sum(p.iterations for p in given) < sum(p.iterations for p in first)


def test_limits_end_all_with_their_best_points():
    problem = random_lp(3, 60, 80)
    solver = made(problem)
    points = solver.solve(tolerance=1e-10, iterations=200)
    assert {point.iterations for point in points} == {200}
    assert not any(point.is_converged for point in points)
    assert all(np.isfinite(point.error) for point in points)
    untouched = solver.solve(seconds=0.0)
    assert {point.iterations for point in untouched} == {0}
    np.testing.assert_array_equal(untouched[0].x, points[0].x)


def test_the_same_calls_give_the_same_bits():
    problem = random_lp(4, 50, 60)
    vectors = stacked(variants(problem, 8, 0))
    one, two = (made(problem).solve(**vectors, iterations=500) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.y, b.y)


def test_a_problem_does_not_see_its_neighbours():
    problem = random_lp(5, 40, 50)
    problems = variants(problem, 8, 0)
    impossible = stacked(problems)
    impossible["row_lower"][1:] = 1e6
    impossible["row_upper"][1:] = np.inf
    alone = made(problem).solve(1, **stacked(problems[:1]))
    beside = made(problem).solve(**impossible, iterations=4000)
    np.testing.assert_array_equal(alone[0].x, beside[0].x)
    assert not any(point.is_converged for point in beside[1:])


def test_progress_stops_all():
    class Stopped(Progress):
        def should_stop(self):
            return StopReason.INTERRUPTED

    points = made(random_lp(6, 20, 25), progress=Stopped()).solve()
    assert {point.iterations for point in points} == {0}


def test_what_cannot_be_solved_together_is_refused():
    with pytest.raises(EngineError, match="coefficients"):
        made(Problem.from_arrays([1.0], np.zeros((1, 1)), -1.0, 1.0))
    with pytest.raises(EngineError, match="8, 16, 24, 32"):
        made(random_lp(0, 5, 5), width=12)
