"""Numba twins of ``matrix.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.pdlp.kernels.products_cpu import (
    entry_value,
    row_entries,
    slice_product,
    slice_rows,
)


@twin
def multiply(
    slices, height, meta, indices, values, table, splits, partials, tickets, vector, product
):
    """Multiply the matrix by a vector."""
    for at in prange(slices):
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            product[first + which] = slice_product(
                height, meta, indices, values, table, at, which, vector
            )


@twin
def multiply_scaled(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    factor, vector, product,
):  # fmt: skip
    """Multiply the matrix by a vector, and each row by its factor."""
    for at in prange(slices):
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            i = first + which
            product[i] = factor[i] * slice_product(
                height, meta, indices, values, table, at, which, vector
            )


@twin
def rescale(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    mode, row_scale, column_scale, rescaled,
):  # fmt: skip
    """Divide the scale of each row by the root of the row's size."""
    for at in prange(slices):
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            i = first + which
            least, most, added = np.inf, 0.0, 0.0
            begin, steps, stride, lanes = row_entries(height, meta, at, which)
            for step in range(steps):
                for entry in range(begin + step * stride, begin + step * stride + lanes):
                    value = entry_value(values, table, entry)
                    if value != 0.0:
                        size = abs(value * column_scale[indices[entry]])
                        least = min(least, size)
                        most = max(most, size)
                        added += size
            own = row_scale[i]
            if mode == 0:
                size = own * least * own * most if most > 0.0 else 0.0
            else:
                size = own * (most if mode == 1 else added)
            rescaled[i] = own / np.sqrt(size) if 0.0 < size < np.inf else own


@twin
def balance(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    column_scale, balanced,
):  # fmt: skip
    """Find one over the geometric mean of the magnitudes of each row."""
    for at in prange(slices):
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            total, count = 0.0, 0.0
            begin, steps, stride, lanes = row_entries(height, meta, at, which)
            for step in range(steps):
                for entry in range(begin + step * stride, begin + step * stride + lanes):
                    value = entry_value(values, table, entry)
                    if value != 0.0:
                        total += np.log(abs(value * column_scale[indices[entry]]))
                        count += 1.0
            balanced[first + which] = np.exp(-total / count) if count > 0.0 else 1.0
