"""What peeling leaves of a basis, as elimination changes it.

By columns with coefficients, by rows with positions only, each list with room to grow; and both
rows and columns chained by their counts of active entries, as the search for pivots wants them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import Int32Array, Int64Array
from solvers.simplex.factor.chains import HEAD, link
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.pivots import DONE, NUCLEUS_FULL, Pivots, add_upper
from solvers.simplex.form import Compressed

COLUMNS_USED, ROWS_USED, ACTIVE_ROWS, ACTIVE_COLUMNS, ACTIVE_ENTRIES, STAMP = range(6)
"""State: used parts of the two files, what is still active, the number of the last mark."""

NUM_STATE = 6

SLACK = 4
"""Entries of room that a list gets beside twice what it has."""


class Nucleus(NamedTuple):
    """The active matrix. Lists are by row or by position; removed ones have count 0.

    Parameters
    ----------
    column_begin, column_room, row_begin, row_room : (m,) int64 arrays
        Where each list begins, and where its room ends.
    column_count, row_count : (m,) int32 arrays
        How many entries it has.
    column_rows, column_values, row_positions : arrays
        The files.
    column_chain, row_chain : (3, m + 1) int32 arrays
        Doubly linked lists of the columns and rows with so many entries.
    column_largest : (m,) array
        Largest magnitude of each column's active entries.
    column_size, row_size : (m,) arrays
        Largest magnitude among all entries in the basis at the beginning.
    multiplier : (m,) array
        Zero between pivots; the column of L of the present pivot, by row.
    hit : (m,) int64 array
        Number of the last column update that met the row.
    state : int64 array
        By the constants of this module.
    """

    column_begin: Int64Array
    column_room: Int64Array
    column_count: Int32Array
    column_rows: Int32Array
    column_values: FloatArray
    row_begin: Int64Array
    row_room: Int64Array
    row_count: Int32Array
    row_positions: Int32Array
    column_chain: Int32Array
    row_chain: Int32Array
    column_largest: FloatArray
    column_size: FloatArray
    row_size: FloatArray
    multiplier: FloatArray
    hit: Int64Array
    state: Int64Array


def empty_nucleus(m: int, room: int) -> Nucleus:
    """Return room for a basis with m rows, and files of the size given."""
    return Nucleus(
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty(room),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty((3, m + 1), dtype=np.int32),
        np.empty((3, m + 1), dtype=np.int32),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m, dtype=np.int64),
        np.zeros(NUM_STATE, dtype=np.int64),
    )


@inner
def load(columns: Compressed, n: int, basic: Int64Array, pivots: Pivots, nucleus: Nucleus) -> int:
    """Copy what has no pivot yet; entries in rows that have one go to U.

    Returns ``DONE``, or ``NUCLEUS_FULL`` if the files are too small.
    """
    m = basic.size
    state = nucleus.state
    state[:] = 0
    nucleus.row_size[:] = 0.0
    nucleus.row_count[:] = 0
    nucleus.column_count[:] = 0
    nucleus.hit[:] = 0
    nucleus.multiplier[:] = 0.0  # a pass that ran out of room may have left some
    nucleus.column_chain[HEAD, :] = -1
    nucleus.row_chain[HEAD, :] = -1
    starts = columns.starts
    used = state[COLUMNS_USED]
    for position in range(m):
        if pivots.slot_of_position[position] >= 0:
            continue
        state[ACTIVE_COLUMNS] += 1
        variable = basic[position]
        if variable >= n:
            link(nucleus.column_chain, position, 0)  # a logical for the second time
            continue
        length = starts[variable + 1] - starts[variable]
        if used + 2 * length + SLACK > nucleus.column_rows.size:
            return NUCLEUS_FULL
        used = _load_column(columns, variable, position, used, pivots, nucleus)
    state[COLUMNS_USED] = used
    used = 0
    for row in range(m):
        if pivots.slot_of_row[row] >= 0:
            continue
        state[ACTIVE_ROWS] += 1
        nucleus.row_begin[row] = used
        used += 2 * nucleus.row_count[row] + SLACK
        if used > nucleus.row_positions.size:
            return NUCLEUS_FULL
        nucleus.row_room[row] = used
        link(nucleus.row_chain, row, nucleus.row_count[row])
        state[ACTIVE_ENTRIES] += nucleus.row_count[row]
        nucleus.row_count[row] = 0
    state[ROWS_USED] = used
    for position in range(m):
        begin = nucleus.column_begin[position]
        for entry in range(begin, begin + nucleus.column_count[position]):
            row = nucleus.column_rows[entry]
            nucleus.row_positions[nucleus.row_begin[row] + nucleus.row_count[row]] = position
            nucleus.row_count[row] += 1
    return DONE


@inner
def _load_column(
    columns: Compressed, variable: int, position: int, used: int, pivots: Pivots, nucleus: Nucleus
) -> int:
    """Copy one column; return the used part of the file."""
    starts, indices, values = columns
    nucleus.column_begin[position] = used
    size = largest = 0.0
    for entry in range(starts[variable], starts[variable + 1]):
        row, value = indices[entry], values[entry]
        magnitude = abs(value)
        size = max(size, magnitude)
        nucleus.row_size[row] = max(nucleus.row_size[row], magnitude)
        if value == 0.0:
            continue
        if pivots.slot_of_row[row] >= 0:
            add_upper(pivots, row, position, value)
            continue
        largest = max(largest, magnitude)
        nucleus.column_rows[used] = row
        nucleus.column_values[used] = value
        nucleus.row_count[row] += 1
        nucleus.column_count[position] += 1
        used += 1
    nucleus.column_size[position] = size
    nucleus.column_largest[position] = largest
    used += nucleus.column_count[position] + SLACK
    nucleus.column_room[position] = used
    link(nucleus.column_chain, position, nucleus.column_count[position])
    return used


def with_files(nucleus: Nucleus, room: int) -> Nucleus:
    """Return a nucleus with files of this size, which hold nothing."""
    return nucleus._replace(
        column_rows=np.empty(room, dtype=np.int32),
        column_values=np.empty(room),
        row_positions=np.empty(room, dtype=np.int32),
    )
