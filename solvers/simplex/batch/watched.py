"""Compiled loops that end where their caller has to stop.

A loop of seconds cannot be interrupted, nor does Python hear Ctrl-C while its main thread is there.
So it runs in a thread of its own; the caller's looks at the clock and sets a flag that it reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.progress import Progress

STOP = -1
"""What the flag holds once the loop has to end."""

LOOK_AGAIN = 0.02
"""Seconds between two looks at the clock."""


def run_watched(work: Callable[[], Any], flag: npt.NDArray[np.int32], progress: Progress) -> None:
    """Run work in a thread; put :data:`STOP` into ``flag`` (1,) once ``progress`` says so.

    Raises
    ------
    BaseException
        What the work raised, or came while it was waited for; the work has ended by then.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # the caller raises it in its own thread
            raised.append(error)
        finally:
            ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=run, name="batch", daemon=True)
    thread.start()
    try:
        while not ended.wait(LOOK_AGAIN):
            if progress.should_stop() is not None:
                flag[0] = STOP
    finally:
        flag[0] = STOP
        while not ended.wait(LOOK_AGAIN):
            pass  # in slices, because a sleeping main thread may miss Ctrl-C
    if raised:
        raise raised[0]
