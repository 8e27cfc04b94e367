"""The long loops of probing, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.state import LEVEL, TRAIL


@compiled
def _conflicts(value, j, lower, upper, first_upper, start, column, low, high):
    """Return the entries of the side that holds ``value`` which the bounds contradict."""
    found = 1 if value < lower[j] or value > upper[j] else 0
    if np.isnan(first_upper[j]):
        return found
    side = 2 * j + (1 if value > first_upper[j] else 0)
    for entry in range(start[side], start[side + 1]):
        k = column[entry]
        if low[entry] > upper[k] or high[entry] < lower[k]:
            found += 1
    return found


@compiled
def _other_value(value, j, lower, upper, first_upper, second_lower):
    """Return the nearest value of the other side within the bounds, or the same value."""
    if np.isnan(first_upper[j]):
        return value
    if value > first_upper[j]:
        return first_upper[j] if first_upper[j] >= lower[j] else value
    return second_lower[j] if second_lower[j] <= upper[j] else value


@compiled
def choose(
    columns, first, second, lower, upper,
    first_upper, second_lower, start, column, low, high,
):  # fmt: skip
    """Round a bulk; ``ProbingCache.choose`` says how. Writes to the first five but ``columns``."""
    for at in range(columns.size):
        j = columns[at]
        value = min(max(first[at], lower[j]), upper[j])
        other = min(max(second[at], lower[j]), upper[j])
        conflicts = _conflicts(value, j, lower, upper, first_upper, start, column, low, high)
        if conflicts > 0:
            if other == value:
                other = _other_value(value, j, lower, upper, first_upper, second_lower)
            if other != value:
                rest = _conflicts(other, j, lower, upper, first_upper, start, column, low, high)
                if rest < conflicts:
                    value, other, conflicts = other, value, rest
        first[at], second[at] = value, other
        if conflicts == 0 and not np.isnan(first_upper[j]):
            side = 2 * j + (1 if value > first_upper[j] else 0)
            for entry in range(start[side], start[side + 1]):
                k = column[entry]
                lower[k] = max(lower[k], low[entry])
                upper[k] = min(upper[k], high[entry])
        lower[j] = value
        upper[j] = value


@compiled
def collect(matrix, box, place, probed, at, column, low, high):
    """Write the integer columns that a box has narrowed since ``place``, with their bounds.

    They go to place ``at`` of the last three and on; returns the end.
    """
    n = matrix.is_integer.size
    for entry in range(place, box.counts[TRAIL]):
        code = box.trail_code[entry]
        if code < 0 or code >= 2 * n:
            continue
        k = code % n
        if matrix.is_integer[k] == 0 or k == probed:
            continue
        if code >= n and box.stamp[k] == box.counts[LEVEL]:
            continue  # its lower bound changed at this level, too, and stands for both
        column[at], low[at], high[at] = k, box.bounds[0, k], box.bounds[1, k]
        at += 1
    return at
