"""How solves on a GPU end: limits, interruptions, breakdowns, too little memory."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.pdlp.control import Control
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.lps import random_lp
from tests.pdlp.on_gpu import (
    MODES,
    solve,
)
from tests.pdlp.solving import assert_kkt
from tests.pdlp.test_breakdowns import Spoiling

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 200, 450])
def test_iteration_limit_is_exact_on_the_gpu(limit, mode, gpu):
    outcome = solve(random_lp(9, 40, 60), mode, tolerance=1e-10, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_time_limit_on_the_gpu(gpu):
    problem = random_lp(10, rows=60, columns=90)
    outcome = pdlp.solve(problem, EngineOptions(device="cuda", tolerance=1e-10), Progress(0.0))
    assert outcome.stop_reason is StopReason.TIME_LIMIT


def test_interruption_on_the_gpu_returns_the_best_point_so_far(gpu):
    class Interrupting(Progress):
        def iteration(self, count, **figures):
            if count >= 400:
                self.interrupt()

    options = EngineOptions(device="cuda", tolerance=1e-10)
    outcome = pdlp.solve(random_lp(10, 40, 60), options, Interrupting())
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.statistics["iterations"] in (400, 600)  # one more may be under way
    assert (outcome.x if outcome.x is not None else outcome.candidate) is not None


@pytest.mark.parametrize("mode", MODES)
def test_running_a_state_again_goes_on_on_the_gpu(mode, gpu):
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-8), Progress()
    results = []
    for stops in ([], [200, 333]):
        with gpu.activate():
            state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
            for stop in stops:
                first = pdlp.run(state, replace(options, iteration_limit=stop), progress)
                assert first.stop_reason is StopReason.ITERATION_LIMIT
                assert first.statistics["iterations"] == stop
            results.append(pdlp.run(state, options, progress))
    for outcome in results:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("times", [1, DEFAULT.step.breakdowns_allowed, 100])
def test_breakdowns_on_the_gpu(times, mode, gpu):
    problem = random_lp(20, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-8), Spoiling(400, times)
    with gpu.activate():
        progress.state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
        outcome = pdlp.run(progress.state, options, progress)
    if times <= DEFAULT.step.breakdowns_allowed:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)
        assert sum("broke down" in line for line in progress.said) == times
    else:
        assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
        best = outcome.candidate if outcome.x is None else outcome.x
        assert np.all(np.isfinite(best))


@pytest.mark.parametrize("mode", MODES)
def test_a_point_that_only_seemed_optimal_is_rejected_on_the_gpu(mode, gpu):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-7), Progress(30.0)
    with gpu.activate():
        state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
        state.write_control(primal_tolerance=1.0, dual_tolerance=1.0, gap_tolerance=1.0)
        outcome = pdlp.run(state, options, progress)
        control = state.read_control()
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-7)
    assert control[Control.PRIMAL_TOLERANCE] == pytest.approx(1e-7 * DEFAULT.step.recovery_factor)


def test_out_of_gpu_memory_goes_on_on_the_cpu(gpu, monkeypatch):
    import cupy

    start = importlib.import_module("solvers.pdlp.start")
    said: list[str] = []
    progress = Progress()
    progress.log = said.append  # type: ignore[method-assign]
    real = start.to_device

    def fail_on_gpu(problem, device, *others):
        if device.kind == "cuda":
            raise cupy.cuda.memory.OutOfMemoryError(10**15, 0, 0)
        return real(problem, device, *others)

    monkeypatch.setattr(start, "to_device", fail_on_gpu)
    outcome = pdlp.solve(random_lp(11, 20, 30), EngineOptions(device="cuda"), progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.device == "cpu" == cpu().kind
    assert any("out of memory" in line for line in said)
