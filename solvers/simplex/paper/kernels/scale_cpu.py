"""Numba twins of ``scale.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin


@twin
def geometric(size, starts, indices, values, other, scale):
    """Scales that bring the smallest and largest coefficient of an owner round one."""
    for owner in prange(size):
        smallest, largest = 0.0, 0.0
        for k in range(starts[owner], starts[owner + 1]):
            entry = abs(values[k] * other[indices[k]])
            if entry != 0.0:
                smallest = entry if smallest == 0.0 else min(smallest, entry)
                largest = max(largest, entry)
        scale[owner] = 1.0 / np.sqrt(smallest * largest) if largest > 0.0 else 1.0


@twin
def apply_scales(size, starts, indices, values, own, other, scaled):
    """Multiply coefficients by the scales of their row and column."""
    for owner in prange(size):
        for k in range(starts[owner], starts[owner + 1]):
            scaled[k] = values[k] * own[owner] * other[indices[k]]
