"""Numba twins of ``dive.cu``: choosing the next bulk of 32 dives, and fixing it, as plain loops."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import int32, uint64

from solvers.kernels.twin import compiled
from solvers.mip.propagation.kernels.dive import (
    BAD,
    BULK,
    CURSOR,
    FIRST,
    GOOD,
    HALF,
    LAST_ONES,
    LOOSE,
    OTHER,
    RANDOM,
    REFERENCE,
    TIGHT,
    UP,
)
from solvers.mip.propagation.kernels.implied_cpu import sequential
from solvers.mip.propagation.kernels.layout import DEAD, LANES
from solvers.mip.propagation.kernels.walk_cpu import mark

DRAWN_WIDTH = 1e6
"""The widest interval of which any value may be drawn."""

_WORD = uint64(0xFFFFFFFF)


@compiled
def uniform(seed, column, which):
    """Return one number in [0, 1) for each triple."""
    h = uint64(seed & _WORD) * uint64(0x9E3779B1) + uint64(column) * uint64(0x85EBCA77)
    h = (h + uint64(which) * uint64(0xC2B2AE3D)) & _WORD
    h ^= h >> uint64(16)
    h = (h * uint64(0x7FEB352D)) & _WORD
    h ^= h >> uint64(15)
    h = (h * uint64(0x846CA68B)) & _WORD
    h ^= h >> uint64(16)
    return float(h >> uint64(8)) * (1.0 / 16777216.0)


@compiled
def at_end(direction, lower, upper):
    """Return the bound in a direction, the other where that is infinite, or 0."""
    first, second = (upper, lower) if direction > 0 else (lower, upper)
    if np.isfinite(first):
        return first
    if np.isfinite(second):
        return second
    return 0.0


@compiled
def near_reference(chance, x, lower, upper):
    """Round a number at random: up with a probability that grows with its fraction."""
    threshold = (2.0 * chance) * (1.0 - chance)
    if chance > 0.5:
        threshold = 1.0 - threshold
    return min(max(np.floor(x + threshold), lower), upper)


@compiled
def other_than(value, lower, upper):
    """Return another value: the other end, or the next number."""
    if value == lower:
        return upper if upper < np.inf else lower + 1.0
    if value == upper:
        return lower if lower > -np.inf else upper - 1.0
    return value + 1.0


@compiled
def value_of(rule, seed, noise, column, good, loose, x, lower, upper):
    """Return the value that a lane's rule gives a column with these bounds."""
    chance = uniform(seed, column, 0)
    if uniform(seed, column, 1) < noise:
        rule = RANDOM
    if rule == REFERENCE:
        return near_reference(chance, x, lower, upper)
    if rule == RANDOM:
        width = upper - lower
        if width <= DRAWN_WIDTH:
            return min(lower + np.floor(chance * (width + 1.0)), upper)
        return at_end(-1 if chance < 0.5 else 1, lower, upper)
    direction = -1
    if rule == UP:
        direction = 1
    elif rule in (GOOD, BAD):
        direction = good if rule == GOOD else -good
    elif rule in (LOOSE, TIGHT):
        direction = loose if rule == LOOSE else -loose
    return at_end(direction, lower, upper)


@compiled
def is_open(place, binaries, live, masks, wide):
    """Whether some living lane has not fixed a column."""
    if place < binaries:
        return masks[place, 0] & masks[place, 1] & live != 0
    w = place - binaries
    open_lanes = 0
    for k in range(LANES):
        if wide[w, 0, k] < wide[w, 1, k]:
            open_lanes |= int32(1) << int32(k)
    return open_lanes & live != 0


@sequential
def dive_select(total, most, order, binaries, masks, wide, bulk, control):
    """Choose the next columns of the order that some living lane has not fixed."""
    live = ~control[DEAD]
    count, wanted, first = 0, 0, total
    for at in range(control[CURSOR], total):
        if is_open(order[at], binaries, live, masks, wide):
            if first == total:
                first = at
                left = total - first
                wanted = 1 if left <= LAST_ONES else min(most, int(np.sqrt(left)))
            bulk[count] = order[at]
            count += 1
            if count == wanted:
                break
    control[CURSOR] = first
    control[BULK] = count


@sequential
def dive_fix(
    lanes, amount, columns, binaries, place_column, bulk, rule, seed, noise, good, loose,
    reference, column_changed, column_list, next_masks, next_wide, control,
):  # fmt: skip
    """Fix the columns of the bulk in each lane at the value of its rule."""
    word = int32(lanes) & ~control[DEAD]
    count = control[BULK]
    if amount == HALF:
        count = (count + 1) // 2
    if amount >= FIRST:
        count = min(count, 1)
    for at in range(count):
        place = bulk[at]
        j = place_column[place]
        fixed = int32(0)
        for k in range(LANES):
            if (word >> int32(k)) & 1 == 0:
                continue
            bit = int32(1) << int32(k)
            if place < binaries:
                lower = 1.0 - ((next_masks[place, 0] >> int32(k)) & 1)
                upper = 1.0 * ((next_masks[place, 1] >> int32(k)) & 1)
            else:
                w = place - binaries
                lower, upper = next_wide[w, 0, k], next_wide[w, 1, k]
            if not lower < upper:
                continue
            value = value_of(
                rule[k], seed[k], noise[k], j, good[j], loose[j], reference[j], lower, upper
            )
            if amount == OTHER:
                value = other_than(value, lower, upper)
            fixed |= bit
            if place >= binaries:
                next_wide[place - binaries, 0, k] = next_wide[place - binaries, 1, k] = value
            elif value > 0.5:
                next_masks[place, 0] &= ~bit
            else:
                next_masks[place, 1] &= ~bit
        if fixed != 0:
            mark(column_changed, column_list, control, 0, place, fixed)
