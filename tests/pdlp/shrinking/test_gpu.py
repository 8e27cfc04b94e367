"""Leaving idle columns and rows out on a GPU: layouts, streams and graphs change with it."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device, find_device
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.pdlp.settings import Settings
from tests.pdlp.shrinking.test_compaction import (
    ON_GPU,
    RASH_ON_GPU,
    TOLERANCE,
    Listener,
    assert_optimal,
    infeasible,
    solve,
    unbounded,
)
from tests.pdlp.shrinking.wide_lps import covering, mixed

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@pytest.mark.parametrize("settings", [ON_GPU, RASH_ON_GPU], ids=["often", "rash"])
@pytest.mark.parametrize("seed", [0, 1, 6, 7])
def test_answers_are_optimal_on_the_whole_problem(
    seed: int, settings: Settings, gpu: Device
) -> None:
    for problem in (mixed(seed, rows=40, columns=300), covering(seed)):
        progress = Listener()
        outcome = solve(problem, settings, progress, device="cuda")
        assert progress.parts >= 1
        assert outcome.device == "cuda"
        assert_optimal(problem, outcome)


def test_two_runs_are_equal(gpu: Device) -> None:
    problem = mixed(6, rows=40, columns=300)
    first, second = (solve(problem, RASH_ON_GPU, device="cuda") for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.row_dual, second.row_dual)
    assert first.statistics["iterations"] == second.statistics["iterations"]


def test_certificates_are_those_of_the_whole_problem(gpu: Device) -> None:
    for problem, status in (
        (infeasible(), SolutionStatus.INFEASIBLE),
        (unbounded(), SolutionStatus.UNBOUNDED),
    ):
        assert solve(problem, RASH_ON_GPU, device="cuda").solution_status is status


def test_limits_inside_a_part_return_points_of_the_whole_problem(gpu: Device) -> None:
    problem = covering(7)
    counted = solve(problem, ON_GPU, device="cuda", iteration_limit=260, tolerance=1e-10)
    assert counted.stop_reason is StopReason.ITERATION_LIMIT
    assert counted.statistics["iterations"] == 260
    progress = Listener(parts=2)
    stopped = solve(problem, RASH_ON_GPU, progress, device="cuda", tolerance=1e-10)
    assert stopped.stop_reason is StopReason.INTERRUPTED
    for outcome in (counted, stopped):
        best = outcome.candidate if outcome.x is None else outcome.x
        assert best.shape == (problem.num_columns,)
        assert outcome.row_dual.shape == (problem.num_rows,)


def test_a_large_model_is_packed_and_its_part_is_not(gpu: Device) -> None:
    problem = covering(5, rows=60, columns=20_000)
    assert problem.num_nonzeros > Settings().execution.pack_from
    progress = Listener()
    options = EngineOptions(device="cuda", tolerance=TOLERANCE)
    outcome = pdlp.solve(problem, options, progress, settings=ON_GPU)
    assert progress.parts >= 1
    assert_optimal(problem, outcome)
