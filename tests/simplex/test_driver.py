"""The whole engine at its front door: known optima, troubles, random problems against HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_bridge.api import read
from gpu_bridge.verify.verify import verify
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.simplex.solve import solve
from tests.cases import through
from tests.locations import NETLIB_MODELS
from tests.problems import LINEAR, Case
from tests.simplex.checks import INF, assert_answer, assert_optimal, random_lp, simplex

NETLIB = {
    "sc50a": -64.5750770586,
    "sc105": -52.2020612117,
    "blend": -30.8121498458,
    "share1b": -76589.3185792,
    "share2b": -415.732240741,
    "scagr7": -2331389.82433,
    "bore3d": 1373.08039421,
    "vtpbase": 129831.462461,
    "boeing2": -315.018728015,
    "scsd6": 50.5000000783,
    "capri": 2690.01291377,
    "grow15": -106870941.294,
    "degen2": -1435.178,
}


def beale() -> Problem:
    """Beale's example, on which the textbook rule cycles; optimum -0.05."""
    return Problem.from_arrays(
        [-0.75, 150.0, -0.02, 6.0],
        [[0.25, -60.0, -0.04, 9.0], [0.5, -90.0, -0.02, 3.0], [0.0, 0.0, 1.0, 0.0]],
        row_upper=[0.0, 0.0, 1.0],
    )


def hoffman() -> Problem:
    """Hoffman's example of cycling (1953), with theta = 2 pi / 5; optimum zero."""
    c, s, t = np.cos(0.4 * np.pi), np.sin(0.4 * np.pi), np.tan(0.4 * np.pi)
    two_c, two_s = np.cos(0.8 * np.pi), np.sin(0.8 * np.pi)
    w = s / (1.0 - 2.0 * c)
    first = [1, 0, 0, c, -w * c, two_c, -2 * w * c * c, two_c, 2 * w * c * c, c, w * c]
    second = [0, 1, 0, t * s / w, c, t * two_s / w, two_c, -2 * s * s / w, two_c, -t * s / w, c]
    third = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    cost = [
        0,
        0,
        0,
        -(1 - c) / c,
        w,
        0,
        2 * w,
        4 * s * s,
        -2 * w * two_c,
        4 * s * s,
        w * (1 - 2 * c),
    ]
    return Problem.from_arrays(cost, [first, second, third], [0, 0, 1], [0, 0, 1], upper=1e3)


def klee_minty(size: int) -> Problem:
    """The cube on which the largest-coefficient rule visits all corners; optimum -100^(n-1)."""
    matrix = np.eye(size)
    for i in range(size):
        for j in range(i):
            matrix[i, j] = 2.0 * 10.0 ** (i - j)
    cost = -(10.0 ** np.arange(size - 1, -1, -1))
    return Problem.from_arrays(cost, matrix, row_upper=100.0 ** np.arange(size))


def nearly_singular() -> Problem:
    """Columns that agree to nine digits, equations that are sums of others."""
    rng = np.random.default_rng(3)
    base = rng.integers(-3, 4, (6, 8)).astype(float)
    matrix = np.hstack([base, base + 1e-9 * rng.random((6, 8))])
    matrix = np.vstack([matrix, matrix[0] + matrix[1], matrix[2] - 2 * matrix[3]])
    activity = matrix @ np.ones(16)
    return Problem.from_arrays(rng.random(16), matrix, activity, activity, upper=5.0)


def duplicates() -> Problem:
    """The same rows and columns again and again, with a free and an infeasible-looking range."""
    matrix = np.tile([[1.0, 1.0], [1.0, -1.0]], (4, 3))
    return Problem.from_arrays(
        [1, 2, 1, 2, 1, 2],
        matrix,
        [2, -1] * 4,
        [INF, 1] * 4,
        lower=[0, 0, 0, 0, -1, -INF],
        upper=[4, INF, 4, INF, 4, 5],
    )


TROUBLES = {
    "beale": beale(),
    "hoffman": hoffman(),
    "klee-minty 4": klee_minty(4),
    "klee-minty 8": klee_minty(8),
    "nearly singular": nearly_singular(),
    "duplicates": duplicates(),
    "nothing": Problem.from_arrays([]),
    "no rows": Problem.from_arrays([1.0, -2.0, 0.0], lower=[-1, 0, -INF], upper=[1, 3, INF]),
    "empty columns": Problem.from_arrays([1, -1, 0], np.zeros((2, 3)), [-1, -INF], upper=2.0),
    "fixed": Problem.from_arrays([1, 1], [[1, 2], [3, 1]], [3, 4], lower=1.0, upper=1.0),
    "free rows": Problem.from_arrays([1, 1], [[1, 2], [3, 1]]),
    "sides of no use": Problem.from_arrays([0.0], [[1.0]], [-INF], [INF], lower=-INF),
}


