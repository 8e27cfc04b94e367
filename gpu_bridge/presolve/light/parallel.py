"""Rows that are multiples of each other, and columns that are.

Candidates are found by a hash over the living entries, each relative to the first, in a table
with one place per hash: a row or column is compared with the one that stands there.

* Of two parallel rows one keeps the tighter of both sides; a dual that leans on a side that came
  from the other goes back to it.
* Two parallel columns of the same price become one, whose bounds are the sums of theirs. Where
  the price differs and one of them has no bound to lean on, the dearer is fixed.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import math

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from gpu_bridge.presolve.light.workspace import (
    ALIVE,
    PARALLEL_COLUMN,
    PARALLEL_ROW,
    WORK,
    fix_column,
    note,
    out_of_budget,
    remove_column,
    remove_row,
)

SAME = 1e-14
"""Ratios that differ by no more than this part are one ratio in different roundings."""

SAME_PRICE = 1e-13

HASH_DIGITS = 2.0**36
"""Mantissas enter the hash in steps of 1 over this."""

ONE = int(0.5 * HASH_DIGITS) * 2048 + 1
"""What a ratio of one enters the hash as: equal entries are frequent, and need no division,"""

MINUS_ONE = int(-0.5 * HASH_DIGITS) * 2048 + 1
"""and opposite ones."""


@compiled
def merge_parallel_rows(w, table):
    """Merge rows; ``table`` is scratch, of a power of two places of int32."""
    table[:] = -1
    for i in range(w.row_removed.size):
        if w.row_removed[i] != ALIVE or w.row_length[i] < 2:
            continue
        if out_of_budget(w):
            return
        place = _hash(w.row_start, w.row_index, w.row_value, w.column_removed, i) & (table.size - 1)
        w.count[WORK] += w.row_start[i + 1] - w.row_start[i]
        first = table[place]
        if first < 0:
            table[place] = i
        elif w.row_length[first] == w.row_length[i]:
            ratio = _ratio(w.row_start, w.row_index, w.row_value, w.column_removed, first, i)
            if ratio != 0.0:
                _merge_rows(w, first, i, ratio)


@compiled
def merge_parallel_columns(w, table, places):
    """Merge columns; ``table`` is scratch, of a power of two places of int32.

    So is ``places`` (n,). All hashes come first: the look into the table waits for memory, and
    without them in between the processor waits for several at once.
    """
    table[:] = -1
    start, index, value = w.column_start, w.column_index, w.column_value
    for k in range(w.column_removed.size):
        if w.column_removed[k] == ALIVE:
            places[k] = _hash(start, index, value, w.row_removed, k) & (table.size - 1)
    for k in range(w.column_removed.size):
        if w.column_removed[k] != ALIVE or w.column_length[k] < 1:
            continue
        if out_of_budget(w):
            return
        place = places[k]
        w.count[WORK] += start[k + 1] - start[k]
        first = table[place]
        if first < 0 or w.column_removed[first] != ALIVE:
            table[place] = k
        elif w.column_length[first] == w.column_length[k]:
            ratio = _ratio(start, index, value, w.row_removed, first, k)
            if ratio != 0.0:
                _merge_columns(w, first, k, ratio)
                if w.column_removed[first] != ALIVE:
                    table[place] = k


@merged
def _hash(start, index, value, removed, owner):
    """Return a hash of an owner's living entries that does not depend on their common factor."""
    found = np.uint64(14695981039346656037)
    first = 0.0
    for entry in range(start[owner], start[owner + 1]):
        other = index[entry]
        if removed[other] != ALIVE:
            continue
        if first == 0.0:
            first = value[entry]
        if value[entry] == first:
            digits = ONE
        elif value[entry] == -first:
            digits = MINUS_ONE
        else:
            digits = _digits(value[entry] / first)
        found = _mixed(found ^ np.uint64(other))
        found = _mixed(found ^ np.uint64(digits))
    return np.int64(found >> np.uint64(8))


