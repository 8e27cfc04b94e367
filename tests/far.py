"""Arrays longer than 2^31 elements, of which only what is written takes memory."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.linear_algebra import SparseRows

FAR = 2**31 + 96
"""Entries in front of those that a test looks at; a multiple of a slice's lanes."""

NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def far_behind(values: npt.NDArray[Any], before: int = FAR) -> npt.NDArray[Any]:
    """Return an array of the values and zeros before them, which nobody may look at as a whole."""
    size = (before + values.size) * values.itemsize
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    found = np.frombuffer(memory, dtype=values.dtype)
    found[before:] = values
    return found


def wide(matrix: SparseRows) -> SparseRows:
    """Return a matrix with the indices of one of more than 2^31 entries."""
    indices, indptr = (one.astype(np.int64) for one in (matrix.indices, matrix.indptr))
    return SparseRows(matrix.data, indices, indptr, matrix.shape)


def far(matrix: SparseRows) -> SparseRows:
    """Return a matrix whose entries stand behind 2^31 others that are in none of its rows."""
    moved = wide(matrix)
    return SparseRows(
        far_behind(moved.data), far_behind(moved.indices), moved.indptr + FAR, moved.shape
    )
