"""Threads that nobody waits for any more, until the interpreter ends.

What they are at may not be interruptible: presolve of a huge model, a loop being compiled. When the
interpreter ends, a thread that comes back to Python is ended there and then, and the compiled code
that it came through takes that for a fault and aborts the process. So the end waits for them.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time

LAST_MOMENT = 30.0
"""Seconds the end of the interpreter waits: compiling the longest loop takes about as long."""

SILENCE = 2.0
"""Seconds of it without a word, which nearly always do."""

LOOK_AGAIN = 0.05
"""Seconds between two looks: a main thread that sleeps may miss Ctrl-C."""

_threads: set[threading.Thread] = set()


def leave(*threads: threading.Thread) -> None:
    """Let threads, which have been told to stop, end by themselves."""
    _threads.difference_update([one for one in tuple(_threads) if not one.is_alive()])
    _threads.update(one for one in threads if one.is_alive())


def left() -> tuple[threading.Thread, ...]:
    """Return the threads that are still at work."""
    return tuple(one for one in tuple(_threads) if one.is_alive())


@atexit.register
def wait(seconds: float = LAST_MOMENT) -> None:
    """Wait for them."""
    began = time.monotonic()
    for patience in (min(SILENCE, seconds), seconds):
        for thread in left():
            while thread.is_alive() and time.monotonic() < began + patience:
                thread.join(LOOK_AGAIN)
        names = ", ".join(sorted(thread.name for thread in left()))
        if names and patience < seconds and sys.stderr is not None:
            sys.stderr.write(f"gpu-bridge waits for what cannot be interrupted: {names}\n")
