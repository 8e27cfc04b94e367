"""HiGHS in a thread of this process: what stops it, and what is kept apart from it."""

from __future__ import annotations

import signal
import threading

import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.core.threads import left_behind
from solvers.highs import callbacks, child, in_process, solve
from tests.highs.models import covering, packing
from tests.soon import LONG, soon


def test_a_thread_that_does_not_end_is_left_at_the_next_ctrl_c():
    """The signals come to the thread at work, and so do not wake the one that waits."""
    asked, gate, ended = threading.Event(), threading.Event(), []

    class Asked(in_process.ProgressChannel):
        def stop(self):
            asked.set()
            return super().stop()

    def deaf():
        assert asked.wait(LONG)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert soon(lambda: threading.current_thread() in left_behind())
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        ended.append(not gate.wait(20))

    with pytest.raises(KeyboardInterrupt):
        in_process.in_thread(deaf, Asked(Progress()))
    assert not ended
    gate.set()
    assert soon(lambda: ended == [False])


def test_a_small_model_can_be_kept_apart(in_thread, monkeypatch):
    monkeypatch.setattr(in_process, "run", None)
    outcome = solve(covering(20, 10), EngineOptions(), Progress(), in_child=True)
    assert outcome.solution_status is SolutionStatus.OPTIMAL


def test_a_small_simplex_apart_runs_here_and_does_not_ask(in_thread, monkeypatch):
    monkeypatch.setattr(child, "BOOTSTRAP", "raise SystemExit('must not run')")
    asked = []
    monkeypatch.setattr(callbacks._LpReports, "__call__", lambda self, *_: asked.append(self))
    simplex = EngineOptions(lp_algorithm="simplex", presolve=False)
    solve(covering(20, 10), simplex, Progress())
    assert asked
    asked.clear()
    outcome = solve(covering(20, 10), simplex, Progress(), in_child=True)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert not asked


def test_simplex_that_does_not_ask_is_stopped(in_thread, monkeypatch):
    monkeypatch.setattr(in_process, "LOOK_AGAIN", 1e-3)  # the model may take less than usual looks

    class Interrupted(Progress):
        """Interrupted at the first log line of the engine, and told of nothing else."""

        def engine_output(self, line):
            self.interrupt()

    simplex = EngineOptions(lp_algorithm="simplex", presolve=False)
    progress = Interrupted()
    outcome = solve(packing(300, 600), simplex, progress, in_child=True)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.solution_status is not SolutionStatus.OPTIMAL
