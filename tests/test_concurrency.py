"""Threads: their failures are told, and the end of the interpreter waits for them, but briefly."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from solvers.concurrency import start_thread
from solvers.errors import EngineError
from tests.soon import LONG

LEAVES_A_THREAD = """
import threading, time
from solvers.concurrency import leave

def work():
    time.sleep({seconds})
    print("came to its end", flush=True)

thread = threading.Thread(target=work, name="deaf", daemon=True)
thread.start()
leave(thread)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )


def ending(seconds: float, limit: float) -> str:
    script = (
        f"from solvers import concurrency\nconcurrency.wait_for_left.__defaults__ = ({limit},)\n"
    )
    done = run(script + LEAVES_A_THREAD.format(seconds=seconds))
    assert done.stderr == ""
    return done.stdout


def test_the_end_waits_for_what_was_left_behind() -> None:
    assert ending(0.3, limit=30.0) == "came to its end\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert ending(30.0, limit=0.1) == ""


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
