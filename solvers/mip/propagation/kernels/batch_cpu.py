"""Numba twins of ``batch.cu``: rounds of bound propagation for 32 boxes, as plain loops.

Words are signed integers here as in the arrays; ``word >> lane & 1`` reads a bit either way.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import int32

from solvers.kernels.twin import Twin, compiled
from solvers.mip.propagation.kernels.implied_cpu import inlined, sequential, settled
from solvers.mip.propagation.kernels.layout import (
    DEAD,
    LANES,
    LONG_ROW,
    NUM_COLUMNS,
    NUM_LONG_ROWS,
    NUM_ROWS,
    ROUNDS,
    WORK,
)
from solvers.mip.propagation.kernels.walk_cpu import (
    full_lanes,
    judge,
    mark,
    sum_row,
    tighten_binaries,
    tighten_wide,
)
from solvers.mip.propagation.tolerances import ROUNDING


@inlined
def wake_row(rows, row_start, row_changed, row_list, control, parity, i, word):
    """Add lanes to a row's word, and list it if it had none."""
    before = row_changed[i]
    if before == 0:
        if row_start[i + 1] - row_start[i] > LONG_ROW:
            row_list[rows - 1 - control[NUM_LONG_ROWS + parity]] = i
            control[NUM_LONG_ROWS + parity] += 1
        else:
            row_list[control[NUM_ROWS + parity]] = i
            control[NUM_ROWS + parity] += 1
    row_changed[i] = before | word


@sequential
def batch_rows(
    parity, rows, columns, binaries, row_start, row_split, row_place, row_weight, row_largest,
    row_lower, row_upper, whole, row_changed, row_list, column_changed, column_list, masks, wide,
    next_masks, next_wide, control,
):  # fmt: skip
    """Let the listed rows tighten their columns in the lanes of their words."""
    later = 1 - parity
    live = ~control[DEAD + parity]
    num_short, num_long = control[NUM_ROWS + parity], control[NUM_LONG_ROWS + parity]
    control[NUM_ROWS + later] = control[NUM_LONG_ROWS + later] = 0
    if num_short + num_long > 0:
        control[ROUNDS] += 1
    for at in range(control[NUM_COLUMNS + parity]):
        column_changed[parity, column_list[parity, at]] = 0
    sums, part_sums, room = np.zeros((4, LANES)), np.zeros((4, LANES)), np.zeros((2, LANES))
    for at in range(num_short + num_long):
        i = row_list[at] if at < num_short else row_list[rows - 1 - (at - num_short)]
        word = row_changed[i] & live
        row_changed[i] = 0
        if word == 0:
            continue
        first, split, last = row_start[i], row_split[i], row_start[i + 1]
        sum_row(first, split, last, binaries, row_place, row_weight, masks, wide, sums, part_sums)
        active, died = judge(row_lower[i], row_upper[i], sums, word, room)
        control[DEAD + later] |= died
        control[WORK] += (last - first + 31) // 32
        if active == 0:
            continue
        above, below = full_lanes(active, room, sums, row_largest[i] * (1.0 - ROUNDING))
        if above | below != 0:
            tighten_binaries(
                first, split, active, row_place, row_weight, masks, next_masks, room, sums, later,
                column_changed, column_list, control,
            )  # fmt: skip
        tighten_wide(
            split, last, active, binaries, row_place, row_weight, whole, wide, next_wide, room,
            sums, later, column_changed, column_list, control,
        )  # fmt: skip


@inlined
def take_over(place, binaries, word, masks, wide, next_masks, next_wide):
    """Let a column take over its next bounds in the lanes of a word; return those that die."""
    if place < binaries:
        masks[place, 0], masks[place, 1] = next_masks[place, 0], next_masks[place, 1]
        return word & ~(masks[place, 0] | masks[place, 1])
    died = int32(0)
    w = place - binaries
    for k in range(LANES):
        if (word >> int32(k)) & 1:
            lower, upper, contradict = settled(next_wide[w, 0, k], next_wide[w, 1, k])
            wide[w, 0, k] = next_wide[w, 0, k] = lower
            wide[w, 1, k] = next_wide[w, 1, k] = upper
            if contradict:
                died |= int32(1) << int32(k)
    return died


