"""Work in a thread of its own, for which its caller waits no longer than is sensible.

What is being compiled cannot be interrupted, and a main thread inside compiled code does not hear
Ctrl-C. So the work goes to another thread, and the caller looks at the clock between.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from solvers.left_behind import leave
from solvers.progress import Progress
from solvers.threads import start_thread

LOOK_AGAIN = 0.02
"""Seconds between two looks at clock and interruption."""

Answer = TypeVar("Answer")


def apart(
    work: Callable[[], Answer],
    progress: Progress,
    name: str,
    *,
    patience: Callable[[], float],
    is_over: Callable[[], bool],
    enough: Callable[[], bool] | None = None,
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
    enough : callable, optional
        Asked between looks whether not to wait any longer at all.

    Raises
    ------
    BaseException
        What the work raised.
    """
    ended: queue.SimpleQueue[tuple[Answer] | BaseException] = queue.SimpleQueue()

    # what it raises is raised by the caller, in its own thread
    thread = start_thread(name, lambda: ended.put((work(),)), ended.put)
    found: tuple[Answer] | BaseException | None = None
    give_up_at = np.inf
    try:
        while found is None and progress.seconds < give_up_at:
            try:
                found = ended.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                if enough is not None and enough():
                    break
                if np.isinf(give_up_at) and is_over():
                    give_up_at = progress.seconds + patience()
    finally:
        if found is None:  # Ctrl-C may have raised here
            leave(thread)
    if isinstance(found, BaseException):
        raise found
    return found
