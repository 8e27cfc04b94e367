"""How many threads there can be, and the one way in which work goes to a thread of its own.

Whatever it raises is told to somebody: a thread that raises would print a traceback over the user's
screen, and whoever waits for it would wait for ever, or take what is missing for an answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from solvers.errors import EngineError


def start_thread(
    name: str, work: Callable[[], object], failed: Callable[[BaseException], object]
) -> threading.Thread:
    """Start a daemon thread.

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

    def guarded() -> None:
        try:
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


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
