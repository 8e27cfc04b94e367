"""Numba twins of ``matrix.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin


@twin
def multiply(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes, vector, product
):
    """Multiply the matrix by a vector."""
    for i in prange(rows):
        total = 0.0
        for entry in range(starts[i], starts[i + 1]):
            total += values[entry] * vector[indices[entry]]
        product[i] = total


@twin
def row_sizes(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    row_scale, column_scale, smallest, largest, total,
):  # fmt: skip
    """Find the extremes and the sum of the scaled magnitudes of each row."""
    for i in prange(rows):
        least, most, added = np.inf, 0.0, 0.0
        for entry in range(starts[i], starts[i + 1]):
            size = abs(row_scale[i] * values[entry] * column_scale[indices[entry]])
            least = min(least, size)
            most = max(most, size)
            added += size
        smallest[i] = least
        largest[i] = most
        total[i] = added


@twin
def scale_entries(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    row_scale, column_scale, scaled,
):  # fmt: skip
    """Scale every entry by its row's and its column's factor."""
    for i in prange(rows):
        for entry in range(starts[i], starts[i + 1]):
            scaled[entry] = row_scale[i] * values[entry] * column_scale[indices[entry]]
