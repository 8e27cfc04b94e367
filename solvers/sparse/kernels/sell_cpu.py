"""Numba twin of ``sell.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import prange, uint64

from solvers.kernels.storage import column_at, value_at
from solvers.kernels.twin import twin


@twin
def sell_multiply(
    rows, slice_shift, slice_starts, lengths, order, ordered,
    indices, values, dictionary, bases, base_shift, vector, product,
):  # fmt: skip
    """Multiply the matrix by a vector."""
    height = uint64(1 << slice_shift)
    for place in prange(rows):
        entry = uint64(slice_starts[place >> slice_shift] + (place & ((1 << slice_shift) - 1)))
        total = 0.0
        for _ in range(lengths[place]):
            column = column_at(indices, entry, bases, place, base_shift)
            total += value_at(values, entry, dictionary) * vector[column]
            entry += height
        if ordered:
            product[order[place]] = total
        else:
            product[place] = total