@sequential
def batch_columns(
    parity, rows, columns, binaries, place_column, column_start, column_row, long_columns,
    num_long, row_start, row_changed, row_list, column_changed, column_list, masks, wide,
    next_masks, next_wide, control,
):  # fmt: skip
    """Let the listed columns take over their next bounds, and list their rows."""
    later = 1 - parity
    dead = control[DEAD + parity]
    control[NUM_COLUMNS + later] = 0
    control[DEAD + later] |= dead
    for at in range(control[NUM_COLUMNS + parity]):
        place = column_list[parity, at]
        word = column_changed[parity, place] & ~dead
        if word == 0:
            continue
        died = take_over(place, binaries, word, masks, wide, next_masks, next_wide)
        control[DEAD + later] |= died
        j = place_column[place]
        for entry in range(column_start[j], column_start[j + 1]):
            i = column_row[entry]
            wake_row(rows, row_start, row_changed, row_list, control, parity, i, word)


@sequential
def batch_tighten(
    items, item_lane, item_place, item_lower, item_upper, columns, binaries, column_changed,
    column_list, next_masks, next_wide, control,
):  # fmt: skip
    """Narrow columns in single lanes, and list them."""
    for item in range(items):
        place, k = item_place[item], item_lane[item]
        bit = int32(1) << int32(k)
        changed = False
        if place < binaries:
            if item_lower[item] > 0.0 and next_masks[place, 0] & bit != 0:
                next_masks[place, 0] &= ~bit
                changed = True
            if item_upper[item] < 1.0 and next_masks[place, 1] & bit != 0:
                next_masks[place, 1] &= ~bit
                changed = True
        else:
            w = place - binaries
            if item_lower[item] > next_wide[w, 0, k]:
                next_wide[w, 0, k] = item_lower[item]
                changed = True
            if item_upper[item] < next_wide[w, 1, k]:
                next_wide[w, 1, k] = item_upper[item]
                changed = True
        if changed:
            mark(column_changed, column_list, control, 0, place, bit)


@sequential
def batch_load(
    lanes, columns, binaries, place_column, lower, upper, masks, wide, next_masks, next_wide,
    control,
):  # fmt: skip
    """Give lanes a box."""
    word = int32(lanes)
    control[DEAD] &= ~word
    control[DEAD + 1] &= ~word
    for place in range(columns):
        low, high = lower[place_column[place]], upper[place_column[place]]
        if place < binaries:
            zero = word if low <= 0.0 else int32(0)
            one = word if high >= 1.0 else int32(0)
            masks[place, 0] = next_masks[place, 0] = (masks[place, 0] & ~word) | zero
            masks[place, 1] = next_masks[place, 1] = (masks[place, 1] & ~word) | one
            continue
        w = place - binaries
        for k in range(LANES):
            if (word >> int32(k)) & 1:
                wide[w, 0, k] = next_wide[w, 0, k] = low
                wide[w, 1, k] = next_wide[w, 1, k] = high


@sequential
def batch_wake(lanes, rows, row_start, row_changed, row_list, control):
    """List all rows."""
    word = int32(lanes)
    for i in range(rows):
        wake_row(rows, row_start, row_changed, row_list, control, 0, i, word)


@sequential
def batch_assign(
    source, columns, binaries, whole, from_masks, from_wide, masks, wide, next_masks, next_wide,
    control,
):  # fmt: skip
    """Give each lane the box of its source."""
    word = int32(0)
    for k in range(LANES):
        if source[k] >= 0:
            word |= int32(1) << int32(k)
    control[DEAD] &= ~word
    control[DEAD + 1] &= ~word
    for place in range(binaries):
        for side in range(2):
            given, own = from_masks[place, side], int32(0)
            for k in range(LANES):
                if source[k] >= 0 and (given >> int32(source[k])) & 1:
                    own |= int32(1) << int32(k)
            own |= masks[place, side] & ~word
            masks[place, side] = next_masks[place, side] = own
    given_bounds = np.empty(LANES)
    for w in range(whole.size):
        for side in range(2):
            for k in range(LANES):
                given_bounds[k] = from_wide[w, side, k]
            for k in range(LANES):
                if source[k] >= 0:
                    own_bound = given_bounds[source[k]]
                    wide[w, side, k] = next_wide[w, side, k] = own_bound


_columns, _rows = batch_columns.serial, batch_rows.serial


@compiled
def _rounds(count, columns_arguments, rows_arguments, control):
    for _ in range(count):
        for parity in range(2):
            _columns(parity, *columns_arguments)
            _rows(parity, *rows_arguments)
        if control[NUM_COLUMNS] == 0:
            return


rounds_fast = Twin(_rounds, _rounds)
"""``rounds_fast(count, columns, rows, control)``: so many pairs of rounds, or fewer if one leaves
nothing to do, from the arguments of the kernels after ``parity``."""
