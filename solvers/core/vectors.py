"""Figures of vectors, the same for any number of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.machine import threads_for

FloatArray = npt.NDArray[np.float64]

SMALL = 20_000
"""Values, or entries of a matrix, up to which NumPy reads them; from there on SciPy, whose import
takes a tenth of a second and whose products take a third of the time, or a compiled loop."""


def size_range(*vectors: FloatArray) -> tuple[float, float]:
    """Return the smallest size of the finite values of vectors other than zero, and the largest.

    Without any they are infinity and zero.
    """
    if len(vectors) > 1:
        if sum(values.size for values in vectors) > SMALL:
            ranges = [size_range(values) for values in vectors]
            return min(least for least, _ in ranges), max(most for _, most in ranges)
        vectors = (np.concatenate(vectors),)
    (values,) = vectors
    if values.size > SMALL:
        from solvers.native.core_linear_algebra import size_range as found_by_blocks

        found = np.empty(2)
        found_by_blocks(values, found, threads_for(values.size))
        return float(found[0]), float(found[1])
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return float(sizes.min(initial=np.inf)), float(sizes.max(initial=0.0))


ADDED = 256
"""Products that a compiled loop adds one after the other; blocks are added in pairs."""

BY_BLOCKS = 1_000_000
"""Length of vectors from which one adds products; it spares a vector of them."""


def inner(a: FloatArray, b: FloatArray) -> float:
    """Return a'b of two vectors (k,), the same for any number of threads.

    BLAS wakes other threads for vectors that are not worth it, which on a busy machine took 8 ms
    instead of 0.1, and its sum depends on how many there are. (That of ``einsum`` depends on where
    a vector begins in memory.)
    """
    return float(_inner(a, b))


def inners(*pairs: tuple[FloatArray, FloatArray]) -> list[float]:
    """Return a'b of each pair; a GPU is waited for once, after all of them are queued."""
    return [float(value) for value in [_inner(a, b) for a, b in pairs]]


def norms(*vectors: FloatArray) -> list[float]:
    """Return the 2-norm of each vector; a GPU is waited for once."""
    return [math.sqrt(value) for value in inners(*((a, a) for a in vectors))]


def _inner(a: FloatArray, b: FloatArray) -> Any:
    """Return a'b, which is still to come where the vectors are a GPU's."""
    if a.size < BY_BLOCKS or not (isinstance(a, np.ndarray) and a.dtype == b.dtype == np.float64):
        return np.multiply(a, b).sum()
    from solvers.native.core_linear_algebra import inner_of_blocks

    sums = np.empty(-(-a.size // ADDED))
    one, other = np.ascontiguousarray(a), np.ascontiguousarray(b)
    inner_of_blocks(one, other, sums, threads_for(a.size))
    return sums.sum()


def euclidean(a: FloatArray) -> float:
    """Return the 2-norm of a vector (k,), the same for any number of threads."""
    return float(np.sqrt(inner(a, a)))


def support(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of multipliers (k,) times the sides that they lean on, from below where > 0.

    It is not finite where one leans on a side that there is not.
    """
    side = np.where(multiplier > 0, low, high)
    return inner(multiplier, np.where(multiplier != 0, side, 0.0))
