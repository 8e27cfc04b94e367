"""Numba twin of ``ell.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange, uint64

from solvers.kernels.twin import twin


@twin
def ell_multiply(rows, lengths, indices, values, vector, product):
    """Multiply the matrix by a vector."""
    for row in prange(rows):
        entry = uint64(row)
        total = 0.0
        for _ in range(lengths[row]):
            total += values[entry] * vector[uint64(indices[entry])]
            entry += uint64(rows)
        product[row] = total
