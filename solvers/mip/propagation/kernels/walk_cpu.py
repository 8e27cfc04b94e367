"""What ``walk.cuh`` does, for Numba: walking a row for 32 boxes at once."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import int32, uint64

from solvers.kernels.twin import compiled
from solvers.mip.propagation.kernels.implied_cpu import (
    inlined,
    is_redundant,
    room_below_side,
    tightened,
)
from solvers.mip.propagation.kernels.layout import LANES, LONG_ROW, NUM_COLUMNS
from solvers.mip.propagation.tolerances import ROUNDING, SMALLEST_ENTRY

PARTS = 32

BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
"""The bits of every byte as numbers: adding eight of them at once takes one instruction or two."""

LOW, HIGH, LOW_INFINITE, HIGH_INFINITE = 0, 1, 2, 3
ABOVE, BELOW = 0, 1


@inlined
def mark(column_changed, column_list, control, parity, place, word):
    """Add lanes to a column's word, and list it if it had none."""
    before = column_changed[parity, place]
    if before == 0:
        column_list[parity, control[NUM_COLUMNS + parity]] = place
        control[NUM_COLUMNS + parity] += 1
    column_changed[parity, place] = before | word


@compiled
def sum_span(first, split, last, binaries, row_place, row_weight, masks, wide, sums):
    """Sum the entries [first, last), binary columns up to ``split``, for all lanes (4, 32)."""
    for k in range(LANES):
        sums[LOW, k] = sums[HIGH, k] = sums[LOW_INFINITE, k] = sums[HIGH_INFINITE, k] = 0.0
    for entry in range(first, split):
        p, a = uint64(row_place[entry]), row_weight[entry]
        zero, one = masks[p, 0], masks[p, 1]
        at_low, at_high = (~zero, one) if a > 0.0 else (one, ~zero)
        for byte in range(4):
            low_bits, high_bits = (at_low >> (8 * byte)) & 255, (at_high >> (8 * byte)) & 255
            if low_bits != 0:
                for k in range(8):
                    sums[LOW, 8 * byte + k] += a * BITS[low_bits, k]
            if high_bits != 0:
                for k in range(8):
                    sums[HIGH, 8 * byte + k] += a * BITS[high_bits, k]
    for entry in range(split, last):
        w, a = uint64(row_place[entry] - binaries), row_weight[entry]
        side = uint64(a <= 0.0)
        for k in range(LANES):
            at_low, at_high = wide[w, side, k], wide[w, uint64(1) - side, k]
            low_counts, high_counts = abs(at_low) < np.inf, abs(at_high) < np.inf
            sums[LOW, k] += a * (at_low if low_counts else 0.0)
            sums[HIGH, k] += a * (at_high if high_counts else 0.0)
            sums[LOW_INFINITE, k] += 0.0 if low_counts else 1.0
            sums[HIGH_INFINITE, k] += 0.0 if high_counts else 1.0


@compiled
def sum_row(first, split, last, binaries, row_place, row_weight, masks, wide, sums, part_sums):
    """Sum a row for all lanes: a long one in 32 parts, one after the other."""
    if last - first <= LONG_ROW:
        sum_span(first, split, last, binaries, row_place, row_weight, masks, wide, sums)
        return
    sums[:] = 0.0
    size = (last - first + PARTS - 1) // PARTS
    for part in range(PARTS):
        begin = min(first + part * size, last)
        end = min(begin + size, last)
        middle = min(max(split, begin), end)
        sum_span(begin, middle, end, binaries, row_place, row_weight, masks, wide, part_sums)
        for which in range(4):
            for k in range(LANES):
                sums[which, k] += part_sums[which, k]


@compiled
def judge(lower, upper, sums, word, room):
    """Set each lane's room (2, 32); return the lanes to be tightened and those that die."""
    active, died = int32(0), int32(0)
    for k in range(LANES):
        if (word >> int32(k)) & 1 == 0:
            continue
        low, high = sums[LOW, k], sums[HIGH, k]
        above, over = room_below_side(upper, low, sums[LOW_INFINITE, k])
        below, under = room_below_side(-lower, -high, sums[HIGH_INFINITE, k])
        room[ABOVE, k], room[BELOW, k] = above, below
        bit = int32(1) << int32(k)
        if over or under:
            died |= bit
        elif not is_redundant(
            lower, upper, low, high, sums[LOW_INFINITE, k], sums[HIGH_INFINITE, k]
        ):
            active |= bit
    return active, died


@compiled
def full_lanes(active, room, sums, needed):
    """Return the lanes in which a row has less room than needed, above and below."""
    above, below = int32(0), int32(0)
    for k in range(LANES):
        if (active >> int32(k)) & 1:
            bit = int32(1) << int32(k)
            if sums[LOW_INFINITE, k] == 0.0 and room[ABOVE, k] < needed:
                above |= bit
            if sums[HIGH_INFINITE, k] == 0.0 and room[BELOW, k] < needed:
                below |= bit
    return above, below


@compiled
def tighten_binaries(
    first, split, active, row_place, row_weight, masks, next_masks, room, sums, later,
    column_changed, column_list, control,
):  # fmt: skip
    """Forbid values of binary columns that leave no room in the row."""
    for entry in range(first, split):
        p, a = uint64(row_place[entry]), row_weight[entry]
        free = masks[p, 0] & masks[p, 1] & active
        if free == 0 or abs(a) < SMALLEST_ENTRY:
            continue
        above, below = full_lanes(free, room, sums, abs(a) * (1.0 - ROUNDING))
        if above | below == 0:
            continue
        no_one, no_zero = (above, below) if a > 0.0 else (below, above)
        next_masks[p, 0] &= ~no_zero
        next_masks[p, 1] &= ~no_one
        mark(column_changed, column_list, control, later, row_place[entry], no_zero | no_one)


@compiled
def tighten_wide(
    split, last, active, binaries, row_place, row_weight, whole, wide, next_wide, room, sums,
    later, column_changed, column_list, control,
):  # fmt: skip
    """Tighten the bounds of the other columns."""
    for entry in range(split, last):
        w, a = row_place[entry] - binaries, row_weight[entry]
        from_lower, from_upper = (ABOVE, BELOW) if a > 0.0 else (BELOW, ABOVE)
        word = int32(0)
        for k in range(LANES):
            if (active >> int32(k)) & 1 == 0:
                continue
            lower, upper = wide[w, 0, k], wide[w, 1, k]
            if lower == upper:
                continue
            new_upper = tightened(
                lower, upper, room[from_lower, k], sums[LOW_INFINITE + from_lower, k], abs(a),
                whole[w],
            )  # fmt: skip
            new_lower = -tightened(
                -upper, -lower, room[from_upper, k], sums[LOW_INFINITE + from_upper, k], abs(a),
                whole[w],
            )  # fmt: skip
            if new_lower > lower:
                next_wide[w, 0, k] = max(next_wide[w, 0, k], new_lower)
            if new_upper < upper:
                next_wide[w, 1, k] = min(next_wide[w, 1, k], new_upper)
            if new_lower > lower or new_upper < upper:
                word |= int32(1) << int32(k)
        if word != 0:
            mark(column_changed, column_list, control, later, row_place[entry], word)