@merged
def _digits(ratio):
    """Return the leading digits of a ratio and its exponent, as one number."""
    mantissa, exponent = math.frexp(ratio)
    return np.int64(math.floor(mantissa * HASH_DIGITS + 0.5)) * 2048 + exponent


@merged
def _mixed(number):
    number = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    return number ^ (number >> np.uint64(29))


@merged
def _ratio(start, index, value, removed, first, second):
    """Return the factor from the first owner to the second, 0 where they are not parallel.

    Both have the same number of living entries.
    """
    ratio = 0.0
    entry, end = start[first], start[first + 1]
    for other in range(start[second], start[second + 1]):
        if removed[index[other]] != ALIVE:
            continue
        while entry < end and removed[index[entry]] != ALIVE:
            entry += 1
        if entry == end or index[entry] != index[other]:
            return 0.0
        if ratio == 0.0:
            ratio = value[other] / value[entry]
        elif abs(value[other] - ratio * value[entry]) > SAME * abs(value[other]):
            return 0.0
        entry += 1
    return ratio


@merged
def _merge_rows(w, i, k, ratio):
    """Let row i stand for row k = ratio * row i, unless they contradict each other."""
    low, high = w.row_lower[k] / ratio, w.row_upper[k] / ratio
    if ratio < 0.0:
        low, high = high, low
    new_low, new_high = max(w.row_lower[i], low), min(w.row_upper[i], high)
    if new_low > new_high:
        if new_low - new_high > SAME * max(abs(new_low), abs(new_high)):
            return
        if new_low == w.row_lower[i]:
            new_high = new_low
        else:
            new_low = new_high
    from_second = (1.0 if new_low > w.row_lower[i] else 0.0) + (
        2.0 if new_high < w.row_upper[i] else 0.0
    )
    step = note(w, PARALLEL_ROW, k, -1, i, ratio, from_second, 0.0)
    remove_row(w, k, step)
    if from_second != 0.0:
        w.row_lower[i], w.row_upper[i] = new_low, new_high
        w.row_changed[i] = True


@merged
def _merge_columns(w, j, k, ratio):
    """Treat column k = ratio * column j."""
    difference = w.cost[k] - ratio * w.cost[j]
    if abs(difference) > SAME_PRICE * max(abs(w.cost[k]), abs(ratio * w.cost[j])):
        _fix_dearer(w, j, k, ratio, difference)
        return
    at_lower, at_upper = ratio * w.lower[k], ratio * w.upper[k]
    least, most = min(at_lower, at_upper), max(at_lower, at_upper)
    step = note(w, PARALLEL_COLUMN, -1, k, j, ratio, w.lower[j], w.upper[j])
    remove_column(w, k, step, 0.0)
    w.lower[j] += least
    w.upper[j] += most
    w.column_changed[j] = True


@merged
def _fix_dearer(w, j, k, ratio, difference):
    """Fix k or j where z_k = ratio z_j + difference and a sign of one tells that of the other."""
    positive = ratio > 0.0
    at_least_zero = w.upper[j] == np.inf if positive else w.lower[j] == -np.inf  # ratio z_j
    at_most_zero = w.lower[j] == -np.inf if positive else w.upper[j] == np.inf
    if at_least_zero and difference > 0.0 and w.lower[k] > -np.inf:
        fix_column(w, k, w.lower[k])
    elif at_most_zero and difference < 0.0 and w.upper[k] < np.inf:
        fix_column(w, k, w.upper[k])
    elif (w.upper[k] == np.inf and difference < 0.0) or (
        w.lower[k] == -np.inf and difference > 0.0
    ):
        to_lower = (difference < 0.0) == positive  # z_j = (z_k - difference) / ratio
        if to_lower and w.lower[j] > -np.inf:
            fix_column(w, j, w.lower[j])
        elif not to_lower and w.upper[j] < np.inf:
            fix_column(w, j, w.upper[j])
