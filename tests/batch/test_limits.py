"""solve_many: interruptions and limits, wherever they find it."""

from __future__ import annotations

import dataclasses
import signal
import threading

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge import SolutionStatus, StopReason
from gpu_bridge.batch import one_by_one
from gpu_bridge.pipeline import dispatch
from solvers.core.outcome import Outcome
from solvers.core.problem import Problem
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import run_beside
from solvers.simplex import batch as engine
from solvers.simplex.batch import Ending
from tests.batch.families import boxed_family


def test_small_problems_on_all_cores_hear_an_interruption(monkeypatch):
    """The signal comes to a thread at work, and so does not wake the one that waits."""
    begun = threading.Barrier(2)

    def deaf_to_all_but_its_progress(problem, options, progress, start):
        if begun.wait(timeout=60) == 0:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        while progress.should_stop() is None:
            threading.Event().wait(1e-3)
        return Outcome(SolutionStatus.NOTHING, progress.should_stop())

    monkeypatch.setattr("solvers.highs.solve", deaf_to_all_but_its_progress)
    batch = boxed_family(5, 12, 4, 7, ["cost"])
    found = gpu_bridge.solve_many(batch, method="highs", threads=2)
    assert {o.stop_reason for o in found} == {StopReason.INTERRUPTED}


def test_one_of_many_has_its_own_clock_and_says_nothing():
    told = []

    class Whole(Progress):
        def log(self, message):
            told.append(message)

        def iteration(self, count, **figures):
            told.append(count)

    whole = Whole(100.0)
    whole._started -= 40.0
    one = one_by_one._OfOne(whole)
    assert one.seconds == pytest.approx(0.0, abs=5.0)
    assert one.time_left == pytest.approx(60.0, abs=5.0)
    one.log("a line")
    one.iteration(7, gap=1.0)
    assert told == []
    assert one.should_stop() is None
    whole.interrupt()
    assert one.should_stop() is StopReason.INTERRUPTED


def test_an_engine_that_does_not_come_back_is_left_behind_at_the_limit():
    end = threading.Event()
    assert (
        run_beside(lambda own: end.wait(120), DetachableProgress(Progress(0.05)), "simplex") is None
    )
    end.set()


def test_what_an_engine_raises_reaches_the_caller():
    def fails(own):
        raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        run_beside(fails, DetachableProgress(Progress(100.0)), "simplex")


def test_ctrl_c_between_two_members_of_a_young_call_keeps_what_was_found(monkeypatch):
    monkeypatch.setattr("gpu_bridge.interrupt.REACTION", 60.0)
    honest = dispatch.solve

    def pressed_after(*arguments, **more):
        outcome = honest(*arguments, **more)
        signal.raise_signal(signal.SIGINT)
        return outcome

    monkeypatch.setattr(dispatch, "solve", pressed_after)
    knapsack = Problem.from_arrays([-3.0, -2.0], [[2.0, 1.5]], upper=1.0, integrality=True)
    covering = Problem.from_arrays([3.0, 2.0], [[1.0, 1.0]], 1.0, upper=1.0, integrality=True)
    first, second = gpu_bridge.solve_many([knapsack, covering])
    assert first.solution_status is SolutionStatus.OPTIMAL
    assert second.stop_reason is StopReason.INTERRUPTED


def test_ctrl_c_that_changes_no_member_of_a_young_call_is_the_callers(monkeypatch):
    monkeypatch.setattr("gpu_bridge.interrupt.REACTION", 60.0)
    honest = engine.solve

    def pressed_after(*arguments, **more):
        answer = honest(*arguments, **more)
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(engine, "solve", pressed_after)
    with pytest.raises(KeyboardInterrupt):
        gpu_bridge.solve_many(boxed_family(5, 12, 4, 7, ["cost"]), method="simplex", device="cpu")


def test_a_point_that_misses_its_rows_is_returned_as_a_candidate(monkeypatch):
    honest = engine.solve

    def interrupted(*arguments, **more):
        answer = honest(*arguments, **more)
        answer.ending[:] = Ending.LIMIT
        answer.x[:] = 0.5 * answer.x + 100.0
        np.clip(answer.x, 0.0, 10.0, out=answer.x)
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(engine, "solve", interrupted)
    batch = boxed_family(5, 2, 4, 7, ["cost"])
    batch = dataclasses.replace(batch, row_upper=np.full((2, 4), -1e3), row_lower=None)
    found = gpu_bridge.solve_many(batch, method="simplex", device="cpu")
    for outcome in found:
        assert outcome.solution_status is SolutionStatus.NOTHING
        assert outcome.stop_reason is StopReason.INTERRUPTED
        assert outcome.candidate is not None
        assert outcome.residuals.primal > 1.0


def test_a_point_that_misses_its_rows_by_little_is_approximate(monkeypatch):
    honest = engine.solve

    def interrupted(*arguments, **more):
        answer = honest(*arguments, **more)
        answer.ending[:] = Ending.LIMIT
        answer.x[:] *= 1.0 - 1e-3
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(engine, "solve", interrupted)
    batch = gpu_bridge.Batch(
        Problem.from_arrays([1.0, 2.0, 3.0], np.ones((1, 3)), [4.0], upper=3.0),
        cost=np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]),
    )
    found = gpu_bridge.solve_many(batch, method="simplex", device="cpu")
    assert found.statuses == [SolutionStatus.APPROXIMATE] * 2
    for k, outcome in enumerate(found):
        assert outcome.stop_reason is StopReason.INTERRUPTED
        assert outcome.x is not None
        assert outcome.row_dual is not None
        np.testing.assert_array_equal(found.x[k], outcome.x)
        assert 1e-6 < outcome.residuals.largest_relative < 1e-2


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize("integrality", [False, True])
def test_each_of_many_may_have_a_limit_of_its_own(count, integrality):
    problem = Problem.from_arrays(
        [1.0, 2.0], [[1.0, 3.0], [2.0, 1.0]], [2.0, 3.0], integrality=integrality
    )
    options = {"method": "highs", "explain": False}
    none = gpu_bridge.solve_many([problem] * count, time_limit_each=0.0, **options)
    assert {one.stop_reason for one in none} == {StopReason.TIME_LIMIT}
    every = gpu_bridge.solve_many([problem] * count, time_limit_each=100.0, **options)
    assert set(every.statuses) == {SolutionStatus.OPTIMAL}


def test_who_is_told_of_outcomes_hears_of_them_in_order_until_it_has_heard_enough():
    problems = [Problem.from_arrays([1.0], [[1.0]], [float(k)]) for k in range(12)]
    told: list[tuple[int, float]] = []

    def tell(number, outcome):
        told.append((number, outcome.objective))
        return number == 7

    gpu_bridge.solve_many(problems, on_outcome=tell)
    assert told == [(k, float(k)) for k in range(8)]
    with pytest.raises(gpu_bridge.OptionError, match="'on_outcome' takes a function"):
        gpu_bridge.solve_many(problems, on_outcome=3)
