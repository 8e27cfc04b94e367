"""Numba twins of ``elimination.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin


@twin
def find_pivot(n, k, augmented, row):
    """Find the largest entry of a column, from a row on."""
    largest = 0.0
    for i in range(k, n):
        largest = max(largest, abs(augmented[i, k]))
    row[0] = n
    for i in range(k, n):
        if abs(augmented[i, k]) == largest:
            row[0] = i
            break


@twin
def swap_rows(n, k, other, augmented):
    """Interchange two rows."""
    for j in prange(n + 1):
        kept = augmented[k, j]
        augmented[k, j] = augmented[other, j]
        augmented[other, j] = kept


@twin
def eliminate(n, k, augmented):
    """Subtract multiples of a row from those below."""
    for i in prange(k + 1, n):
        multiplier = np.divide(augmented[i, k], augmented[k, k])
        for j in range(k + 1, n + 1):
            augmented[i, j] -= multiplier * augmented[k, j]
