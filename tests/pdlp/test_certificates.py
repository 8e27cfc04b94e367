"""Rays: what passes as a proof, what does not, and what the engine finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.lp_answer import LEFTOVER, judge, proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import termination
from solvers.pdlp.control import Control
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.termination import (
    CertificateSchedule,
    Record,
    dual_ray_candidates,
    find_dual_ray,
    find_primal_ray,
    primal_ray_candidates,
)
from tests.cases import through
from tests.pdlp.lps import solve_with_highs

INF = np.inf


def solve(problem: Problem, **options):
    return pdlp.solve(problem, EngineOptions(device="cpu", **options), Progress(600.0))


def contradiction(gap: float = 1.0) -> Problem:
    """x + y <= 1 and x + y >= 1 + gap."""
    return Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [-INF, 1.0 + gap], [1.0, INF])


def test_farkas_multipliers_of_a_contradiction_are_a_proof():
    assert proves_infeasible(contradiction(), np.array([-1.0, 1.0]))


@pytest.mark.parametrize("y", [[1.0, -1.0], [-1.0, 0.0], [0.0, 0.0], [np.nan, 1.0], [-1.0, 1.1]])
def test_other_multipliers_are_not(y):
    assert not proves_infeasible(contradiction(), np.array(y))


@pytest.mark.parametrize(("gap", "proven"), [(1e-6, True), (1e-9, False)])
def test_a_contradiction_within_rounding_is_no_proof(gap, proven):
    assert proves_infeasible(contradiction(gap), np.array([-1.0, 1.0])) is proven


def test_farkas_proof_may_lean_on_bounds():
    boxed = Problem.from_arrays([0.0, 0.0], [[1.0, 2.0]], 7.0, INF, upper=2.0)
    reachable = Problem.from_arrays([0.0, 0.0], [[1.0, 2.0]], 5.0, INF, upper=2.0)
    assert proves_infeasible(boxed, np.array([1.0]))
    assert not proves_infeasible(reachable, np.array([1.0]))


def test_a_small_coefficient_of_an_unbounded_column_is_not_noise():
    problem = Problem.from_arrays([0.0, 0.0], [[1.0, 1e-7]], 2.0, INF, upper=[1.0, INF])
    assert not proves_infeasible(problem, np.array([1.0]))
    assert solve(problem, iteration_limit=2000).solution_status is not SolutionStatus.INFEASIBLE


def unbounded() -> Problem:
    """min -x - y with x - y == 1."""
    return Problem.from_arrays([-1.0, -1.0], [[1.0, -1.0]], 1.0, 1.0)


def test_improving_recession_direction_is_a_proof():
    assert proves_unbounded(unbounded(), np.array([1.0, 1.0]))


@pytest.mark.parametrize("d", [[1.0, 0.0], [-1.0, -1.0], [0.0, 0.0], [1.0, 1.0 + 1e-6]])
def test_other_directions_are_not(d):
    assert not proves_unbounded(unbounded(), np.array(d))


def test_a_small_coefficient_of_a_finite_row_stops_a_direction():
    problem = Problem.from_arrays([-1.0], [[1e-9]], -INF, 1.0)
    assert not proves_unbounded(problem, np.array([1.0]))


INFEASIBLE = {
    "contradiction": contradiction(),
    "tight contradiction": contradiction(1e-3),
    "row of zeros": Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [0.0, 0.0]], [1.0, 1.0], INF),
    "beyond the bounds": Problem.from_arrays([1.0, -1.0], [[1.0, 1.0]], 5.0, INF, upper=2.0),
    "cycle": Problem.from_arrays(
        [0.0, 0.0, 0.0], [[1, -1, 0], [0, 1, -1], [-1, 0, 1]], 1.0, INF, lower=-INF
    ),
    "equations": Problem.from_arrays(
        [1.0, 2.0], [[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0], [1.0, 3.0], lower=-INF
    ),
    "badly scaled": Problem.from_arrays(
        [1.0, 1.0], [[1e4, 1e-3], [1e4, 1e-3]], [-INF, 2e3], [1e3, INF]
    ),
}


@pytest.fixture(params=[1, 8, 32])
def blocks_ahead(request, monkeypatch):
    """As many blocks under way as on a GPU, and more: looks come late."""
    monkeypatch.setattr(BlocksOnCpu, "depth", request.param)


@through("name", INFEASIBLE)
def test_infeasible_problems_get_a_proof(name, blocks_ahead):
    problem = INFEASIBLE[name]
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.stop_reason is StopReason.CONVERGED
    confirm_infeasible(problem, outcome.dual_ray)


def confirm_infeasible(problem: Problem, y: np.ndarray) -> None:
    """Check a Farkas proof by maximising y'Ax over the bounds, column by column."""
    demand = sum(v * (a if v > 0 else b) for v, a, b in zip(
        y, problem.row_lower, problem.row_upper, strict=True) if v)  # fmt: skip
    reach = 0.0
    for j, g in enumerate(problem.matrix.T @ y):
        if abs(g) <= 1e-7 * np.abs(y).max():
            continue
        reach += max(g * problem.lower[j], g * problem.upper[j])
    assert demand > reach


