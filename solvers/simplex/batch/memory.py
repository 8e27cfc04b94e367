"""Blocks of memory with arrays side by side, which travel at once.

Each of many small transfers takes as long as one that has them all. On the host a block is locked
memory, to and from which the driver copies by itself. Answers are ordinary memory all the same:
what is locked is dear to get, and not there any more in a process that is forked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device

ALIGNMENT = 256
"""Bytes that the places of arrays in a block are multiples of, as the driver's are."""


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
        size = math.prod(shape) * np.dtype(kind).itemsize
        found[name] = block[at : at + size].view(kind).reshape(shape)
        at += -(-size // ALIGNMENT) * ALIGNMENT
    return found


def bytes_of(shapes: Shapes) -> int:
    """Return the bytes of a block that has room for arrays of shapes and types."""
    sizes = (math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes.values())
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)
