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


def separation(
    rows: tuple[FloatArray, FloatArray],
    columns: tuple[FloatArray, FloatArray],
    y: FloatArray,
    g: FloatArray,
    horizon: float,
) -> tuple[float, float]:
    """Return what a Farkas ray proves, and the magnitudes that it sums up.

    Every x within its bounds that meets the rows has ``supp(y; sides) <= y'Ax = g'x <= reach``;
    what is proven is the left side minus the right one.

    Parameters
    ----------
    rows, columns : pairs of arrays
        Lower and upper sides (m,) and bounds (n,); a side that y leans on is finite.
    y : (m,) array
    g : (n,) array
        A'y.
    horizon : float
        How far a column is taken to go where it has no bound.
    """
    side = np.where(y > 0, *rows)
    farthest = np.where(g > 0, columns[1], columns[0])
    farthest = np.where(np.isfinite(farthest), farthest, np.copysign(horizon, g))
    size = _dot(np.abs(y), np.abs(side)) + _dot(np.abs(g), np.abs(farthest))
    return _dot(y, side) - _dot(g, farthest), size


def _dot(multiplier: FloatArray, value: FloatArray) -> float:
    """Return the sum of products, where zero times infinity is zero."""
    used = multiplier != 0
    return inner(multiplier[used], value[used])
