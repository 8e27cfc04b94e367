"""What generators share: a random source, sizes, and sides around a known point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray, Problem

INF = float("inf")
Random = np.random.Generator


def size(rng: Random, most: int = 12) -> int:
    """Return a number of rows or columns, mostly small."""
    return int(rng.integers(1, 1 + int(rng.choice([3, 6, most]))))


def sparse(rng: Random, m: int, n: int, low: int = -5, high: int = 9) -> FloatArray:
    """Return an (m, n) matrix of whole numbers, a part of them zero."""
    A = rng.integers(low, high + 1, (m, n)).astype(float)
    return np.asarray(A * (rng.random((m, n)) < rng.uniform(0.3, 1.0)))


def decimals(rng: Random, shape: int | tuple[int, ...], digits: int = 2) -> FloatArray:
    """Return numbers up to 10 with a few decimals."""
    return np.asarray(rng.uniform(-10, 10, shape).round(digits))


def sides_around(rng: Random, activity: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sides of every sort that a row activity meets, some of them exactly."""
    m = activity.size
    below, above = (activity + s * rng.integers(0, 4, m) for s in (-1, 1))
    kind = rng.integers(0, 5, m)
    low = np.where(np.isin(kind, (0, 2)), below, -INF)
    high = np.where(np.isin(kind, (1, 2)), above, INF)
    low, high = (np.where(kind == 3, activity, side) for side in (low, high))
    return low, high


def box_with(rng: Random, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds of every sort around a point: free, one-sided, boxed and fixed columns."""
    kind = rng.integers(0, 6, x.size)
    low = np.where(kind == 0, -INF, np.minimum(0.0, x - rng.integers(0, 3, x.size)))
    high = np.where(np.isin(kind, (0, 1, 2)), INF, x + rng.integers(0, 6, x.size))
    low = np.where(kind == 4, -INF, np.where(kind == 5, x, low))
    return low, np.where(kind == 5, x, high)


def whole(
    cost: npt.ArrayLike,
    A: npt.ArrayLike,
    row_lower: npt.ArrayLike | float = -INF,
    row_upper: npt.ArrayLike | float = INF,
    *,
    upper: npt.ArrayLike | float = 1.0,
    lower: npt.ArrayLike | float = 0.0,
    maximize: bool = False,
) -> Problem:
    """Return a model of whole-number columns, binary unless told otherwise."""
    return Problem.from_arrays(
        cost,
        np.atleast_2d(np.asarray(A, dtype=float)),
        row_lower,
        row_upper,
        lower=lower,
        upper=upper,
        integrality=True,
        maximize=maximize,
    )
