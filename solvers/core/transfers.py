"""Copies of large arrays between the host and a GPU, through pinned memory piece by piece.

The driver copies memory that is not pinned on one thread, at 2 to 3 GB/s on a machine with an H200
whose bus does 50. Here all cores copy a piece to or from pinned memory while the piece before is on
its way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.machine import threads_for

PIECE = 1 << 24
"""Bytes that are copied at a time, enough for several threads."""

Array = npt.NDArray[Any]


class Pinned:
    """Two pinned places of host memory, of a piece each, that take turns, for the current stream.

    Used in a ``with`` block, at whose end copies are over: the memory then goes to somebody else.

    Parameters
    ----------
    xp : module
        CuPy, whose current GPU is meant.
    """

    def __init__(self, xp: Any) -> None:
        cuda = xp.cuda
        self._stream = cuda.get_current_stream()
        self._places = [
            np.frombuffer(cuda.alloc_pinned_memory(PIECE), np.uint8, PIECE) for _ in range(2)
        ]
        self._events = [cuda.Event() for _ in range(2)]
        self._turn = 0

    def __enter__(self) -> Pinned:
        return self

    def __exit__(self, *error: object) -> None:
        for event in self._events:
            event.synchronize()

    def send(self, values: Array, target: Any) -> None:
        """Copy a contiguous vector into one of the device of that length, of another type maybe.

        The copy may still be under way; the values may change.
        """
        place, event = self._next()
        event.synchronize()
        staged = place[: target.nbytes].view(target.dtype)
        copy(values, staged)
        target.set(staged, stream=self._stream)
        event.record(self._stream)

    def begin_fetch(self, source: Any) -> tuple[Array, Any]:
        """Begin to copy a vector of the device; return its place and what tells that it is there.

        The place is used again at the call after the next one.
        """
        place, event = self._next()
        staged = place[: source.nbytes].view(source.dtype)
        source.get(stream=self._stream, out=staged, blocking=False)
        event.record(self._stream)
        return staged, event

    def _next(self) -> tuple[Array, Any]:
        self._turn ^= 1
        return self._places[self._turn], self._events[self._turn]


def send(xp: Any, array: Array) -> Any:
    """Return a copy of a contiguous host array in a GPU's memory, on the current stream."""
    target = xp.empty(array.shape, dtype=array.dtype)
    overwrite(xp, target, array)
    return target


def overwrite(xp: Any, target: Any, array: Array) -> None:
    """Overwrite a GPU's contiguous array with one of the host, on the current stream."""
    flat, there, step = array.reshape(-1), target.reshape(-1), PIECE // array.itemsize
    with Pinned(xp) as pinned:
        for first in range(0, flat.size, step):
            pinned.send(flat[first : first + step], there[first : first + step])


def fetch(xp: Any, array: Any, found: Array, order: Array | None = None) -> None:
    """Copy a GPU's contiguous array to such a one of the host; waits for the current stream.

    With an ``order`` (int32), as long as the array, its elements go to these places of ``found``.
    """
    flat, there, step = found.reshape(-1), array.reshape(-1), PIECE // array.itemsize
    under_way = None
    with Pinned(xp) as pinned:
        for first in (*range(0, there.size, step), there.size):
            before = under_way
            if first < there.size:
                under_way = first, *pinned.begin_fetch(there[first : first + step])
            if before is not None:
                begin, staged, event = before
                event.synchronize()
                own = slice(begin, begin + staged.size)
                if order is None:
                    copy(staged, flat[own])
                else:
                    put_back(staged, order[own], flat)


def put_back(values: Array, order: Array, found: Array) -> None:
    """Put figures (rows,) at places of a vector, on all cores."""
    from solvers.native.core_linear_algebra import put_back as put

    put(values, order.astype(np.int32, copy=False), found, threads_for(values.size))


def copy(source: Array, target: Array) -> None:
    """Copy a contiguous vector into another one, on all cores where it is of the same type."""
    if source.dtype != target.dtype:
        np.copyto(target, source, casting="unsafe")
        return
    from solvers.native.core_linear_algebra import copy_bytes

    copy_bytes(source.view(np.uint8), target.view(np.uint8), threads_for(source.nbytes))
