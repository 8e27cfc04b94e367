"""Waiting for what another thread or process is about to do."""

from __future__ import annotations

import time
from collections.abc import Callable

LONG = 60.0
"""Seconds after which what has not happened will not happen, on the slowest machine."""


def soon(holds: Callable[[], bool], seconds: float = LONG) -> bool:
    """Whether something comes true before long."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()
