"""What a factorisation builds up: a sequence of pivots, the columns of L, the entries of U."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import Int32Array, Int64Array
from solvers.simplex.factor.inner import inner

COUNT, LOWER_USED, UPPER_USED, PEELED, WORK, NEEDED = range(6)
"""Sizes: pivots chosen, entries of L and U written, pivots that peeling chose, steps taken, and the
room that a full file should have had."""

NUM_SIZES = 6

DONE, LOWER_FULL, UPPER_FULL, NUCLEUS_FULL, FILLED_UP = range(5)
"""What a stage of the factorisation returns: which file has to grow, if any, or that the rest of
the nucleus should be eliminated as a dense matrix."""


class Pivots(NamedTuple):
    """The pivots chosen so far, and the factors' entries.

    Parameters
    ----------
    row, position, value : (m,) arrays
        Each pivot in order of elimination.
    slot_of_row, slot_of_position : (m,) int32 arrays
        When a row or position was eliminated, or -1.
    lower_begin, lower_end : (m,) int64 arrays
        Where the column of L lies that belongs to each row; empty if the pivot has none.
    lower_indices, lower_values : arrays
        Its rows and multipliers.
    upper_row, upper_position, upper_value : arrays
        Entries of U in any order.
    sizes : int64 array
        By the constants of this module.
    """

    row: Int32Array
    position: Int32Array
    value: FloatArray
    slot_of_row: Int32Array
    slot_of_position: Int32Array
    lower_begin: Int64Array
    lower_end: Int64Array
    lower_indices: Int32Array
    lower_values: FloatArray
    upper_row: Int32Array
    upper_position: Int32Array
    upper_value: FloatArray
    sizes: Int64Array


def empty_pivots(m: int, lower_room: int, upper_room: int) -> Pivots:
    """Return room for a basis with m rows."""
    return Pivots(
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.empty(lower_room, dtype=np.int32),
        np.empty(lower_room),
        np.empty(upper_room, dtype=np.int32),
        np.empty(upper_room, dtype=np.int32),
        np.empty(upper_room),
        np.zeros(NUM_SIZES, dtype=np.int64),
    )


@inner
def choose(pivots: Pivots, row: int, position: int, value: float) -> None:
    """Note a pivot; its column of L begins at the end of the file, and has no entries yet."""
    slot = pivots.sizes[COUNT]
    pivots.row[slot] = row
    pivots.position[slot] = position
    pivots.value[slot] = value
    pivots.slot_of_row[row] = slot
    pivots.slot_of_position[position] = slot
    pivots.lower_begin[row] = pivots.sizes[LOWER_USED]
    pivots.lower_end[row] = pivots.sizes[LOWER_USED]
    pivots.sizes[COUNT] = slot + 1


@inner
def add_lower(pivots: Pivots, owner: int, row: int, multiplier: float) -> None:
    """Append an entry to the column of L of the pivot chosen last, whose row is the owner."""
    used = pivots.sizes[LOWER_USED]
    pivots.lower_indices[used] = row
    pivots.lower_values[used] = multiplier
    pivots.sizes[LOWER_USED] = used + 1
    pivots.lower_end[owner] = used + 1


@inner
def add_upper(pivots: Pivots, row: int, position: int, value: float) -> None:
    """Append an entry of U."""
    used = pivots.sizes[UPPER_USED]
    pivots.upper_row[used] = row
    pivots.upper_position[used] = position
    pivots.upper_value[used] = value
    pivots.sizes[UPPER_USED] = used + 1
