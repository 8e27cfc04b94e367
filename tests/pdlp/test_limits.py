"""Limits, interruptions and missing devices: how solves end early, and how they go on."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device, cpu
from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.control import Control
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.lps import random_lp
from tests.pdlp.solving import assert_kkt, counts, solve

INF = np.inf


def test_time_limit_of_zero_returns_at_once_with_a_candidate():
    outcome = solve(random_lp(8, 30, 40), limit=0.0)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.x is None
    assert outcome.candidate.shape == (40,)
    assert outcome.statistics["iterations"] == 0


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 200, 450])
def test_iteration_limit_is_exact(limit):
    outcome = solve(random_lp(9, 40, 60), tolerance=1e-10, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_interruption_returns_the_best_point_so_far():
    class Interrupting(Progress):
        def iteration(self, count, **figures):
            if count >= 400:
                self.interrupt()

    progress = Interrupting()
    outcome = pdlp.solve(random_lp(10, 40, 60), EngineOptions(tolerance=1e-10), progress)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.statistics["iterations"] == 400
    assert (outcome.x if outcome.x is not None else outcome.candidate) is not None


def test_interruption_within_a_block_is_noticed():
    class Late(Progress):
        looks = 0

        def should_stop(self):
            self.looks += 1
            return StopReason.INTERRUPTED if self.looks > 40 else None

    outcome = pdlp.solve(
        random_lp(10, 40, 60),
        EngineOptions(tolerance=1e-10),
        Late(),
        settings=DEFAULT.changed(execution={"slice_seconds": 1e-9}, step={"power_iterations": 0}),
    )
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert 0 < outcome.statistics["iterations"] < 200


def test_feasible_point_is_kept_when_time_runs_out():
    problem = Problem.from_arrays([-1.0, -1.0], [[1.0, 2.0]], -INF, 4.0, lower=1.0)
    outcome = solve(problem, Start(x=np.array([2.0, 1.0])), iteration_limit=0)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.x.tolist() == [2.0, 1.0]
    assert outcome.objective == -3.0


def test_progress_hears_of_iterations_and_residuals():
    heard = []

    class Listening(Progress):
        def iteration(self, count, **figures):
            heard.append((count, figures))

    outcome = pdlp.solve(random_lp(11, 40, 60), EngineOptions(), Listening())
    counts = [count for count, _ in heard]
    assert counts == sorted(counts)
    assert counts[-1] == outcome.statistics["iterations"]
    assert set(heard[-1][1]) == {"primal_residual", "dual_residual", "gap", "primal_weight"}
    assert heard[-1][1]["primal_residual"] <= 1e-6


def test_running_a_prepared_state_again_goes_on():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-8), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first = pdlp.run(state, replace(options, iteration_limit=200), progress)
    assert first.stop_reason is StopReason.ITERATION_LIMIT
    second = pdlp.run(state, options, progress)
    assert second.solution_status is SolutionStatus.OPTIMAL
    assert second.statistics["iterations"] > 200


def test_running_a_solved_state_again_returns_the_same_answer_at_once():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-6), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first, second = (pdlp.run(state, options, progress) for _ in range(2))
    assert first.solution_status is SolutionStatus.OPTIMAL
    assert np.array_equal(first.x, second.x)
    assert counts(first) == counts(second)


def test_running_a_solved_state_again_with_a_tighter_tolerance_goes_on():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-4), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first = pdlp.run(state, options, progress)
    second = pdlp.run(state, replace(options, tolerance=1e-9), progress)
    assert second.solution_status is SolutionStatus.OPTIMAL
    assert second.statistics["iterations"] > first.statistics["iterations"]
    assert_kkt(problem, second, 1e-9)


def test_running_a_state_again_with_a_looser_tolerance_that_it_meets_ends_at_once():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-8), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    pdlp.run(state, options, progress)
    enough = int(state.read_control()[Control.ITERATIONS]) - 200
    state = pdlp.prepare(problem, options, cpu(), progress)
    first = pdlp.run(state, replace(options, iteration_limit=enough), progress)
    assert first.stop_reason is StopReason.ITERATION_LIMIT
    second = pdlp.run(state, replace(options, tolerance=1e-3), progress)
    assert second.solution_status is SolutionStatus.OPTIMAL
    assert second.statistics["iterations"] == enough


def test_running_a_state_again_with_a_looser_tolerance_goes_on_to_that_one():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-9), Progress()
    loose = replace(options, tolerance=1e-4)
    direct = pdlp.run(pdlp.prepare(problem, loose, cpu(), progress), loose, progress)
    state = pdlp.prepare(problem, options, cpu(), progress)
    pdlp.run(state, replace(options, iteration_limit=200), progress)
    assert counts(pdlp.run(state, loose, progress)) == counts(direct)


def test_gpu_asked_for_without_one_is_refused(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceError, match="NVIDIA"):
        solve(random_lp(13, 5, 5), device="cuda")


def test_out_of_memory_on_the_cpu_is_not_hidden(monkeypatch):
    from solvers.pdlp import start

    def exhausted(*arguments):
        raise MemoryError("no memory")

    monkeypatch.setattr(start, "in_slices", exhausted)
    with pytest.raises(MemoryError):
        solve(random_lp(14, 5, 5))


UNBOUNDED = Problem.from_arrays(np.array([-1.0, 0.0]), np.array([[1.0, -1.0]]), 0.0, 0.0)


@pytest.mark.parametrize("problem", [random_lp(14, 20, 30), UNBOUNDED], ids=["bounded", "endless"])
def test_the_cpu_goes_on_where_a_gpu_is_full_and_the_gpus_memory_is_free(problem, monkeypatch):
    class Array:
        """One in a GPU's memory."""

    run, arrays, left = pdlp.run_with_alternate_scalings, [], []

    def full_at_first(request, settings):
        if request.device.kind == "cpu":
            return run(request, settings)
        array = Array()
        arrays.append(weakref.ref(array))
        raise MemoryError("pretended")

    def release_memory(device):
        left.extend(array() for array in arrays)

    monkeypatch.setattr(pdlp, "run_with_alternate_scalings", full_at_first)
    monkeypatch.setattr(
        pdlp, "find_place", lambda wanted: cpu() if wanted == "cpu" else Device("cuda", "GPU")
    )
    monkeypatch.setattr(Device, "release_memory", release_memory)
    outcome = pdlp.solve(problem, EngineOptions(device="cuda", tolerance=1e-6), Progress())
    expected = SolutionStatus.UNBOUNDED if problem is UNBOUNDED else SolutionStatus.OPTIMAL
    assert outcome.solution_status is expected
    assert outcome.x is not None
    assert left == [None]
