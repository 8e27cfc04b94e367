"""Synchronous bound propagation in NumPy, dense and by the book: residuals are summed anew."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import MipModel


def rests(value: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the row's sum of value * at, and that without each of its entries (inf if it is)."""
    terms = value * at
    total = np.array([np.delete(terms, k).sum() for k in range(terms.size)])
    return terms.sum(), total


def propagated(
    model: MipModel, lower: FloatArray, upper: FloatArray, limit: int = 100
) -> tuple[FloatArray, FloatArray, bool, int]:
    """Return bounds, whether the box is empty, and the number of rounds."""
    matrix = np.asarray(model.problem.matrix.todense())
    lower, upper = lower.copy(), upper.copy()
    for done in range(1, limit + 1):
        new_lower, new_upper = lower.copy(), upper.copy()
        for i in range(model.num_rows):
            columns = np.flatnonzero(matrix[i])
            value = matrix[i, columns]
            for sign, side in ((1.0, model.row_upper[i]), (-1.0, -model.row_lower[i])):
                if side == np.inf:
                    continue
                if not _tighten(
                    model, columns, sign * value, side, lower, upper, new_lower, new_upper
                ):
                    return lower, upper, True, done
        crossed = new_lower > new_upper
        if (new_lower - new_upper > 1e-6).any():
            return new_lower, new_upper, True, done
        middle = 0.5 * (new_lower[crossed] + new_upper[crossed])
        new_lower[crossed] = new_upper[crossed] = middle
        same = (new_lower == lower).all() and (new_upper == upper).all()
        lower, upper = new_lower, new_upper
        if same:
            return lower, upper, False, done
    return lower, upper, False, limit


def _tighten(
    model: MipModel,
    columns: np.ndarray,
    value: FloatArray,
    side: float,
    lower: FloatArray,
    upper: FloatArray,
    new_lower: FloatArray,
    new_upper: FloatArray,
) -> bool:
    """Tighten by value * x <= side; False if that cannot hold."""
    least, without = rests(value, np.where(value > 0.0, lower[columns], upper[columns]))
    if least > side + max(1e-6, 1e-9 * abs(side)):
        return False
    for j, a, rest in zip(columns, value, without, strict=True):
        if not np.isfinite(rest) or abs(a) < 1e-9 or lower[j] == upper[j]:
            continue
        low, high = (lower[j], upper[j]) if a > 0.0 else (-upper[j], -lower[j])
        bound = max((side - rest) / abs(a), low)
        if model.is_integer[j]:
            bound = np.floor(bound + 1e-6)
        else:
            bound += 1e-9 * max(1.0, abs(bound))
            width = high - low if np.isfinite(low) else 0.0
            if np.isfinite(high) and high - bound <= 1e-3 * max(1.0, abs(high), width):
                continue
        if a > 0.0:
            new_upper[j] = min(new_upper[j], bound)
        else:
            new_lower[j] = max(new_lower[j], -bound)
    return True
