"""Ctrl-C during a solve: the first asks the engine to finish, the second raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from solvers.progress import Progress


@contextmanager
def interruptible(progress: Progress) -> Iterator[None]:
    """Turn the first SIGINT into ``progress.interrupt()`` while the block runs.

    Python delivers signals to the main thread only, so in any other thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if progress.interrupted:
            raise KeyboardInterrupt
        progress.interrupt()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        # None means a handler that Python did not install and cannot put back.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
