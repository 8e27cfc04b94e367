"""Rows that say nothing, too much, or what a bound can say.

By the least and the greatest activity that the bounds of its columns allow, a row is

* a contradiction, when the two lie beyond its sides;
* *forcing*, when one of them just reaches a side: every column stands at a bound then, and the
  row's dual is whatever gives their reduced costs the right signs;
* redundant, on one side or on both: the dual is zero;
* a bound, when only one column is left: where the bound is active, its multiplier goes back to
  the row.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from gpu_bridge.presolve.light.workspace import (
    ALIVE,
    CONTRADICTION,
    FLAGS_PER_LOOK,
    FORCING_ROW,
    REDUNDANT_ROW,
    REDUNDANT_TOLERANCE,
    SINGLETON_ROW,
    SMALL_PIVOT,
    WORK,
    activity_range,
    fix_column,
    mark_columns,
    mark_rows,
    note,
    out_of_budget,
    remove_row,
)

CONTRADICTION_TOLERANCE = 1e-9
"""Sides missed by less than this, relative to max(1, |side|), are no contradiction."""


@compiled
def reduce_rows(w):
    """Look at every row that changed."""
    w.count[WORK] += w.row_changed.size // FLAGS_PER_LOOK
    for i in range(w.row_changed.size):
        if not w.row_changed[i] or w.row_removed[i] != ALIVE:
            continue
        if out_of_budget(w):
            return
        w.row_changed[i] = False
        _reduce_row(w, i)


@merged
def _reduce_row(w, i):
    least, most, least_error, most_error = activity_range(w, i, -1)
    low, high = w.row_lower[i], w.row_upper[i]
    if _beyond(least, high, least_error):
        w.count[CONTRADICTION] = -(1 + i)
        return
    if _beyond(-most, -low, most_error):
        w.count[CONTRADICTION] = 1 + i
        return
    if w.row_length[i] > 0 and least >= high - least_error:
        _force(w, i, False)
        return
    if w.row_length[i] > 0 and most <= low + most_error:
        _force(w, i, True)
        return
    if low > -np.inf and least >= low - _slack(low) - least_error:
        w.row_lower[i] = -np.inf
        mark_columns(w, i)
    if high < np.inf and most <= high + _slack(high) + most_error:
        w.row_upper[i] = np.inf
        mark_columns(w, i)
    if (w.row_lower[i] == -np.inf and w.row_upper[i] == np.inf) or w.row_length[i] == 0:
        remove_row(w, i, note(w, REDUNDANT_ROW, i, -1, 0.0, 0.0, 0.0, 0.0))
    elif w.row_length[i] == 1:
        _to_bound(w, i)


@merged
def _slack(side):
    return REDUNDANT_TOLERANCE * max(1.0, abs(side))


@merged
def _beyond(activity, side, error):
    """Whether an activity is above a side by more than rounding."""
    if not (abs(side) < np.inf):
        return False
    return activity > side + CONTRADICTION_TOLERANCE * max(1.0, abs(side)) + 8.0 * error


@merged
def _force(w, i, to_most):
    """Fix every column of a row at the bound that makes its activity least, or greatest."""
    step = note(w, FORCING_ROW, i, -1, 1.0 if to_most else -1.0, 0.0, 0.0, 0.0)
    remove_row(w, i, step)
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        j = w.row_index[entry]
        if w.column_removed[j] == ALIVE:
            at_upper = (w.row_value[entry] > 0.0) == to_most
            fix_column(w, j, w.upper[j] if at_upper else w.lower[j])


@merged
def _to_bound(w, i):
    """Turn a row with one column into bounds of that column."""
    entry = w.row_start[i]
    while w.column_removed[w.row_index[entry]] != ALIVE:
        entry += 1
    a, j = w.row_value[entry], w.row_index[entry]
    if abs(a) < SMALL_PIVOT * min(1.0, w.row_size[i]):
        return
    low, high = w.row_lower[i] / a, w.row_upper[i] / a
    if a < 0.0:
        low, high = high, low
    old_lower, old_upper = w.lower[j], w.upper[j]
    new_lower, new_upper = max(old_lower, low), min(old_upper, high)
    if new_lower > new_upper:  # by rounding: a contradiction was looked for before
        if new_lower == old_lower:
            new_upper = old_lower
        else:
            new_lower = new_upper
    step = note(w, SINGLETON_ROW, i, j, a, old_lower, old_upper, 0.0)
    w.payload[step, 3] = (1.0 if new_lower > old_lower else 0.0) + (
        2.0 if new_upper < old_upper else 0.0
    )
    w.lower[j], w.upper[j] = new_lower, new_upper
    remove_row(w, i, step)
    w.column_changed[j] = True
    mark_rows(w, j)
