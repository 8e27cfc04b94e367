"""The end of the interpreter waits for threads that nobody else waits for, briefly and silently."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from solvers import left_behind
from tests.soon import soon

LEAVES_A_THREAD = """
import threading, time
from solvers.left_behind import leave

def work():
    time.sleep({seconds})
    print("came to its end", flush=True)

thread = threading.Thread(target=work, name="deaf", daemon=True)
thread.start()
leave(thread)
"""

COMPILES_FOR_LONG = """
import atexit, threading
import numba
from solvers import left_behind

def work():
    begun.set()
    while True:  # as long as it is let
        numba.njit(lambda x: x + 1)(1)

def end():
    print("ended" if not thread.is_alive() else "at work", flush=True)

atexit.unregister(left_behind.wait)
atexit.register(end)
atexit.register(left_behind.wait, 60.0)  # comes before what was registered before it
begun = threading.Event()
thread = threading.Thread(target=work, daemon=True)
thread.start()
begun.wait()
left_behind.leave(thread)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )


def ending(seconds: float, limit: float) -> str:
    script = f"from solvers import left_behind\nleft_behind.wait.__defaults__ = ({limit},)\n"
    done = run(script + LEAVES_A_THREAD.format(seconds=seconds))
    assert done.stderr == ""
    return done.stdout


def test_the_end_waits_for_what_was_left_behind() -> None:
    assert ending(0.3, limit=30.0) == "came to its end\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert ending(30.0, limit=0.1) == ""


def test_the_end_breaks_off_what_is_being_compiled() -> None:
    done = run(COMPILES_FOR_LONG)
    assert done.stdout == "ended\n"
    assert done.stderr == ""


def test_what_does_not_compile_is_not_broken_off() -> None:
    """Somebody removes files or stops a child process, and is to come to the end of it."""
    gate, ended = threading.Event(), threading.Event()

    def clean_up() -> None:
        while not gate.is_set():
            time.sleep(0.001)
        ended.set()

    thread = threading.Thread(target=clean_up, daemon=True)
    thread.start()
    left_behind.leave(thread)
    left_behind.wait(0.05)
    assert thread in left_behind.left()
    gate.set()
    assert ended.wait(60)
    assert soon(lambda: thread not in left_behind.left())
