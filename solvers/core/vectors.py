"""Products and norms of vectors, the same whatever else the machine does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def inner(a: FloatArray, b: FloatArray) -> float:
    """Return a'b of two vectors (k,), added by one thread.

    BLAS wakes other threads for long vectors, which on a busy machine took 8 ms instead of 0.1,
    and its sum depends on how many there are. (That of ``einsum`` depends on where a vector begins
    in memory.)
    """
    return float(np.multiply(a, b).sum())


def euclidean(a: FloatArray) -> float:
    """Return the 2-norm of a vector (k,), added by one thread."""
    return float(np.sqrt(inner(a, a)))
