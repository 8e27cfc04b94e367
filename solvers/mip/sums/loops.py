"""The compiled loops: sums of two lists whose last bits are given, stored or looked for.

Keys are 64-bit numbers that add up like the sums they stand for, wrapping round.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.mip.search.loops import compiled

KeyArray = npt.NDArray[np.uint64]
StartArray = npt.NDArray[np.int64]

SLOT_BITS = 16
"""Of the table: 65,536 slots, half a megabyte, of which a quarter is filled."""

MARK_BITS = 18
"""Of the marks looked at before the table: 32 kB, which stay in a first-level cache."""

MOST_STORED = 1 << (SLOT_BITS - 2)
"""Sums stored at a time."""


@compiled
def store(
    first: KeyArray,
    second: KeyArray,
    second_start: StartArray,
    residue: np.uint64,
    begin: int,
    table: KeyArray,
    marks: KeyArray,
) -> tuple[int, int]:
    """Store the sums of a class, from place ``begin`` of the first list on.

    Parameters
    ----------
    first : (a,) uint64
    second : (b,) uint64
        Grouped by their last bits.
    second_start : (c + 1,) int64
        Where each group begins; c is a power of two.
    residue : uint64
        Last bits of the sums wanted.
    begin : int
    table : (2**SLOT_BITS,) uint64
        Overwritten; zero where nothing is stored.
    marks : (2**MARK_BITS / 64,) uint64
        Overwritten: which leading bits occur.

    Returns
    -------
    tuple of int
        The place to go on from, and the sums looked at.
    """
    table[:] = np.uint64(0)
    marks[:] = np.uint64(0)
    mask = np.uint64(second_start.size - 2)
    last_slot = np.uint64((1 << SLOT_BITS) - 1)
    stored = 0
    looked = 0
    place = begin
    while place < first.size and stored < MOST_STORED:
        one = first[place]
        group = np.int64((residue - one) & mask)
        for other in range(second_start[group], second_start[group + 1]):
            key = one + second[other]
            slot = key >> np.uint64(64 - SLOT_BITS)
            while table[slot] != np.uint64(0) and table[slot] != key:
                slot = (slot + np.uint64(1)) & last_slot
            if table[slot] != key:
                table[slot] = key
                stored += 1
            mark = key >> np.uint64(64 - MARK_BITS)
            marks[mark >> np.uint64(6)] |= np.uint64(1) << (mark & np.uint64(63))
        looked += second_start[group + 1] - second_start[group]
        place += 1
    return place, looked


@compiled
def look_up(
    third: KeyArray,
    fourth: KeyArray,
    fourth_start: StartArray,
    wanted: np.uint64,
    residue: np.uint64,
    table: KeyArray,
    marks: KeyArray,
) -> tuple[int, int, int]:
    """Look for a sum of two other lists that makes up the sum wanted with a stored one.

    Parameters
    ----------
    third : (a,) uint64
    fourth : (b,) uint64
        Grouped by their last bits.
    fourth_start : (c + 1,) int64
    wanted : uint64
        What all four lists are to add up to.
    residue : uint64
        Last bits of the stored sums.
    table, marks : array
        As :func:`store` has left them.

    Returns
    -------
    tuple of int
        Places in the two lists, -1 where there are none, and the sums looked at.
    """
    mask = np.uint64(fourth_start.size - 2)
    last_slot = np.uint64((1 << SLOT_BITS) - 1)
    looked = 0
    for place in range(third.size):
        left = wanted - third[place]
        group = np.int64((left - residue) & mask)
        for other in range(fourth_start[group], fourth_start[group + 1]):
            key = left - fourth[other]
            mark = key >> np.uint64(64 - MARK_BITS)
            if not (marks[mark >> np.uint64(6)] >> (mark & np.uint64(63))) & np.uint64(1):
                continue
            slot = key >> np.uint64(64 - SLOT_BITS)
            while table[slot] != np.uint64(0):
                if table[slot] == key:
                    return place, other, looked
                slot = (slot + np.uint64(1)) & last_slot
        looked += fourth_start[group + 1] - fourth_start[group]
    return -1, -1, looked
