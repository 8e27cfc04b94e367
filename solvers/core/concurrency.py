"""Threads: how they begin, how they are waited for, told to end, and left to themselves.

Whatever the work of a thread raises is told to somebody. A caller that waits looks at the clock and
hears Ctrl-C between, and leaves behind what does not end in time: presolve of a huge model, a
library's own loop. Loops of our own are told to end by a flag that they look at.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.process_state import Slot

if TYPE_CHECKING:
    from solvers.core.progress import Progress

LOOK_AGAIN = 0.02
"""Seconds between two looks at the clock: a main thread that sleeps may miss Ctrl-C."""

LAST_MOMENT = 2.0
"""Seconds for which the end of the interpreter waits for threads left behind. A thread that comes
back to Python afterwards is ended there, and compiled code that it came through may take that for a
fault and abort the process."""

PARALLEL_FROM = 10_000_000
"""Elementary steps from which threads are used without a trial.

On a busy machine each loop's end waits for a thread to get a core, up to a time slice of the
system: milliseconds, which only loops this long bear (seven times slower was measured for loops
of 3 million steps). A driver of many shorter loops gives threads a trial instead.
"""

STEPS_PER_THREAD = 30_000
"""No more threads than this much work for each."""

Answer = TypeVar("Answer")

_left: Slot[set[threading.Thread]] = Slot("threads left behind, still at work", set)
_own: Slot[threading.local] = Slot("the stop flag that a thread's loops look at", threading.local)


class StopFlag:
    """Tells the compiled loops of a thread, and of those that it starts, to end."""

    def __init__(self) -> None:
        self._byte = np.zeros(1, dtype=np.uint8)

    def set(self) -> None:
        """Let them raise :class:`solvers.native.Interrupted` at their next look."""
        self._byte[0] = 1

    def watch(self) -> None:
        """Let the loops of this thread look at the flag from now on."""
        _own.value.flag = self
        try:
            import solvers.native._core as _core
        except (EngineError, ImportError):  # without compiled loops there is nothing to end
            return
        _core.watch(self._byte.ctypes.data)


def start_thread(
    name: str, work: Callable[[], object], failed: Callable[[BaseException], object]
) -> threading.Thread:
    """Start a daemon thread, the only way in which work goes to one.

    Parameters
    ----------
    name : str
        Of the thread.
    work : callable
        What it does.
    failed : callable
        Told in that thread of what the work raised; must not raise itself.

    Returns
    -------
    threading.Thread
        Already at work.

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
    work: Callable[[], Answer],
    progress: Progress,
    name: str,
    *,
    patience: Callable[[], float],
    is_over: Callable[[], bool],
) -> tuple[Answer] | None:
    """Run work in a thread; return its answer in a tuple, or None where it was left behind.

    Parameters
    ----------
    work : callable
        Ends by itself once it is over, unless it is at something that cannot.
    progress : Progress
        Has the clock.
    name : str
        Of the thread.
    patience : callable
        Asked once it is over for how many seconds to wait on.
    is_over : callable
        Asked between looks whether the work is to end: a limit, an interruption.

    Raises
    ------
    BaseException
        What the work raised.
    """
    ended: queue.SimpleQueue[tuple[Answer] | BaseException] = queue.SimpleQueue()
    flag = StopFlag()

    def watched() -> None:
        flag.watch()
        ended.put((work(),))

    # what it raises is raised by the caller, in its own thread
    thread = start_thread(name, watched, ended.put)
    found: tuple[Answer] | BaseException | None = None
    give_up_at = np.inf
    try:
        while found is None and progress.seconds < give_up_at:
            try:
                found = ended.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                if np.isinf(give_up_at) and is_over():
                    give_up_at = progress.seconds + patience()
    finally:
        if found is None:  # Ctrl-C may have raised here
            flag.set()
            leave(thread)
    if isinstance(found, BaseException):
        raise found
    return found


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(work: int, threads: int = 0, *, parallel_from: int = PARALLEL_FROM) -> int:
    """Return how many threads a loop of so many elementary steps is worth.

    ``threads`` is the most that may be used; 0 stands for all cores.
    """
    if work < parallel_from:
        return 1
    cores = usable_cores()
    return max(1, min(threads or cores, cores, work // STEPS_PER_THREAD))


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
