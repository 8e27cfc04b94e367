"""Work in a thread of its own, for which its caller waits no longer than is sensible.

What is being compiled cannot be interrupted, and a main thread inside compiled code does not hear
Ctrl-C. So the work goes to another thread, and the caller looks at the clock between.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gpu_bridge.race import LOOK_AGAIN
from gpu_bridge.race_progress import Deputy
from solvers.left_behind import leave
from solvers.progress import Progress

Answer = TypeVar("Answer")


def apart(
    work: Callable[[Progress], Answer],
    progress: Progress,
    name: str,
    *,
    patience: Callable[[], float],
    enough: Callable[[], bool],
) -> tuple[Answer] | None:
    """Run work in a thread; return its answer in a tuple, or None where it was left behind.

    Parameters
    ----------
    work : callable
        Gets a progress that says when nobody waits any more.
    progress : Progress
        Clock, limit and interruption.
    name : str
        Of the thread.
    patience : callable
        Asked at the limit, or after an interruption, for how many seconds to wait on.
    enough : callable
        Asked between looks whether not to wait for another reason.

    Raises
    ------
    BaseException
        What the work raised.
    """
    deputy = Deputy(progress)
    ended: queue.SimpleQueue[tuple[Answer] | BaseException] = queue.SimpleQueue()

    def run() -> None:
        try:
            ended.put((work(deputy),))
        except BaseException as error:  # the caller raises it in its own thread
            ended.put(error)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    give_up_at = np.inf
    while progress.seconds < give_up_at:
        try:
            found = ended.get(timeout=LOOK_AGAIN)
        except queue.Empty:
            if enough():
                break
            if np.isinf(give_up_at) and progress.should_stop() is not None:
                give_up_at = progress.seconds + patience()
            continue
        if isinstance(found, BaseException):
            raise found
        return found
    deputy.abandon()
    leave(thread)
    return None
