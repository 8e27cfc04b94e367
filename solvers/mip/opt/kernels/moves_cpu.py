"""Numba twins of ``moves.cu``: which moves improve a feasible point, as plain loops.

The inlined helpers also serve where moves are checked again and applied (``opt.apply``).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numba
import numpy as np
from numba import prange

from solvers.kernels.twin import twin

SLOP = 1e-7
"""Violation of a row that moves of integer columns may leave: a tenth of the tolerance."""

CLEAR = 1e-9
"""Steps of continuous columns up to here count as none."""


@numba.njit(inline="always")
def room(side, activity, slop):
    """Return how far the activity may move towards a side, or away from it if ``side`` is lower."""
    return max(side - activity + slop, 0.0)


@numba.njit(inline="always")
def shift_room(j, cost, lower, upper, x):
    """Return how far the bound lets column j go in the direction in which the objective falls."""
    return max(upper[j] - x[j] if cost[j] < 0.0 else x[j] - lower[j], 0.0)


@numba.njit(inline="always")
def shift_step(j, column_start, column_row, column_value, row_lower, row_upper, activity,
               cost, lower, upper, x, is_integer):  # fmt: skip
    """Return the largest step of column j."""
    step = shift_room(j, cost, lower, upper, x)
    slop = SLOP if is_integer[j] else 0.0
    for entry in range(column_start[j], column_start[j + 1]):
        i = column_row[entry]
        rise = column_value[entry] if cost[j] < 0.0 else -column_value[entry]
        if rise > 0.0:
            free = room(row_upper[i], activity[i], slop)
        else:
            free = room(-row_lower[i], -activity[i], slop)
        if free < np.inf:
            most = free / abs(rise)
            step = min(step, np.floor(most) if is_integer[j] else most)
    return step


@twin
def score_shifts(
    count, columns, row_start, column_start, column_row, column_value, row_lower, row_upper,
    activity, cost, lower, upper, x, is_integer, step, blocking,
):  # fmt: skip
    """Find the largest step of each column, and the shortest row that allows none."""
    for at in prange(count):
        j = columns[at]
        best = shift_room(j, cost, lower, upper, x)
        whole = is_integer[j] != 0
        slop = SLOP if whole else 0.0
        row, length = -1, 0
        for entry in range(column_start[j], column_start[j + 1]):
            i = column_row[entry]
            rise = column_value[entry] if cost[j] < 0.0 else -column_value[entry]
            if rise > 0.0:
                free = room(row_upper[i], activity[i], slop)
            else:
                free = room(-row_lower[i], -activity[i], slop)
            if free < np.inf:
                most = free / abs(rise)
                if whole:
                    most = np.floor(most)
                best = min(best, most)
                entries = row_start[i + 1] - row_start[i]
                if most <= CLEAR and (row < 0 or entries < length):
                    row, length = i, entries
        step[at] = best
        blocking[at] = row


@numba.njit(inline="always")
def pair_step(j, most, k, move, column_start, column_row, column_value, row_lower, row_upper,
              activity, cost, is_integer):  # fmt: skip
    """Return the largest step of column j up to ``most`` while column k moves by ``move``, or -1.

    Walks through the rising rows of both columns at once. A continuous column j uses the slop only
    where it cannot do without.
    """
    low, high, exact = 0.0, most, most
    one, end_one = column_start[j], column_start[j + 1]
    two, end_two = column_start[k], column_start[k + 1]
    while one < end_one or two < end_two:
        row_one = column_row[one] if one < end_one else 2147483647
        row_two = column_row[two] if two < end_two else 2147483647
        i = min(row_one, row_two)
        change = 0.0
        if row_two == i:
            change = column_value[two] * move
            two += 1
        above = room(row_upper[i], activity[i], SLOP) - change
        below = room(-row_lower[i], -activity[i], SLOP) + change
        if row_one == i:
            rise = column_value[one] if cost[j] < 0.0 else -column_value[one]
            one += 1
            if rise > 0.0:
                limit = room(row_upper[i], activity[i], 0.0) - change
            else:
                limit = room(-row_lower[i], -activity[i], 0.0) + change
                above, below = below, above
                rise = -rise
            high = min(high, above / rise)
            low = max(low, -below / rise)
            exact = min(exact, limit / rise)
        elif above < 0.0 or below < 0.0:
            high = -1.0
        if low > high:
            break
    if is_integer[j]:
        low, high = np.ceil(low), np.floor(high)
    elif low <= high:
        high = max(low, min(exact, high))
    return high if low <= high and high > CLEAR else -1.0


@numba.njit(inline="always")
def partner_move(whole, need, rise, a, k, lower, upper, x, is_integer):
    """Return the signed move of column k that makes way in a row; 0 if it has not as much room.

    ``need`` is by how much the row's activity has to give way for a unit step of an integer
    column (``whole``); a continuous one needs a whole step of an integer k.
    """
    sign = -1.0 if (rise > 0.0) == (a > 0.0) else 1.0
    size = 1.0
    if whole:
        size = np.ceil((need - SLOP) / abs(a)) if is_integer[k] else need / abs(a)
    free = upper[k] - x[k] if sign > 0.0 else x[k] - lower[k]
    if size <= 0.0 or size > free or (not whole and not is_integer[k]):
        return 0.0
    return sign * size


@twin
def score_pairs(
    count, columns, blocking, offset, limit, row_start, row_column, row_value,
    column_start, column_row, column_value, row_lower, row_upper, activity,
    cost, lower, upper, x, is_integer, partner, step, partner_step, gain,
):  # fmt: skip
    """Find the partner with which each blocked column gains most."""
    for at in prange(count):
        j, row = columns[at], blocking[at]
        partner[at], step[at], partner_step[at], gain[at] = -1, 0.0, 0.0, 0.0
        if row < 0:
            continue
        own = 0.0
        for entry in range(column_start[j], column_start[j + 1]):
            if column_row[entry] == row:
                own = column_value[entry]
        rise = own if cost[j] < 0.0 else -own
        most = shift_room(j, cost, lower, upper, x)
        whole = is_integer[j] != 0
        if rise > 0.0:
            need = abs(rise) - room(row_upper[row], activity[row], 0.0)
        else:
            need = abs(rise) - room(-row_lower[row], -activity[row], 0.0)
        first, length = row_start[row], row_start[row + 1] - row_start[row]
        tried = min(limit, length)
        for trial in range(tried):
            entry = first + (offset + trial) % length
            k = row_column[entry]
            if k == j:
                continue
            move = partner_move(whole, need, rise, row_value[entry], k, lower, upper, x, is_integer)
            if move == 0.0 or abs(cost[j]) * most - cost[k] * move <= 0.0:
                continue
            size = pair_step(
                j, most, k, move, column_start, column_row, column_value, row_lower, row_upper,
                activity, cost, is_integer,
            )  # fmt: skip
            if size < 0.0 or size == np.inf:
                continue
            gained = abs(cost[j]) * size - cost[k] * move
            if gained > gain[at]:
                partner[at] = k
                step[at] = size if cost[j] < 0.0 else -size
                partner_step[at] = move
                gain[at] = gained
