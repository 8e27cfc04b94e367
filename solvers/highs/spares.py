"""Child processes that wait with HiGHS loaded, so that the next solve need not wait for them.

Starting an interpreter and loading NumPy and HiGHS takes 0.1 to 0.2 s, as long as many a linear
program takes to solve. Whoever has just used children often uses them again at once: the next
model of a loop, the next neighbourhood of a search. So as many as were at work together are
started again a moment after, wait for :data:`IDLE` seconds, and are gone when nobody came.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

KEPT = 3
"""Most children that wait at once; a race has two, and crossover may follow."""

REST = 0.05
"""Seconds between the end of a child and the start of its successors, in which the caller works
on the answer."""

IDLE = 1.5
"""Seconds a child waits for a task. Loops come back within that; an idle process that lasts would
surprise whoever looks at the machine after a solve."""


def take(bootstrap: str) -> subprocess.Popen[bytes]:
    """Return a child that waits for its task, or starts on its way there.

    Parameters
    ----------
    bootstrap : str
        The child's program. It finds ``sys.path`` as its first argument and reads the task from
        its standard input.

    Raises
    ------
    OSError
        No child process can be started.
    """
    with _state.lock:
        _state.busy += 1
        _state.most = min(max(_state.most, _state.busy), KEPT)
        _state.generation += 1
        command = _command(bootstrap)
        for popen in tuple(_state.waiting):
            if popen.args == command and popen.poll() is None:
                _state.waiting.remove(popen)
                return popen
    try:
        return _start(command)
    except OSError:
        with _state.lock:
            _state.busy -= 1
        raise


def give_back(bootstrap: str) -> None:
    """Say that a child taken is no more, and have its successors started shortly."""
    with _state.lock:
        _state.busy -= 1
        generation = _state.generation
    _later(REST, _refill, bootstrap, generation)


def expect(bootstrap: str) -> None:
    """Have a child ready for a task that will come in a moment."""
    with _state.lock:
        _state.generation += 1
        generation = _state.generation
        if _state.waiting:
            return
        try:
            _state.waiting.append(_start(_command(bootstrap)))
        except OSError:
            return  # whoever wants the child will say so
    _later(IDLE, _expire, generation)


def dismiss() -> None:
    """End every child that waits."""
    with _state.lock:
        leaving, _state.waiting = _state.waiting, []
    for popen in leaving:
        popen.kill()
    for popen in leaving:
        popen.wait()
        _close(popen)


class _State:
    """Who waits, and how many were at work together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: list[subprocess.Popen[bytes]] = []
        self.busy = 0
        self.most = 0
        self.generation = 0


_state = _State()


def _command(bootstrap: str) -> list[str]:
    path = json.dumps([os.path.abspath(entry) for entry in sys.path])
    # isolated: nothing from the environment or the current folder comes before sys.path
    return [sys.executable, "-I", "-c", bootstrap, path]


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # a Ctrl-C at the terminal is for the parent to handle
    )


def _refill(bootstrap: str, generation: int) -> None:
    """Start successors unless children were taken since, which have successors of their own."""
    with _state.lock:
        if generation != _state.generation or sys.is_finalizing():
            return
        wanted = _state.most - _state.busy - len(_state.waiting)
        try:
            _state.waiting += [_start(_command(bootstrap)) for _ in range(wanted)]
        except OSError:
            return  # the next solve says so, if it is still true then
    _later(IDLE, _expire, generation)


def _later(seconds: float, function: Callable[..., None], *arguments: object) -> None:
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = True
    timer.start()


def _expire(generation: int) -> None:
    """Send the waiting home unless somebody came."""
    with _state.lock:
        idle = generation == _state.generation
        if idle:
            _state.most = 0
    if idle:
        dismiss()


def _close(popen: subprocess.Popen[bytes]) -> None:
    streams: tuple[IO[bytes] | None, ...] = (popen.stdin, popen.stdout)
    for stream in streams:
        if stream is not None:
            stream.close()


def _forget() -> None:
    """In a forked copy of this process, leave the children to the original."""
    global _state
    for popen in _state.waiting:
        popen.returncode = 0  # as far as the copy is concerned
        _close(popen)
    _state = _State()


atexit.register(dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
