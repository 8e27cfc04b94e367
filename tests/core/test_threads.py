"""Threads: failures are told, compiled loops end when asked, the interpreter waits briefly."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import StopFlag, left_behind, run_beside, start_thread
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.fleet import Fleet, plan_for
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.restarts import first_origins, gather_points
from solvers.mip.heuristics.local_search.run import walkers_on_cpu
from solvers.native import Interrupted
from tests.mip.heuristics.local_search.models import model
from tests.soon import LONG, soon

LEAVES_A_THREAD = """
import threading, time
from solvers.core.threads import leave

def work():
    time.sleep({seconds})
    print("came to its end", flush=True)

thread = threading.Thread(target=work, name="deaf", daemon=True)
thread.start()
leave(thread)
"""


COMES_BACK_TOO_LATE = """
import threading, time
import highspy
import numpy as np
from solvers.core import threads

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)  # the interpreter is ending: who asks for its lock now is unwound

late = Late()
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
draw = np.random.default_rng(0)
columns = np.arange(200)
highs.addVars(200, np.zeros(200), np.ones(200))
highs.changeColsCost(200, columns, -draw.random(200))
for _ in range(100):
    highs.addRow(0.0, 30.0, 200, columns, draw.random(200))
begun = threading.Event()

def work():
    while True:
        highs.clearSolver()
        highs.run()
        begun.set()

thread = threading.Thread(target=work, daemon=True)
thread.start()
begun.wait()
threads.leave(thread)
threads.wait_for_left.__defaults__ = (0.1,)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )


def ending(seconds: float, limit: float) -> str:
    script = f"from solvers.core import threads\nthreads.wait_for_left.__defaults__ = ({limit},)\n"
    done = run(script + LEAVES_A_THREAD.format(seconds=seconds))
    assert done.stderr == ""
    return done.stdout


def test_the_end_waits_for_what_was_left_behind() -> None:
    assert ending(0.3, limit=30.0) == "came to its end\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert ending(30.0, limit=0.1) == ""


def test_who_comes_back_after_the_end_does_not_abort_the_process() -> None:
    assert "terminate" not in run(COMES_BACK_TOO_LATE).stderr  # whose exit code is looked at, too


@pytest.mark.parametrize("failure", [ValueError("no"), MemoryError(), SystemExit(1)])
def test_what_the_work_raises_is_told_and_not_printed(
    failure: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)

    def work() -> None:
        raise failure

    told: list[BaseException] = []
    start_thread("test", work, told.append).join(LONG)
    assert told == [failure]
    assert not printed


def test_work_that_goes_well_tells_of_no_failure() -> None:
    done: list[str] = []
    told: list[BaseException] = []
    start_thread("test", lambda: done.append("done"), told.append).join(LONG)
    assert (done, told) == (["done"], [])


def test_a_system_without_threads_left_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    with pytest.raises(EngineError, match=r"starts no more threads.*ulimit -u"):
        start_thread("test", lambda: None, lambda failure: None)


def endless_walk() -> Callable[[], object]:
    """Return a call of a compiled loop whose end is minutes away: no point keeps the row."""
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    layout = Layout.of(found, wide=True)
    fleet = Fleet(layout, cpu(), plan_for(layout, cpu()), 0)
    places = gather_points(layout, [])
    fleet.set_points(places.points)
    fleet.restart(*first_origins(fleet.walkers, places, np.random.default_rng(0)))
    return lambda: fleet.launch(2**31 - 1)


def test_a_compiled_loop_ends_when_the_flag_of_its_thread_is_set() -> None:
    walks = endless_walk()
    flag, begun = StopFlag(), threading.Event()
    told: list[BaseException] = []

    def work() -> None:
        flag.watch()
        begun.set()
        walks()

    thread = start_thread("test", work, told.append)
    assert begun.wait(LONG)
    thread.join(0.05)
    assert thread.is_alive()
    flag.set()
    thread.join(LONG)
    assert not thread.is_alive()
    assert [type(failure) for failure in told] == [Interrupted]


def test_loops_of_threads_that_a_thread_has_started_end_with_its_own() -> None:
    walks = endless_walk()
    flag, inner = StopFlag(), []
    told: list[BaseException] = []

    def work() -> None:
        flag.watch()
        inner.append(start_thread("inner", walks, told.append))

    start_thread("outer", work, told.append).join(LONG)
    flag.set()
    inner[0].join(LONG)
    assert [type(failure) for failure in told] == [Interrupted]


def test_loops_of_other_threads_go_on() -> None:
    flag = StopFlag()
    told: list[BaseException] = []
    start_thread("test", flag.watch, told.append).join(LONG)
    flag.set()
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    walkers = walkers_on_cpu(found, lambda x, source: False, 0)
    assert walkers.run(Budget(work=1e5)).steps > 0
    assert told == []


def test_a_loop_that_is_left_behind_ends() -> None:
    walks = endless_walk()
    found = run_beside(
        lambda own: walks(),
        DetachableProgress(Progress()),
        "test",
        patience=lambda seconds: 0.0,
        is_over=lambda: True,
    )
    assert found is None
    assert soon(lambda: not [one for one in left_behind() if one.name == "test"])
