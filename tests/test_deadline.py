"""A limit is kept while something that cannot be stopped is compiled."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge import deadline, dispatch
from gpu_bridge.deadline import within_limit
from gpu_bridge.progress import BridgeProgress
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.problem import Problem
from solvers.progress import Progress
from tests.soon import LONG, soon

DIET = Problem.from_arrays([2, 3], [[1, 1]], [4], upper=[3, np.inf])
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


def test_what_busy_work_handed_over_is_returned() -> None:
    release = threading.Event()
    progress = Progress(0.05)

    def work(deputy: Progress) -> Outcome:
        deputy.hold(ANSWER)
        release.wait(30.0)
        return ANSWER

    found = within_limit(work, progress, "pdlp")
    release.set()
    assert found.x is ANSWER.x
    assert found.stop_reason is StopReason.TIME_LIMIT


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


@pytest.fixture
def compiler_at_work() -> Iterator[None]:
    """Somebody else compiles until the test is over."""
    from numba.core.compiler_lock import global_compiler_lock

    taken, over = threading.Event(), threading.Event()

    def compile_something() -> None:
        with global_compiler_lock:
            taken.set()
            over.wait(60.0)

    thread = threading.Thread(target=compile_something)
    thread.start()
    assert taken.wait(60.0)
    yield
    over.set()
    thread.join()


@pytest.mark.parametrize("place", ["gpu_bridge.presolve.apply", "gpu_bridge.engines.verify"])
@pytest.mark.parametrize("method", ["pdlp", "simplex", "highs", "auto"])
def test_a_limit_holds_wherever_a_compiler_is_waited_for(
    place: str, method: str, compiler_at_work: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core.compiler_lock import global_compiler_lock

    monkeypatch.setattr(deadline, "WHOLE_LOW", 0.05)
    there = resolve_name(place)

    def compiled(*arguments: Any, **more: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            global_compiler_lock.acquire()
            global_compiler_lock.release()
        return there(*arguments, **more)

    monkeypatch.setattr(place, compiled)
    outcome = gpu_bridge.solve(DIET, method=method, time_limit=0.2)
    if (
        outcome.solution_status is not SolutionStatus.OPTIMAL
    ):  # who needs no presolve is not held up
        assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.seconds < 30.0  # the compiler is at work for longer


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_point_is_not_lost_where_the_solve_does_not_come_back(
    interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "WHOLE_LOW", 0.01)
    over = threading.Event()
    x = np.array([3.0, 1.0])

    def answer(problem: Problem, options: Any, choice: Any, progress: Progress, start: Any) -> None:
        progress.incumbent(problem.objective_at(x), "somebody", x)
        if interrupted:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        over.wait(60.0)

    monkeypatch.setattr(dispatch, "_answer", answer)
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

    def answer(problem: Problem, options: Any, choice: Any, progress: Progress, start: Any) -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert soon(lambda: progress.interrupted)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert soon(lambda: progress.abandoned)
        told.set()

    monkeypatch.setattr(deadline, "WHOLE_LOW", LONG)
    monkeypatch.setattr(deadline, "WHOLE_HIGH", LONG)
    monkeypatch.setattr(dispatch, "_answer", answer)
    with pytest.raises(KeyboardInterrupt):
        gpu_bridge.solve(DIET)
    assert told.wait(LONG)


def test_to_see_what_a_model_is_needs_no_compiler() -> None:
    """It is seen before the limit can be kept, and to load Numba takes longer than some limits."""
    script = (
        "import sys, numpy as np\n"
        "from gpu_bridge.classify import classify\n"
        "from solvers.problem import Problem\n"
        "for rows in (1, 2):\n"
        "    weights = np.arange(1.0, 4.0 * rows + 1.0).reshape(rows, 4)\n"
        "    bits = {'upper': 1.0, 'integrality': True, 'maximize': True}\n"
        "    found = classify(Problem.from_arrays(np.ones(4), weights, row_upper=5.0, **bits))\n"
        "    assert 'knapsack' in found.sentence\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
