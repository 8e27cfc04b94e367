"""A limit is kept while something that cannot be stopped is compiled."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from gpu_bridge import deadline
from gpu_bridge.deadline import COMPILED, may_compile, within_limit
from gpu_bridge.progress import BridgeProgress
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.progress import Progress

ANSWER = Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, objective=1.0, x=np.ones(1))


def test_what_the_work_returns_is_returned_and_its_words_reach_the_log() -> None:
    progress = BridgeProgress(60.0)

    def work(deputy: Progress) -> Outcome:
        deputy.log("Compiled.")
        deputy.iteration(7, gap=0.5)
        assert deputy.time_left > 0.0
        return ANSWER

    assert within_limit(work, progress, "pdlp") is ANSWER
    assert "Compiled." in progress.text
    assert [record.count for record in progress.iterations] == [7]


def test_what_the_work_raises_is_raised() -> None:
    def work(_: Progress) -> Outcome:
        raise ArithmeticError("a column is odd")

    with pytest.raises(ArithmeticError, match="a column is odd"):
        within_limit(work, Progress(60.0), "pdlp")


@pytest.mark.parametrize("interrupted", [False, True])
def test_work_that_cannot_be_stopped_is_left_behind(
    interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_LOW", 0.01)
    compiled, seen = threading.Event(), threading.Event()
    progress = BridgeProgress(60.0 if interrupted else 0.05)

    def work(deputy: Progress) -> Outcome:
        if interrupted:
            progress.interrupt()
        compiled.wait(30.0)  # deaf to everything, as a compiler is
        deputy.log("This comes too late.")
        if deputy.abandoned:
            seen.set()
        return ANSWER

    found = within_limit(work, progress, "pdlp")
    assert found.solution_status is SolutionStatus.NOTHING
    expected = StopReason.INTERRUPTED if interrupted else StopReason.TIME_LIMIT
    assert found.stop_reason is expected
    assert "being compiled" in progress.text
    compiled.set()
    assert seen.wait(30.0)
    assert "too late" not in progress.text


def test_work_that_notices_the_limit_hands_over_what_it_has() -> None:
    progress = Progress(0.05)

    def work(deputy: Progress) -> Outcome:
        while deputy.should_stop() is None:
            threading.Event().wait(0.005)
        return ANSWER

    assert within_limit(work, progress, "pdlp") is ANSWER


@pytest.mark.parametrize("converged", [True, False])
def test_another_engine_stands_in_while_one_is_compiled(
    converged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_LOW", 0.01)
    monkeypatch.setattr(deadline, "is_compiling", lambda: True)
    reason = StopReason.CONVERGED if converged else StopReason.TIME_LIMIT
    theirs = Outcome(SolutionStatus.FEASIBLE, reason, objective=2.0, x=np.ones(1))
    compiled = threading.Event()
    progress = BridgeProgress(60.0 if converged else 0.3)
    monkeypatch.setattr(deadline, "STAND_IN_SHARE", 0.001)

    def work(_: Progress) -> Outcome:
        compiled.wait(60.0)
        return ANSWER

    found = within_limit(work, progress, "knapsack", stand_in=lambda _: theirs)
    assert found is theirs
    assert "stood in while knapsack was being compiled" in progress.text
    compiled.set()


def test_who_stands_in_ends_when_the_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "is_compiling", lambda: True)
    monkeypatch.setattr(deadline, "STAND_IN_SHARE", 0.0)
    begun, heard, pause = threading.Event(), threading.Event(), threading.Event()

    def work(_: Progress) -> Outcome:
        assert begun.wait(60.0)
        return ANSWER

    def until_told(lane: Progress) -> Outcome:
        begun.set()
        while not lane.abandoned:
            pause.wait(0.01)
        heard.set()
        return Outcome(SolutionStatus.NOTHING, StopReason.INTERRUPTED)

    assert within_limit(work, Progress(60.0), "knapsack", stand_in=until_told) is ANSWER
    assert heard.wait(60.0)


def test_the_compiler_is_seen_at_work() -> None:
    from numba.core.compiler_lock import global_compiler_lock

    taken, seen = threading.Event(), threading.Event()

    def compile_something() -> None:
        with global_compiler_lock:
            taken.set()
            seen.wait(60.0)

    assert not deadline.is_compiling()
    thread = threading.Thread(target=compile_something)
    thread.start()
    assert taken.wait(60.0)
    assert deadline.is_compiling()
    seen.set()
    thread.join()
    assert not deadline.is_compiling()


def test_nobody_stands_in_for_an_engine_that_is_only_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "is_compiling", lambda: False)
    monkeypatch.setattr(deadline, "STAND_IN_SHARE", 0.0)

    def work(_: Progress) -> Outcome:
        threading.Event().wait(0.2)
        return ANSWER

    def fail(_: Progress) -> Outcome:
        raise AssertionError("nobody asked for this")

    assert within_limit(work, Progress(60.0), "knapsack", stand_in=fail) is ANSWER


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:1"])
def test_only_a_first_solve_with_a_limit_needs_this(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = COMPILED[device.partition(":")[0]]
    monkeypatch.delitem(sys.modules, module, raising=False)
    assert may_compile(device, Progress(5.0))
    assert not may_compile(device, Progress())
    monkeypatch.setitem(sys.modules, module, threading)
    assert not may_compile(device, Progress(5.0))
