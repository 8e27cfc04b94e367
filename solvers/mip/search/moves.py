"""Changing one column: activities, the list of violated rows, the objective; all in O(column)."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.loops import compiled, inlined
from solvers.mip.search.settings import LARGEST_VALUE, VIOLATION_TOLERANCE, WIDENING

SHIFT_A, SHIFT_B, SHIFT_C, HALF = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(32)
"""Shifts of Marsaglia's xorshift generator of 64 bits, and the half of them that is used."""

FINE = np.int64(1 << 30)
"""Steps between 0 and 1 of :func:`uniform`."""


@inlined
def draw(status, bound):
    """Return a whole number from 0 to ``bound`` - 1 (below 2^32)."""
    word = status.random
    word ^= word << SHIFT_A
    word ^= word >> SHIFT_B
    word ^= word << SHIFT_C
    status.random = word
    return np.int64(((word >> HALF) * np.uint64(bound)) >> HALF)


@inlined
def uniform(status):
    """Return a number in [0, 1)."""
    return draw(status, FINE) / FINE


@compiled
def set_value(matrix, state, j, value):
    """Give column j a value, and bring all that depends on it up to date."""
    status = state.status[0]
    column = state.columns[j]
    delta = value - column.x
    column.x = value
    status.objective += column.cost * delta
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    status.work += last - first
    for k in range(first, last):
        i = np.uint32(matrix.column_row[np.uint64(k)])
        row = state.rows[i]
        change = matrix.column_value[np.uint64(k)] * delta - row.error
        total = row.activity + change
        row.error = (total - row.activity) - change
        row.activity = total
        outside = total < row.lower - VIOLATION_TOLERANCE or total > row.upper + VIOLATION_TOLERANCE
        if outside != (row.place >= 0):
            if outside:
                row.place = status.num_violated
                state.violated[status.num_violated] = i
                status.num_violated += 1
            else:
                status.num_violated -= 1
                other = state.violated[status.num_violated]
                state.violated[row.place] = other
                state.rows[other].place = row.place
                row.place = -1


@compiled
def make_move(matrix, state, parameters, j, delta):
    """Change column j by ``delta`` and forbid the way back for a while."""
    status = state.status[0]
    column = state.columns[j]
    value = min(max(column.x + delta, column.lower), column.upper)
    if column.whole == 1:
        value = np.round(value)
        if status.boxed == 1 and (value == column.lower or value == column.upper):
            widen(state, j)
    set_value(matrix, state, j, value)
    until = status.step + parameters.tabu_base + draw(status, parameters.tabu_spread + 1)
    if delta > 0.0:
        column.no_fall = until
    else:
        column.no_rise = until
    column.changed = status.step
    status.moves += 1
    status.moves_since_refresh += 1


@compiled
def widen(state, j):
    """Push the walls of a free integer's box outward; true bounds stay."""
    column = state.columns[j]
    if state.bounds[j, 0] < column.lower:
        low = column.lower - (WIDENING - 1.0) * max(1.0, abs(column.lower))
        column.lower = max(state.bounds[j, 0], max(low, -LARGEST_VALUE))
    if state.bounds[j, 1] > column.upper:
        high = column.upper + (WIDENING - 1.0) * max(1.0, abs(column.upper))
        column.upper = min(state.bounds[j, 1], min(high, LARGEST_VALUE))


@compiled
def refresh(matrix, state):
    """Sum activities and objective anew from the point, and list the violated rows."""
    status = state.status[0]
    status.num_violated = 0
    for i in range(state.rows.size):
        row = state.rows[i]
        total, error = 0.0, 0.0
        for k in range(matrix.row_start[i], matrix.row_start[i + 1]):
            change = matrix.row_value[k] * state.columns[np.uint32(matrix.row_column[k])].x - error
            larger = total + change
            error = (larger - total) - change
            total = larger
        row.activity, row.error, row.place = total, error, -1
        if total < row.lower - VIOLATION_TOLERANCE or total > row.upper + VIOLATION_TOLERANCE:
            row.place = status.num_violated
            state.violated[status.num_violated] = i
            status.num_violated += 1
    objective = 0.0
    for j in range(state.columns.size):
        objective += state.columns[j].cost * state.columns[j].x
    status.objective = objective
    status.moves_since_refresh = 0
    status.work += matrix.row_value.size


@compiled
def keep_point(state, which):
    """Write the current point to one of those kept."""
    for j in range(state.columns.size):
        state.kept[which, j] = state.columns[j].x
