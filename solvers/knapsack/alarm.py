"""A look at the clock beside a loop that cannot look itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from solvers.core.progress import Progress

LOOK = 0.05
"""Seconds between two looks at the clock."""


@contextmanager
def alarm(progress: Progress, ring: Callable[[], None]) -> Iterator[None]:
    """Call ``ring`` once, from another thread, if ``progress`` says stop inside the block.

    The time until then is seldom much longer than ``LOOK``.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK):
            if progress.should_stop() is not None:
                ring()
                return

    watcher = threading.Thread(target=watch, name="knapsack alarm", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
