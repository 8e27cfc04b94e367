"""The numbers that columns are prioritised by, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.model import FEASIBILITY_TOLERANCE


@compiled
def neighbours(columns, row_start, row_column, is_integer, column_start, column_row):
    """Return the number (k,) of entries of other integer columns in each column's rows."""
    integers = np.zeros(row_start.size - 1, dtype=np.int64)
    for i in range(integers.size):
        for entry in range(row_start[i], row_start[i + 1]):
            integers[i] += is_integer[row_column[entry]]
    found = np.zeros(columns.size, dtype=np.int64)
    for at in range(columns.size):
        j = columns[at]
        for entry in range(column_start[j], column_start[j + 1]):
            found[at] += integers[column_row[entry]] - 1
    return found


@compiled
def _slacks(row_start, row_column, row_value, row_lower, row_upper, lower, upper):
    """Return the room (m,) between each side and the activity farthest from it; inf if none."""
    above = np.full(row_lower.size, np.inf)
    below = np.full(row_lower.size, np.inf)
    for i in range(row_lower.size):
        smallest, largest = 0.0, 0.0
        for entry in range(row_start[i], row_start[i + 1]):
            a, j = row_value[entry], row_column[entry]
            smallest += a * (lower[j] if a > 0.0 else upper[j])
            largest += a * (upper[j] if a > 0.0 else lower[j])
        if np.isfinite(row_upper[i]) and np.isfinite(smallest):
            above[i] = row_upper[i] - smallest
        if np.isfinite(row_lower[i]) and np.isfinite(largest):
            below[i] = largest - row_lower[i]
    return above, below


@compiled
def conflicts(
    columns, row_start, row_column, row_value, row_lower, row_upper,
    column_start, column_row, column_value, lower, upper,
):  # fmt: skip
    """Return the three criteria of each column: rows violated, largest excess, least slack."""
    above, below = _slacks(row_start, row_column, row_value, row_lower, row_upper, lower, upper)
    violated = np.zeros(columns.size, dtype=np.int64)
    excess = np.zeros(columns.size)
    slack = np.full(columns.size, np.inf)
    for at in range(columns.size):
        j = columns[at]
        rising, falling, count, worst, least = False, False, 0, 0.0, np.inf
        for entry in range(column_start[j], column_start[j + 1]):
            i, a = column_row[entry], column_value[entry]
            for side in range(2):
                infinite = np.isinf(row_upper[i]) if side == 0 else np.isinf(row_lower[i])
                if infinite or a == 0.0:
                    continue
                if (a > 0.0) == (side == 0):
                    rising = True
                else:
                    falling = True
                room = above[i] if side == 0 else below[i]
                beyond = abs(a) * (upper[j] - lower[j]) - room
                if np.isfinite(room) and beyond > FEASIBILITY_TOLERANCE:
                    count += 1
                    worst = max(worst, beyond)
                least = min(least, max(room, FEASIBILITY_TOLERANCE) / abs(a))
        if rising and falling:
            violated[at] = count
            excess[at] = worst
        slack[at] = least
    return violated, excess, slack
