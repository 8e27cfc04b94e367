"""Slots: made once, one for each process, and one thread at a time where that is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from solvers.core import process_state
from solvers.core.process_state import Slot, slots
from tests.locations import ROOT
from tests.soon import LONG


@pytest.fixture(autouse=True)
def _of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_state, "_slots", list(slots()))


def test_a_thing_is_made_at_its_first_use_and_once() -> None:
    made: list[int] = []

    def slow() -> list[int]:
        time.sleep(0.01)
        made.append(1)
        return []

    slot = Slot("a list", slow)
    assert slot in slots()
    assert not made
    seen: list[list[int]] = []
    threads = [threading.Thread(target=lambda: seen.append(slot.value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert all(one is seen[0] for one in seen)


def test_who_takes_it_locked_has_it_alone() -> None:
    slot: Slot[list[int]] = Slot("a list", list)

    def count() -> None:
        for _ in range(50):
            with slot.locked() as kept:
                before = len(kept)
                time.sleep(0)  # others would come between
                kept.append(before)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slot.value == list(range(400))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_copy_has_its_own_though_another_thread_holds_the_parents() -> None:
    left: list[set[int]] = []
    slot: Slot[set[int]] = Slot("a set", set, left.append)
    unused: Slot[set[int]] = Slot("another", set, left.append)
    slot.value.add(1)
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with slot.locked():
            held.set()
            over.wait(LONG)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(LONG)
    copy = os.fork()
    if copy == 0:
        try:
            with slot.locked() as kept:
                fresh = not kept
            alone = left == [{1}] and not unused.value
            os._exit(0 if fresh and alone else 1)
        finally:
            os._exit(2)
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
    assert slot.value == {1}
    assert not left


SLOW = """
import threading, time
from solvers.core import begun
begun.set()
time.sleep(0.3)
whole = True
"""
COPIED = """
import os, signal, sys, threading
from solvers import core
from solvers.core import process_state
core.begun = threading.Event()
threading.Thread(target=lambda: __import__("slow")).start()
core.begun.wait()
copy = os.fork()
if not copy:
    signal.alarm(60)  # a copy that hangs does not outlive the test
    import slow
    os._exit(0 if slow.whole else 1)
_, status = os.waitpid(copy, 0)
assert status == 0, status
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_copy_finds_no_module_half_made(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-W", "ignore", "-c", COPIED]
    done = subprocess.run(command, env=paths, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
