"""Columns whose value is known: fixed ones, empty ones, and those that nothing holds back.

A row's dual is non-negative when only its lower side is finite and non-positive when only its
upper side is. Where these signs alone say that the reduced cost ``c - a'y`` of a column cannot be
negative, the column goes to its lower bound; where it is without that bound and costs nothing,
it recedes so far that all its rows hold, and they go with it.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from gpu_bridge.presolve.light.singleton_columns import absorb
from gpu_bridge.presolve.light.workspace import (
    ALIVE,
    FLAGS_PER_LOOK,
    RECEDING_COLUMN,
    REDUNDANT_ROW,
    WORK,
    fix_column,
    nearest_to_zero,
    note,
    out_of_budget,
    remove_column,
    remove_row,
)


@compiled
def reduce_columns(w):
    """Look at every column that changed."""
    w.count[WORK] += w.column_changed.size // FLAGS_PER_LOOK
    for j in range(w.column_changed.size):
        if not w.column_changed[j] or w.column_removed[j] != ALIVE:
            continue
        if out_of_budget(w):
            return
        w.column_changed[j] = False
        _reduce_column(w, j)


@merged
def _reduce_column(w, j):
    cost, low, high = w.cost[j], w.lower[j], w.upper[j]
    if low == high:
        fix_column(w, j, low)
        return
    if w.column_length[j] == 0 and cost == 0.0:
        fix_column(w, j, nearest_to_zero(low, high))
        return
    pulled_down, pulled_up = _pulls(w, j)
    if not pulled_up and cost >= 0.0:
        if low > -np.inf:
            fix_column(w, j, low)
        elif cost == 0.0:
            _recede(w, j, -1.0)
    elif not pulled_down and cost <= 0.0:
        if high < np.inf:
            fix_column(w, j, high)
        elif cost == 0.0:
            _recede(w, j, 1.0)
    elif w.column_length[j] == 1:
        absorb(w, j)


@merged
def _pulls(w, j):
    """Return whether a row can want less of the column, and whether one can want more."""
    down, up = False, False
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i = w.column_index[entry]
        if w.row_removed[i] != ALIVE:
            continue
        positive = w.column_value[entry] > 0.0
        at_lower, at_upper = w.row_lower[i] > -np.inf, w.row_upper[i] < np.inf
        if (at_lower and positive) or (at_upper and not positive):
            up = True
        if (at_lower and not positive) or (at_upper and positive):
            down = True
        if up and down:
            break
    w.count[WORK] += w.column_start[j + 1] - w.column_start[j]
    return down, up


@merged
def _recede(w, j, direction):
    """Take out a column that can go to infinity for nothing, with all its rows."""
    step = note(w, RECEDING_COLUMN, -1, j, direction, 0.0, 0.0, 0.0)
    remove_column(w, j, step, 0.0)
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i = w.column_index[entry]
        if w.row_removed[i] == ALIVE:
            remove_row(w, i, note(w, REDUNDANT_ROW, i, -1, 0.0, 0.0, 0.0, 0.0))
