"""Threads whose failures are told."""

from __future__ import annotations

import threading

import pytest

from solvers.errors import EngineError
from solvers.threads import start_thread
from tests.soon import LONG


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
