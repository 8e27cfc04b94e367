"""Memory for what travels, and for answers, which is used again when nobody holds them any more.

Memory that is new to the process is dear: the system clears it page by page when it is first
written to, which takes several times as long as the copy into it. Whoever solves batch after batch
and drops the answers gets the same memory again. It is ordinary memory: locked memory, which a GPU
could write to by itself, is not there any more in a process that is forked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from solvers.device import Device

ByteArray = npt.NDArray[np.uint8]

KEPT = 2
"""Blocks that wait for their next use at most."""

LARGEST_KEPT = 64 * 2**20
"""Bytes of a block up to which it waits: beside what has larger answers, clearing takes little."""

SPARE = 2
"""A block serves for what needs the whole or a part of it, down to this one."""

ALIGNMENT = 256
"""Bytes that the places of arrays in a block are multiples of, as the driver's are."""


class _Lent:
    """A block in use, which waits for its next use when the last array of it is gone."""

    waiting: ClassVar[deque[ByteArray]] = deque()

    def __init__(self, size: int) -> None:
        self._block = self._find(size)
        self.__array_interface__ = self._block.__array_interface__

    @classmethod
    def _find(cls, size: int) -> ByteArray:
        for _ in range(len(cls.waiting)):
            try:  # each step by itself is safe beside other threads
                block = cls.waiting.popleft()
            except IndexError:
                break
            if size <= block.size <= SPARE * size:
                return block
            cls.waiting.append(block)
        return np.empty(size, dtype=np.uint8)

    def __del__(self, waiting: deque[ByteArray] = waiting, most: int = LARGEST_KEPT) -> None:
        block = getattr(self, "_block", None)
        if block is None or block.size > most:
            return
        waiting.append(block)
        if len(waiting) > KEPT:
            waiting.popleft()


def used_again(size: int) -> ByteArray:
    """Return so many bytes of ordinary memory, of which some may have been used before."""
    return np.asarray(_Lent(size))[:size]


def locked_array(device: Device, size: int, kind: Any) -> npt.NDArray[Any]:
    """Return an array on the host that the device can write to by itself."""
    if device.kind == "cpu" or not size:
        return np.empty(size, dtype=kind)
    memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
    return np.frombuffer(memory, kind, size)


Shapes = Mapping[str, tuple[tuple[int, ...], npt.DTypeLike]]
"""Shapes and types of arrays, by their names."""


def side_by_side(block: Any, shapes: Shapes) -> dict[str, Any]:
    """Return arrays of shapes and types in one block of bytes; see :func:`bytes_of`."""
    found, at = {}, 0
    for name, (shape, kind) in shapes.items():
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        found[name] = block[at : at + size].view(kind).reshape(shape)
        at += -(-size // ALIGNMENT) * ALIGNMENT
    return found


def bytes_of(shapes: Shapes) -> int:
    """Return the bytes of a block that has room for arrays of shapes and types."""
    sizes = (int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes.values())
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)
