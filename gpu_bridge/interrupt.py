"""Ctrl-C: during a solve the first asks the engine to finish, the second raises.

So does the first, once the answer stands in the model, where it came as a call began and changed
nothing: in a loop of small solves it means the loop, and nobody presses twice in one of them.

A KeyboardInterrupt out of an import leaves modules behind that are half made, and nothing works
with them afterwards. So the handler stands before a solve imports anything, and what has to wait
for an import waits: for its end, or for that of the call it is in. Python calls handlers in the
main thread only, so in any other thread nothing here does anything.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what this module imports is imported without a handler
    from solvers.core.progress import Progress

Before = Callable[[int, FrameType | None], object] | int | None
"""What ``signal.getsignal`` returns."""

Ended = Callable[[bool], None]
"""Takes whether a solve was ended by an interrupt."""

REACTION = 0.25
"""Seconds within which nobody reacts to the beginning of a solve (Welford, "Reaction Times", 1980,
has 0.2 for an answer to what one waits for)."""

IMPORTING = "<frozen importlib._bootstrap>"
"""File name in the frames of Python's import."""


class _Handler:
    """What SIGINT does during a call; ``owed`` says that a KeyboardInterrupt has yet to come."""

    def __init__(self) -> None:
        self.owed = False
        self._imports = _imports_under_way()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise, unless an import that began during the call is under way."""
        self.owed = _imports_under_way(frame) > self._imports
        if not self.owed:
            raise KeyboardInterrupt


class _SolveHandler(_Handler):
    """Asks engines to finish, and raises from the second time on."""

    def __init__(self, *, pressed: bool = False) -> None:
        super().__init__()
        self._began = time.perf_counter()
        self._pressed = self._early = pressed
        self._ends: set[bool] = set()
        self._solves: list[Progress] = []

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ask all solves under way to finish, or raise."""
        if self._pressed:
            super().__call__(number, frame)
        else:
            self._early = time.perf_counter() - self._began < REACTION
        self._pressed = True
        for progress in self._solves:
            progress.interrupt()

    @contextmanager
    def heard_by(self, progress: Progress) -> Iterator[Ended]:
        """Let a solve know of what comes, and of what came before it began."""
        self._solves.append(progress)
        if self._pressed:
            progress.interrupt()
        try:
            yield self._ended
        finally:
            self._solves.remove(progress)

    def _ended(self, interrupted: bool) -> None:
        self._ends.add(interrupted)

    @property
    def was_for_the_caller(self) -> bool:
        """Whether Ctrl-C came as the call began, and no solve ended by it."""
        return self._early and self._ends == {False}


@contextmanager
def uninterrupted_imports() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt as ever, but no import be broken off by it."""
    before = signal.getsignal(signal.SIGINT)
    if _is_main() and before is signal.default_int_handler:
        with _installed(_Handler(), before):
            yield
    else:  # ours stands already, or somebody else's, who knows better
        yield


@contextmanager
def solving() -> Iterator[None]:
    """Keep the first Ctrl-C for the solve that is to come; every public way to one begins so."""
    before = signal.getsignal(signal.SIGINT)
    if _is_main() and not isinstance(before, _SolveHandler):
        # what had to wait for an import is for the solve that comes after it
        pressed = isinstance(before, _Handler) and before.owed
        handler = _SolveHandler(pressed=pressed)
        with _installed(handler, before):
            yield
        if handler.was_for_the_caller:
            _hand_on(before)
    else:
        yield


@contextmanager
def interruptible(progress: Progress) -> Iterator[Ended]:
    """Turn the first SIGINT into ``progress.interrupt()`` while the block runs.

    Gives a function that may be told whether the solve ended by it.
    """
    handler = signal.getsignal(signal.SIGINT)
    if _is_main() and isinstance(handler, _SolveHandler):
        with handler.heard_by(progress) as ended:
            yield ended
        return
    with solving():
        handler = signal.getsignal(signal.SIGINT)
        if _is_main() and isinstance(handler, _SolveHandler):
            with handler.heard_by(progress) as ended:
                yield ended
        else:
            yield lambda interrupted: None


@contextmanager
def _installed(handler: _Handler, before: Before) -> Iterator[None]:
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None means a handler that Python did not install and cannot put back.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if handler.owed:
            raise KeyboardInterrupt


def _hand_on(before: Before) -> None:
    """Let what stood before do with Ctrl-C what the caller means it to do."""
    if callable(before):
        before(signal.SIGINT, sys._getframe())
    elif before is not signal.SIG_IGN:
        raise KeyboardInterrupt


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _imports_under_way(frame: FrameType | None = None) -> int:
    """Return how many frames of Python's import stand below one, or below the caller's."""
    frame = sys._getframe() if frame is None else frame
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename == IMPORTING
        frame = frame.f_back
    return count
