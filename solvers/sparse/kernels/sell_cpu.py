"""Numba twin of ``sell.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import prange

from solvers.kernels.storage import column_at, value_at
from solvers.kernels.twin import twin


@twin
def sell_multiply(
    rows, slice_shift, slice_starts, lengths, order, ordered,
    indices, values, dictionary, bases, base_shift, vector, product,
):  # fmt: skip
    """Multiply the matrix by a vector."""
    height = 1 << slice_shift
    for place in prange(rows):
        first = slice_starts[place >> slice_shift] + (place & (height - 1))
        total = 0.0
        for k in range(lengths[place]):
            entry = first + k * height
            column = column_at(indices, entry, bases, place, base_shift)
            total += value_at(values, entry, dictionary) * vector[column]
        if ordered:
            product[order[place]] = total
        else:
            product[place] = total
