"""Work in threads beside its caller: how it is waited for, told to end, and left to itself.

A library's own loop hears of no limit, and what such a call may hide in is more than can be listed:
presolve, verification, an import that another thread has begun. So work of any length runs in a
thread (:func:`run_beside`), with a :class:`~solvers.core.progress.DetachableProgress`. The caller
does nothing but look at the clock and hear Ctrl-C, and leaves behind what does not end in time.
That takes 0.2 ms. Loops of our own are told to end by a flag that they look at.
"""

from __future__ import annotations

import atexit
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeVar

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, SolutionStatus
from solvers.core.process_state import Slot
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress

LAST_MOMENT = 2.0
"""Seconds for which the end of the interpreter waits for threads left behind."""

Answer = TypeVar("Answer")
Own = TypeVar("Own", bound=DetachableProgress)

_left: Slot[set[threading.Thread]] = Slot("threads left behind, still at work", set)
_own: Slot[threading.local] = Slot("the stop flag that a thread's loops look at", threading.local)


@dataclass(frozen=True)
class Patience:
    """How long work may go on once it is over: a part of the time used, within bounds in s."""

    share: float
    low: float
    high: float

    def after(self, seconds: float) -> float:
        """Return the seconds to wait on after so many."""
        return min(max(self.share * seconds, self.low), self.high)


PATIENCE = Patience(0.03, 0.4, 3.0)
"""That with an engine, which is to hand over what it has."""


class StopFlag:
    """Tells the compiled loops of a thread, and of those that it starts, to end."""

    def __init__(self) -> None:
        self._byte = np.zeros(1, dtype=np.uint8)

    def set(self) -> None:
        """Let them raise :class:`solvers.native.Interrupted` at their next look."""
        self._byte[0] = 1

    @property
    def is_set(self) -> bool:
        """Whether they were told to end."""
        return bool(self._byte[0])

    def watch(self) -> None:
        """Let the loops of this thread look at the flag from now on."""
        _own.value.flag = self
        if (core := _compiled()) is not None:
            core.watch(self._byte.ctypes.data)


def told_to_end() -> bool:
    """Whether the compiled loops of this thread were told to end; others had better, too."""
    flag: StopFlag | None = getattr(_own.value, "flag", None)
    return flag is not None and flag.is_set


def _compiled() -> ModuleType | None:
    """Return the compiled loops; without them nothing of them is to be ended or held."""
    try:
        import solvers.native._core as core
    except (EngineError, ImportError):
        return None
    return core


def start_thread(
    name: str, work: Callable[[], object], failed: Callable[[BaseException], object]
) -> threading.Thread:
    """Start a daemon thread, the only way in which work goes to one.

    ``failed`` is told in that thread of what the work raised, and must not raise itself.

    Raises
    ------
    EngineError
        The system has no thread left.
    """
    flag: StopFlag | None = getattr(_own.value, "flag", None)

    def guarded() -> None:
        try:
            if flag is not None:
                flag.watch()
            work()
        except BaseException as failure:  # whatever it is, somebody is told of it
            failed(failure)

    thread = threading.Thread(target=guarded, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise EngineError(
            f"The system starts no more threads ({error}); raise its limit on processes "
            "('ulimit -u') or on memory."
        ) from error
    return thread


def run_beside(
    work: Callable[[Own], Answer],
    own: Own,
    name: str,
    *,
    patience: Callable[[float], float] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Answer | None:
    """Run work in a thread; return its answer, or None where it was left behind.

    Parameters
    ----------
    work : callable
        Takes ``own``; ends by itself once it is over, unless it is at something that cannot.
    own : DetachableProgress
        That of the work, abandoned at the end.
    name : str
        Of the thread.
    patience : callable, optional
        Takes the seconds used once it is over; returns for how many to wait on. A launch on a GPU
        ends by itself only: unless said otherwise, who pressed Ctrl-C has what it finds.
    is_over : callable, optional
        Asked between looks whether the work is to end; else a limit and an interruption end it.

    Raises
    ------
    BaseException
        What the work raised.
    """
    ended: queue.SimpleQueue[tuple[Answer] | BaseException] = queue.SimpleQueue()
    flag = StopFlag()

    def watched() -> None:
        flag.watch()
        ended.put((work(own),))

    def usual(seconds: float) -> float:
        return PATIENCE.high if own.interrupted else PATIENCE.after(seconds)

    # what it raises is raised by the caller, in its own thread
    thread = start_thread(name, watched, ended.put)
    found: tuple[Answer] | BaseException | None = None
    give_up_at = np.inf
    try:
        while found is None and own.seconds < give_up_at:
            try:
                found = ended.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                if np.isinf(give_up_at) and (is_over or own.is_over)():
                    give_up_at = own.seconds + (patience or usual)(own.seconds)
    finally:
        if found is None:  # Ctrl-C may have raised here
            flag.set()
            leave(thread)
        own.abandon()
    if isinstance(found, BaseException):
        try:
            raise found
        finally:
            del found  # it holds this frame: both would stay, with all that its frames hold
    return None if found is None else found[0]


def within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: Patience = PATIENCE,
) -> Outcome:
    """Run an engine beside and return its outcome, or soon after the limit what it held.

    ``patience`` is that with an engine that holds no answer yet.
    """
    own = DetachableProgress(progress)
    found = run_beside(
        work,
        own,
        engine,
        patience=lambda seconds: (patience if own.held is None else PATIENCE).after(seconds),
    )
    if found is not None:
        return found
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    progress.log(f"The time was up while {engine} was busy.")
    held = own.held or Outcome(SolutionStatus.NOTHING, stopped, engine=engine)
    return replace(held, stop_reason=stopped)


def leave(*threads: threading.Thread) -> None:
    """Let threads, which have been told to stop, end by themselves."""
    with _left.locked() as left:
        left.difference_update([one for one in left if not one.is_alive()])
        left.update(one for one in threads if one.is_alive())


def left_behind() -> tuple[threading.Thread, ...]:
    """Return the threads that were left and are still at work."""
    with _left.locked() as left:
        return tuple(one for one in left if one.is_alive())


@atexit.register
def wait_for_left(seconds: float = LAST_MOMENT) -> None:
    """Wait for them at the end of the interpreter, and let them end silently."""
    until = time.monotonic() + seconds
    before = sys.unraisablehook
    sys.unraisablehook = lambda told: None if told.exc_type is SystemExit else before(told)
    while (threads := left_behind()) and time.monotonic() < until:
        for thread in threads:
            thread.join(LOOK_AGAIN / len(threads))
    sys.unraisablehook = before
    if threads and (core := _compiled()) is not None:
        core.hold_other_threads()