@through("case", LINEAR)
def test_the_table_of_small_problems(case: Case) -> None:
    outcome = simplex(case.problem)
    assert outcome.solution_status is case.status
    assert_answer(case.problem, outcome)
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1.0 if case.problem.maximize else 1.0
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-12)


@through("name", TROUBLES)
def test_troubles(name: str) -> None:
    outcome = simplex(TROUBLES[name])
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_answer(TROUBLES[name], outcome)


def test_known_optima_of_troubles() -> None:
    assert simplex(beale()).objective == pytest.approx(-0.05, rel=1e-12)
    assert simplex(klee_minty(8)).objective == pytest.approx(-(100.0**7), rel=1e-12)


@pytest.mark.parametrize("name", NETLIB)
def test_netlib_models_reach_their_optima(name: str) -> None:
    problem = read(NETLIB_MODELS / f"{name}.mps.gz")
    outcome = simplex(problem, tolerance=1e-9)
    assert outcome.objective == pytest.approx(NETLIB[name], rel=1e-9)
    checked = verify(problem, outcome, EngineOptions(tolerance=1e-9))
    assert checked.solution_status is SolutionStatus.OPTIMAL
    assert_optimal(problem, outcome, 1e-6)


@settings(max_examples=120)
@given(
    seed=st.integers(0, 100_000),
    rows=st.integers(0, 14),
    columns=st.integers(0, 14),
    density=st.sampled_from([0.2, 0.5, 1.0]),
)
def test_any_small_problem_gets_a_proven_answer(
    seed: int, rows: int, columns: int, density: float
) -> None:
    problem = random_lp(seed, rows, columns, density)
    assert_answer(problem, simplex(problem))


@pytest.mark.parametrize("seed", range(6))
def test_wider_problems(seed: int) -> None:
    problem = random_lp(seed, 60, 90, 0.1)
    assert_answer(problem, simplex(problem))


def test_the_same_pivots_for_the_same_seed() -> None:
    problem = read(NETLIB_MODELS / "share1b.mps.gz")
    first, second = simplex(problem, seed=5), simplex(problem, seed=5)
    assert dict(first.statistics) == dict(second.statistics)
    np.testing.assert_array_equal(first.x, second.x)


def test_statistics_count_iterations_by_phase() -> None:
    statistics = simplex(read(NETLIB_MODELS / "capri.mps.gz")).statistics
    phases = sum(int(v) for k, v in statistics.items() if k.endswith("_iterations"))
    assert statistics["iterations"] == phases > 100
    assert int(statistics["refactorisations"]) >= 3


@pytest.mark.parametrize("limit", [0, 1, 40])
def test_an_iteration_limit_holds(limit: int) -> None:
    problem = read(NETLIB_MODELS / "capri.mps.gz")
    outcome = simplex(problem, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.candidate is not None


def test_a_feasible_point_at_the_limit_is_handed_out() -> None:
    problem = random_packing(40)
    outcome = simplex(problem, iteration_limit=5)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.x is not None
    assert outcome.objective < 0.0
    checked = verify(problem, outcome, EngineOptions())
    assert checked.solution_status is SolutionStatus.FEASIBLE


def test_no_time_and_an_interruption_are_said() -> None:
    problem = random_packing(40)
    assert (
        solve(problem, EngineOptions(device="cpu"), Progress(0.0)).stop_reason
        is StopReason.TIME_LIMIT
    )

    class Impatient(Progress):
        def iteration(self, count: int, **figures: float | int | str) -> None:
            self.interrupt()

    outcome = solve(problem, EngineOptions(device="cpu"), Impatient())
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)


def random_packing(size: int) -> Problem:
    """Maximise within random capacities: zero is feasible, no column has a bound."""
    rng = np.random.default_rng(size)
    return Problem.from_arrays(
        rng.random(size) + 0.5, rng.random((size, size)), row_upper=1.0, maximize=True
    )