UNBOUNDED = {
    "along a row": unbounded(),
    "no row in the way": Problem.from_arrays([-1.0, 1.0], [[0.0, 1.0]], -INF, 1.0),
    "free column": Problem.from_arrays([1.0, 0.0], [[1.0, 1.0]], -INF, 4.0, lower=[-INF, 0.0]),
    "far from the origin": Problem.from_arrays([-1.0, -2.0], [[1.0, -1.0]], 100.0, 200.0),
}


@through("name", UNBOUNDED)
def test_unbounded_problems_get_a_ray_and_a_feasible_point(name, blocks_ahead):
    problem = UNBOUNDED[name]
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    ray, x = outcome.primal_ray, outcome.x
    for far in (0.0, 1e3):
        step = far * ray / np.abs(ray).max()
        point = x + step
        activity = problem.matrix @ point
        slack = 1e-6 * (1.0 + np.abs(activity)) + LEFTOVER * (abs(problem.matrix) @ np.abs(step))
        assert np.all(activity >= problem.row_lower - slack)
        assert np.all(activity <= problem.row_upper + slack)
        assert np.all((point >= problem.lower) & (point <= problem.upper))
    assert problem.cost @ ray < 0


def test_infeasible_with_an_improving_ray_is_infeasible():
    problem = Problem.from_arrays(
        [0.0, 0.0, -1.0], [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]], [-INF, 2.0], [1.0, INF]
    )
    assert solve(problem).solution_status is SolutionStatus.INFEASIBLE


@through("seed", range(6))
def test_random_infeasible_problems_are_never_called_optimal(seed, blocks_ahead):
    generator = np.random.default_rng(seed)
    A = generator.uniform(-1.0, 1.0, (12, 8))
    y = generator.uniform(0.1, 1.0, 12)
    A[-1] = -(y[:-1] @ A[:-1]) / y[-1]  # y'A = 0, and the sides below make y'b > 0
    problem = Problem.from_arrays(
        generator.standard_normal(8), A, generator.uniform(0.1, 1.0, 12), INF, lower=-INF
    )
    assert solve_with_highs(problem)[0] in ("kInfeasible", "kUnboundedOrInfeasible")
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    confirm_infeasible(problem, outcome.dual_ray)


def test_only_promising_drifts_are_brought_to_the_host():
    state = pdlp.prepare(contradiction(), EngineOptions(), cpu(), Progress())
    proof = np.array([-1.0, 1.0])
    state.y.anchor[...] = state.y.projection
    for ray, promising in ((proof, 1), (-proof, 0), (np.array([-1.0, 0.5]), 0), (0 * proof, 0)):
        state.y.difference[...] = ray / state.problem.row_scale()
        assert len(list(dual_ray_candidates(state, Progress()))) == promising


def test_a_bounded_problem_has_no_promising_direction():
    problem = Problem.from_arrays([-1.0, -1.0], [[1.0, 1.0]], -INF, 1.0)
    state = pdlp.prepare(problem, EngineOptions(), cpu(), Progress())
    state.x.difference[...] = 1.0
    assert list(primal_ray_candidates(state, Progress())) == []


def test_a_look_for_rays_ends_with_the_time():
    infeasible = contradiction()
    state = pdlp.prepare(infeasible, EngineOptions(), cpu(), Progress())
    state.y.difference[...] = np.array([-1.0, 1.0])
    assert find_dual_ray(state, Progress()) is not None
    assert find_dual_ray(state, Progress(0.0)) is None
    unbounded = Problem.from_arrays([-1.0, -1.0], [[1.0, -1.0]], -INF, 1.0)
    state = pdlp.prepare(unbounded, EngineOptions(), cpu(), Progress())
    state.x.difference[...] = 1.0
    assert find_primal_ray(state, Progress()) is not None
    assert find_primal_ray(state, Progress(0.0)) is None


class UpAfter(Progress):
    """Time that is up after so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def should_stop(self):
        self.looks -= 1
        return StopReason.TIME_LIMIT if self.looks < 0 else None


@pytest.mark.parametrize("looks", range(4))
def test_no_direction_is_judged_after_the_limit(looks, monkeypatch):
    state = pdlp.prepare(contradiction(), EngineOptions(), cpu(), Progress())
    judged = []
    monkeypatch.setattr(
        termination, "judge", lambda *given, **more: judged.append(0) or judge(*given, **more)
    )
    for find in (find_dual_ray, find_primal_ray):
        judged.clear()
        assert find(state, UpAfter(looks)) is None
        assert len(judged) == looks


def test_a_look_that_would_end_after_the_limit_is_not_begun():
    state = pdlp.prepare(contradiction(), EngineOptions(), cpu(), Progress())
    control = state.read_control()
    control[Control.ITERATIONS] = control[Control.PRIMAL_RESIDUAL] = 1e6

    def is_due(seconds: float, time_left: float) -> bool:
        schedule = CertificateSchedule(replace(DEFAULT.certificate, from_iterations=0))
        schedule.seconds = seconds
        return schedule.is_due(Record(control), time_left)

    assert is_due(0.0, 1e-9)
    assert is_due(2.0, 2.1)
    assert not is_due(2.0, 2.0)
    assert not is_due(2.0, 0.1)


def test_the_longest_look_is_remembered():
    schedule = CertificateSchedule(DEFAULT.certificate)
    for seconds in (1.0, 3.0, 2.0):
        schedule.took(seconds)
    assert schedule.seconds == 3.0
