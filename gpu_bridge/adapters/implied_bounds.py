"""Bounds of a few columns that follow from the rows, for columns that declare none.

A row ``low <= sum a_j x_j <= high`` bounds x_k by what the other terms can make up for:
``a_k x_k <= high - sum of the others' least values`` (Brearley, Mitra and Williams, 1975). Some
sweeps over the rows of the wanted columns are enough for the convex-combination rows that
special ordered sets come with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

from solvers.core.problem import FloatArray

SWEEPS = 3


def imply_bounds(
    matrix: sp.csr_array,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    columns: Iterable[int],
) -> tuple[FloatArray, FloatArray]:
    """Return bounds (n,) in which infinite ones of ``columns`` are replaced where rows allow."""
    lower, upper = lower.copy(), upper.copy()
    by_columns = matrix.tocsc()
    wanted = [j for j in columns if not (np.isfinite(lower[j]) and np.isfinite(upper[j]))]
    for _ in range(SWEEPS):
        for j in wanted:
            for i in by_columns.indices[by_columns.indptr[j] : by_columns.indptr[j + 1]]:
                low, high = _from_row(matrix, int(i), j, row_lower[i], row_upper[i], lower, upper)
                lower[j] = max(lower[j], low)
                upper[j] = min(upper[j], high)
    return lower, upper


def _from_row(
    matrix: sp.csr_array,
    row: int,
    column: int,
    row_low: float,
    row_high: float,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[float, float]:
    """Return the bounds that one row puts on one of its columns."""
    entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
    indices, factors = matrix.indices[entries], matrix.data[entries]
    own = float(factors[indices == column][0])
    others = indices != column
    a, low, high = factors[others], lower[indices[others]], upper[indices[others]]
    least = float(np.sum(np.where(a > 0, a * low, a * high)))
    most = float(np.sum(np.where(a > 0, a * high, a * low)))
    bounds = (row_low - most) / own, (row_high - least) / own
    return (bounds[0], bounds[1]) if own > 0 else (bounds[1], bounds[0])
