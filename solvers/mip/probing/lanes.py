"""Reading what the lanes of a batch of boxes have narrowed, in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled


@compiled
def _binary_lanes(masks, place, low, high):
    """Return the word of lanes in which a binary column differs from its bounds ``low, high``."""
    may_be_zero = np.int64(masks[place, 0]) & 0xFFFFFFFF
    may_be_one = np.int64(masks[place, 1]) & 0xFFFFFFFF
    if low == 0.0:
        may_be_zero ^= 0xFFFFFFFF
    if high == 1.0:
        may_be_one ^= 0xFFFFFFFF
    return may_be_zero | may_be_one


@compiled
def _lanes(masks, wide, place, j, lower, upper, live):
    """Return the word of live lanes in which the column at a place is narrower than globally."""
    binaries = masks.shape[0]
    if place < binaries:
        return _binary_lanes(masks, place, lower[j], upper[j]) & live
    found = np.int64(0)
    for lane in range(32):
        if wide[place - binaries, 0, lane] > lower[j] or wide[place - binaries, 1, lane] < upper[j]:
            found |= np.int64(1) << lane
    return found & live


@compiled
def count(masks, wide, column, is_integer, lower, upper, probed, dead, start):
    """Count the integer columns that each live lane (one to a side) has narrowed.

    The number of lane k goes to ``start[k+1]``; the column that the lane probes does not count.
    """
    live = (np.int64(1) << (start.size - 1)) - 1
    live &= ~np.int64(dead)
    for place in range(masks.shape[0] + wide.shape[0]):
        j = column[place]
        if is_integer[j] == 0:
            continue
        word = _lanes(masks, wide, place, j, lower, upper, live)
        lane = 0
        while word:
            if word & 1 and probed[lane // 2] != j:
                start[lane + 1] += 1
            word >>= 1
            lane += 1


@compiled
def fill(masks, wide, column, is_integer, lower, upper, probed, dead, place_of, out, low, high):
    """Write what ``count`` has counted, lane by lane, from the places in ``place_of`` on."""
    live = (np.int64(1) << place_of.size) - 1
    live &= ~np.int64(dead)
    binaries = masks.shape[0]
    for place in range(binaries + wide.shape[0]):
        j = column[place]
        if is_integer[j] == 0:
            continue
        word = _lanes(masks, wide, place, j, lower, upper, live)
        lane = 0
        while word:
            if word & 1 and probed[lane // 2] != j:
                at = place_of[lane]
                out[at] = j
                if place < binaries:
                    low[at] = 1.0 - ((masks[place, 0] >> lane) & 1)
                    high[at] = float((masks[place, 1] >> lane) & 1)
                else:
                    low[at] = wide[place - binaries, 0, lane]
                    high[at] = wide[place - binaries, 1, lane]
                place_of[lane] = at + 1
            word >>= 1
            lane += 1
