"""Numba twins of ``box.cu``: a round of bound propagation for one box, as plain loops."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import uint64

from solvers.kernels.twin import Twin, compiled
from solvers.mip.propagation.kernels.implied_cpu import (
    inlined,
    is_redundant,
    room_below_side,
    sequential,
    settled,
    tightened,
)

BLOCK = 256
STOP, ROUND, LIMIT, CHANGED, INFEASIBLE = 0, 1, 2, 3, 4


@inlined
def sum_entries(first, last, row_column, row_value, bounds):
    """Return smallest and largest activity of some entries, and how many terms are infinite."""
    low, high = 0.0, 0.0
    low_infinite, high_infinite = 0, 0
    for k in range(first, last):
        j, a = uint64(row_column[k]), row_value[k]
        at_low, at_high = bounds[j, uint64(a <= 0.0)], bounds[j, uint64(a > 0.0)]
        if np.isfinite(at_low):
            low += a * at_low
        else:
            low_infinite += 1
        if np.isfinite(at_high):
            high += a * at_high
        else:
            high_infinite += 1
    return low, high, low_infinite, high_infinite


@inlined
def tighten_entries(
    first, last, row_column, row_value, row_lower, row_upper, is_integer, bounds, following,
    column_changed, sums,
):  # fmt: skip
    """Tighten the columns of some entries of a row with these sums; whether it is infeasible."""
    low, high, low_infinite, high_infinite = sums
    above, over = room_below_side(row_upper, low, low_infinite)
    below, under = room_below_side(-row_lower, -high, high_infinite)
    if over or under:
        return True
    if is_redundant(row_lower, row_upper, low, high, low_infinite, high_infinite):
        return False
    for k in range(first, last):
        j, a = uint64(row_column[k]), row_value[k]
        lower, upper, whole = bounds[j, 0], bounds[j, 1], is_integer[j]
        if lower == upper:
            continue
        if a > 0.0:
            new_upper = tightened(lower, upper, above, low_infinite, a, whole)
            new_lower = -tightened(-upper, -lower, below, high_infinite, a, whole)
        else:
            new_upper = tightened(lower, upper, below, high_infinite, -a, whole)
            new_lower = -tightened(-upper, -lower, above, low_infinite, -a, whole)
        if new_lower > lower:
            following[j, 0] = max(following[j, 0], new_lower)
            column_changed[j] = 1
        if new_upper < upper:
            following[j, 1] = min(following[j, 1], new_upper)
            column_changed[j] = 1
    return False


@sequential
def box_rows(
    row_start, row_column, row_value, row_lower, row_upper, is_integer, order, bins, num_bins,
    blocks, rows, bounds, next, row_changed, column_changed, control,
):  # fmt: skip
    """Tighten the columns of every flagged row but heavy ones."""
    if control[STOP] != 0:
        return
    flags = row_changed[control[ROUND] & 1]
    for b in range(num_bins):
        for place in range(bins[b, 1], bins[b, 1] + bins[b, 2]):
            i = order[place]
            if flags[i] == 0:
                continue
            first, last = row_start[i], row_start[i + 1]
            sums = sum_entries(first, last, row_column, row_value, bounds)
            if tighten_entries(
                first, last, row_column, row_value, row_lower[i], row_upper[i], is_integer,
                bounds, next, column_changed, sums,
            ):  # fmt: skip
                control[INFEASIBLE] = 1


@sequential
def box_heavy_sums(
    row_column, row_value, row_lower, row_upper, is_integer, parts, rows, bounds, row_changed,
    control, partial, partial_infinite,
):  # fmt: skip
    """Sum the parts of the flagged heavy rows."""
    if control[STOP] != 0:
        return
    flags = row_changed[control[ROUND] & 1]
    for p in range(parts.shape[0]):
        if flags[parts[p, 1]] != 0:
            low, high, low_infinite, high_infinite = sum_entries(
                parts[p, 2], parts[p, 3], row_column, row_value, bounds
            )
            partial[p, 0], partial[p, 1] = low, high
            partial_infinite[p, 0], partial_infinite[p, 1] = low_infinite, high_infinite


@sequential
def box_heavy_tighten(
    row_column, row_value, row_lower, row_upper, is_integer, parts, heavy, partial,
    partial_infinite, rows, bounds, next, row_changed, column_changed, control,
):  # fmt: skip
    """Tighten the columns of the flagged heavy rows, part by part."""
    if control[STOP] != 0:
        return
    flags = row_changed[control[ROUND] & 1]
    for p in range(parts.shape[0]):
        i = parts[p, 1]
        if flags[i] == 0:
            continue
        low, high = 0.0, 0.0
        low_infinite, high_infinite = 0, 0
        first = heavy[parts[p, 0], 1]
        for q in range(first, first + heavy[parts[p, 0], 2]):
            low += partial[q, 0]
            high += partial[q, 1]
            low_infinite += partial_infinite[q, 0]
            high_infinite += partial_infinite[q, 1]
        sums = (low, high, low_infinite, high_infinite)
        if tighten_entries(
            parts[p, 2], parts[p, 3], row_column, row_value, row_lower[i], row_upper[i],
            is_integer, bounds, next, column_changed, sums,
        ):  # fmt: skip
            control[INFEASIBLE] = 1


@sequential
def box_columns(
    rows, columns, column_start, column_row, bounds, next, row_changed, column_changed, control
):
    """Carry the flagged columns' bounds over, and flag their rows for the next round."""
    if control[STOP] != 0:
        return
    now, later = row_changed[control[ROUND] & 1], row_changed[1 - (control[ROUND] & 1)]
    now[:] = 0
    for j in range(columns):
        if column_changed[j] == 0:
            continue
        column_changed[j] = 0
        lower, upper, contradict = settled(next[j, 0], next[j, 1])
        if contradict:
            control[INFEASIBLE] = 1
        next[j, 0] = bounds[j, 0] = lower
        next[j, 1] = bounds[j, 1] = upper
        control[CHANGED] = 1
        for k in range(column_start[j], column_start[j + 1]):
            later[column_row[k]] = 1


@sequential
def box_control(control):
    """Count the round and decide whether it was the last one."""
    if control[STOP] != 0:
        return
    control[ROUND] += 1
    if control[CHANGED] == 0 or control[INFEASIBLE] != 0 or control[ROUND] >= control[LIMIT]:
        control[STOP] = 1
    control[CHANGED] = 0


_rows, _columns, _control = box_rows.serial, box_columns.serial, box_control.serial
_heavy_sums, _heavy_tighten = box_heavy_sums.serial, box_heavy_tighten.serial


@compiled
def _rounds(rows_arguments, sums_arguments, tighten_arguments, columns_arguments, control):
    while control[STOP] == 0:
        _rows(*rows_arguments)
        if sums_arguments[5].shape[0] > 0:
            _heavy_sums(*sums_arguments)
            _heavy_tighten(*tighten_arguments)
        _columns(*columns_arguments)
        _control(control)


rounds_fast = Twin(_rounds, _rounds)
"""``rounds_fast(rows, sums, tighten, columns, control)``: rounds until one says to stop, from the
arguments of the kernels, without coming back to Python in between."""
