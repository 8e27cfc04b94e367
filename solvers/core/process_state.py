"""What is kept from solve to solve: by the process, in slots, and of a caller's models.

Nowhere else do functions change what a module holds. A slot stands where its thing is used and
holds it: made at the first use, and made anew in a forked copy of the process, which has none of
its parent's threads and must not touch its streams. What the copy inherits is left alone, and not
even destroyed. docs/architecture.md lists the slots.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

Kept = TypeVar("Kept")

_slots: list[Slot[Any]] = []
_inherited: list[object] = []
_making = threading.Lock()


class Slot(Generic[Kept]):
    """One thing that the process keeps.

    Parameters
    ----------
    name : str
        What it is, for people.
    make : callable
        Makes it as it is to begin with.
    leave : callable, optional
        What a forked copy does with its parent's before it has its own.
    """

    def __init__(
        self, name: str, make: Callable[[], Kept], leave: Callable[[Kept], None] | None = None
    ) -> None:
        self.name = name
        self._make, self._leave = make, leave
        self._kept: Kept | None = None
        self._lock = threading.Lock()
        _slots.append(self)

    @property
    def value(self) -> Kept:
        """The thing itself; who changes it in several steps takes it by :meth:`locked`."""
        if self._kept is None:
            with _making:
                if self._kept is None:
                    self._kept = self._make()
        return self._kept

    @contextmanager
    def locked(self) -> Iterator[Kept]:
        """Give it to one thread at a time."""
        with self._lock:
            yield self.value

    def begin_anew(self) -> None:
        """Forget it, in a copy of the process."""
        self._lock = threading.Lock()
        kept, self._kept = self._kept, None
        if kept is not None:
            _inherited.append(kept)
            if self._leave is not None:
                self._leave(kept)


def slots() -> tuple[Slot[Any], ...]:
    """Return the slots of the modules imported so far."""
    return tuple(_slots)


IMPORTING = "<frozen importlib._bootstrap>"
"""File name in the frames of Python's import."""

LONGEST_IMPORT = 10.0
"""Seconds for which a fork waits for imports in other threads."""


def _before_fork() -> None:
    """Let imports in other threads end: in the copy their modules would stay half made for ever.

    They may be those of threads that a solve has left behind.
    """
    until = time.monotonic() + LONGEST_IMPORT
    while _others_import() and time.monotonic() < until:
        time.sleep(0.001)
    _making.acquire()


def _others_import() -> bool:
    """Whether threads import that do not wait for an import of this one."""
    frames = sys._current_frames()
    if _imports(frames.pop(threading.get_ident())):
        return False
    return any(map(_imports, frames.values()))


def _imports(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != IMPORTING:
        frame = frame.f_back
    return frame is not None


def _begin_anew() -> None:
    _making.release()
    for slot in _slots:
        slot.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_making.release, after_in_child=_begin_anew
    )


class Analyses:
    """Holds what an engine has found out about the structure of the latest problem.

    It is taken out for a solve and put back after it, so that a second solve at the same time finds
    nothing here and begins anew. It holds as much memory as the engine needs for it.
    """

    def __init__(self) -> None:
        self._kept: tuple[bytes, Any] | None = None

    def __reduce__(self) -> tuple[type[Analyses], tuple[()]]:
        return Analyses, ()  # a copy of it has yet to solve

    def take(self, structure: bytes) -> Any | None:
        """Return what was kept for a structure; what was kept for another one is let go."""
        kept, self._kept = self._kept, None
        return kept[1] if kept is not None and kept[0] == structure else None

    def keep(self, structure: bytes, analysis: Any) -> None:
        """Keep this for the next solve."""
        self._kept = structure, analysis
