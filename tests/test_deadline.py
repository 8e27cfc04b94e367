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
