"""Numba twin of ``csr.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import prange, uint64

from solvers.kernels.storage import column_at, value_at
from solvers.kernels.twin import twin


@twin
def csr_multiply(
    rows, starts, indices, values, dictionary, bases, base_shift, order, ordered,
    end_1, end_2, end_4, end_8, end_16, end_32, long_length, chunk, chunks, chunk_rows,
    chunk_firsts, partials, tickets, vector, product,
):  # fmt: skip
    """Multiply the matrix by a vector."""
    for row in prange(rows):
        total = 0.0
        for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
            column = column_at(indices, entry, bases, row, base_shift)
            total += value_at(values, entry, dictionary) * vector[column]
        product[row] = total
