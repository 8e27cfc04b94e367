"""Threads that nobody waits for any more, until the interpreter ends.

What they are at may not be interruptible: presolve of a huge model, a loop being compiled. When the
interpreter ends, a thread that comes back to Python is ended there and then, and the compiled code
that it came through may take that for a fault and abort the process. So the end waits for them, but
not for long. The compiler, which takes a minute for some loops, is mostly Python code, and an
exception ends it within milliseconds; it could not be trusted afterwards, which is no harm then.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import time

LAST_MOMENT = 2.0
"""Seconds the end of the interpreter waits: all but long passes of LLVM and presolve of huge models
end within some tenths. Those do not come back to Python while the interpreter ends."""

LOOK_AGAIN = 0.02
"""Seconds between two looks: a main thread that sleeps may miss Ctrl-C."""

COMPILERS = ("numba", "llvmlite")
"""Packages whose code on a thread's stack shows that it compiles, or is called to."""

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
    """Wait for them, and break off what is being compiled."""
    until = time.monotonic() + seconds
    before = sys.unraisablehook
    sys.unraisablehook = lambda told: None if told.exc_type is SystemExit else before(told)
    while (threads := left()) and time.monotonic() < until:
        for thread in threads:
            thread.join(LOOK_AGAIN / len(threads))
            if thread.is_alive() and _compiles(thread):
                _end(thread)
    sys.unraisablehook = before


def _compiles(thread: threading.Thread) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False


def _end(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread, which is silent there but in functions that LLVM calls."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
    )
