"""A limit is kept while something is busy that cannot be stopped."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.pipeline import engines
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import Patience, within_limit
from tests.soon import LONG, soon

DIET = Problem.from_arrays([2, 3], [[1, 1]], [4], upper=[3, np.inf])
ANSWER = Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, objective=1.0, x=np.ones(1))


def test_what_the_work_returns_is_returned_and_its_words_reach_the_log() -> None:
    progress = BridgeProgress(60.0)

    def work(detachable: Progress) -> Outcome:
        detachable.log("Compiled.")
        detachable.iteration(7, gap=0.5)
        assert detachable.time_left > 0.0
        return ANSWER

    assert within_limit(work, progress, "pdlp") is ANSWER
    assert "Compiled." in progress.text
    assert [record.count for record in progress.record.iterations] == [7]


def test_what_the_work_raises_is_raised() -> None:
    def work(_: Progress) -> Outcome:
        raise ArithmeticError("a column is odd")

    with pytest.raises(ArithmeticError, match="a column is odd"):
        within_limit(work, Progress(60.0), "pdlp")


@pytest.mark.parametrize("interrupted", [False, True])
def test_work_that_cannot_be_stopped_is_left_behind(interrupted: bool) -> None:
    released, seen = threading.Event(), threading.Event()
    progress = BridgeProgress(60.0 if interrupted else 0.05)

    def work(detachable: Progress) -> Outcome:
        if interrupted:
            progress.interrupt()
        released.wait(30.0)  # deaf to everything, as presolve of a huge model is
        detachable.log("This comes too late.")
        if detachable.abandoned:
            seen.set()
        return ANSWER

    found = within_limit(work, progress, "pdlp", Patience(0.0, 0.01, 0.01))
    assert found.solution_status is SolutionStatus.NOTHING
    expected = StopReason.INTERRUPTED if interrupted else StopReason.TIME_LIMIT
    assert found.stop_reason is expected
    assert "was busy" in progress.text
    released.set()
    assert seen.wait(30.0)
    assert "too late" not in progress.text


def test_what_busy_work_handed_over_is_returned() -> None:
    release = threading.Event()
    progress = Progress(0.05)

    def work(detachable: Progress) -> Outcome:
        detachable.hold(ANSWER)
        release.wait(30.0)
        return ANSWER

    found = within_limit(work, progress, "pdlp")
    release.set()
    assert found.x is ANSWER.x
    assert found.stop_reason is StopReason.TIME_LIMIT


def test_work_that_notices_the_limit_hands_over_what_it_has() -> None:
    progress = Progress(0.05)

    def work(detachable: Progress) -> Outcome:
        while detachable.should_stop() is None:
            threading.Event().wait(0.005)
        return ANSWER

    assert within_limit(work, progress, "pdlp") is ANSWER


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_point_is_not_lost_where_the_solve_does_not_come_back(
    interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "WHOLE", Patience(0.0, 0.01, 0.01))
    over = threading.Event()
    x = np.array([3.0, 1.0])

    def answer(task: engines.Task) -> None:
        task.progress.incumbent(task.problem.objective_at(x), "somebody", x)
        if interrupted:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        over.wait(60.0)

    monkeypatch.setattr(engines.Task, "answer", answer)
    outcome = gpu_bridge.solve(DIET, method="highs", time_limit=60.0 if interrupted else 0.1)
    over.set()
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    expected = StopReason.INTERRUPTED if interrupted else StopReason.TIME_LIMIT
    assert outcome.stop_reason is expected
    np.testing.assert_array_equal(outcome.x, x)


def test_the_second_ctrl_c_raises_and_the_solve_is_told_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = threading.Event()

    def answer(task: engines.Task) -> None:
        progress = task.progress
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert soon(lambda: progress.interrupted)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert soon(lambda: progress.abandoned)
        told.set()

    monkeypatch.setattr(engines, "WHOLE", Patience(0.0, LONG, LONG))
    monkeypatch.setattr(engines.Task, "answer", answer)
    with pytest.raises(KeyboardInterrupt):
        gpu_bridge.solve(DIET, method="highs")
    assert told.wait(LONG)
