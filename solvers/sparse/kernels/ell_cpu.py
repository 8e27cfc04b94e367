"""Numba twin of ``ell.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin


@twin
def ell_multiply(rows, lengths, indices, values, vector, product):
    """Multiply the matrix by a vector."""
    for row in prange(rows):
        total = 0.0
        for k in range(lengths[row]):
            entry = k * rows + row
            total += values[entry] * vector[indices[entry]]
        product[row] = total
