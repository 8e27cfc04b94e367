"""What the Numba twins share: the functions of ``paper.cuh``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.simplex.paper.kernels.layout import (
    BLAND,
    PRIMAL_TOLERANCE,
    SLOTS,
    ZERO_PIVOT,
)

INFINITY = np.inf


@numba.njit(inline="always")
def better(key, index, best_key, best_index):
    """Whether a candidate beats the best so far: larger key, then smaller index."""
    return best_index < 0 or key > best_key or (key == best_key and index < best_index)


@numba.njit(inline="always")
def best_of_parts(parts, count):
    """Return the place of the best candidate among what the parts left; -1 without one."""
    place, best_key, best_index = -1, 0.0, -1.0
    for part in range(count):
        key, index = parts[SLOTS * part], parts[SLOTS * part + 1]
        if index >= 0.0 and better(key, index, best_key, best_index):
            place, best_key, best_index = part, key, index
    return place


@numba.njit(inline="always")
def ratio_of(x, d, artificial, control):
    """Return the exact and the relaxed step to a variable's bound; infinite if it has none."""
    tolerance = control[PRIMAL_TOLERANCE]
    allowed = 0.0 if control[BLAND] != 0.0 else tolerance
    exact, relaxed = INFINITY, INFINITY
    if d > control[ZERO_PIVOT]:
        if x >= -tolerance:
            exact, relaxed = max(x, 0.0) / d, (max(x, 0.0) + allowed) / d
    elif d < -control[ZERO_PIVOT] and (x < -tolerance or (artificial and x <= tolerance)):
        exact, relaxed = max(-x, 0.0) / -d, (max(-x, 0.0) + allowed) / -d
    return exact, relaxed


@numba.njit(inline="always")
def infeasibility_cost(x, artificial, tolerance):
    """Return the cost in phase 1 of a basic variable."""
    cost = 0.0
    if x < -tolerance:
        cost = -1.0
    elif artificial and x > tolerance:
        cost = 1.0
    return cost
