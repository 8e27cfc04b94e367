"""The triangular part of a basis: logicals, then columns and rows with a single entry left.

Most of a simplex basis is of this kind, and needs no arithmetic but division by the pivots of rows
with one entry. A column with one active entry gives no multipliers: what it has in rows that went
before is U's. A row with one active entry gives its column to L.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.simplex.factor.arrays import Int32Array, Int64Array
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.pivots import WORK, Pivots, add_lower, add_upper, choose
from solvers.simplex.form import Compressed


class Peeling(NamedTuple):
    """Room for peeling: (m,) counts, queues, and the positions of each row's entries."""

    row_count: Int32Array
    column_count: Int32Array
    row_queue: Int32Array
    column_queue: Int32Array
    row_begin: Int64Array
    row_positions: Int32Array


def empty_peeling(m: int, entries: int) -> Peeling:
    """Return room for a basis with m rows and so many entries."""
    return Peeling(
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.zeros(m + 1, dtype=np.int64),
        np.zeros(entries, dtype=np.int32),
    )


@inner
def _choose_logicals(basic: Int64Array, n: int, pivots: Pivots) -> None:
    for position in range(basic.size):
        row = basic[position] - n
        if row >= 0 and pivots.slot_of_row[row] < 0:
            choose(pivots, row, position, -1.0)


@inner
def _count(columns: Compressed, basic: Int64Array, n: int, pivots: Pivots, room: Peeling) -> None:
    """Count the active entries of rows and columns, and list each row's positions."""
    m = basic.size
    starts, indices, values = columns
    room.row_count[:] = 0
    room.column_count[:] = 0
    for position in range(m):
        variable = basic[position]
        if variable >= n:
            continue
        for entry in range(starts[variable], starts[variable + 1]):
            row = indices[entry]
            if values[entry] != 0.0 and pivots.slot_of_row[row] < 0:
                room.row_count[row] += 1
                room.column_count[position] += 1
    room.row_begin[0] = 0
    for row in range(m):
        room.row_begin[row + 1] = room.row_begin[row] + room.row_count[row]
        room.row_count[row] = 0
    for position in range(m):
        variable = basic[position]
        if variable >= n:
            continue
        for entry in range(starts[variable], starts[variable + 1]):
            row = indices[entry]
            if values[entry] != 0.0 and pivots.slot_of_row[row] < 0:
                room.row_positions[room.row_begin[row] + room.row_count[row]] = position
                room.row_count[row] += 1


@inner
def _take_column(
    columns: Compressed, variable: int, position: int, row: int, pivots: Pivots
) -> None:
    """Eliminate a column on a row that, or in which it, is the last: L and U get its entries."""
    starts, indices, values = columns
    pivot = 1.0
    for entry in range(starts[variable], starts[variable + 1]):
        if indices[entry] == row:
            pivot = values[entry]
    choose(pivots, row, position, pivot)
    for entry in range(starts[variable], starts[variable + 1]):
        other, value = indices[entry], values[entry]
        if value == 0.0 or other == row:
            continue
        if pivots.slot_of_row[other] >= 0:
            add_upper(pivots, other, position, value)
        else:
            add_lower(pivots, row, other, value / pivot)


@inner
def _active_row(columns: Compressed, variable: int, pivots: Pivots) -> int:
    """Return the one active row of a column."""
    starts, indices, values = columns
    for entry in range(starts[variable], starts[variable + 1]):
        if values[entry] != 0.0 and pivots.slot_of_row[indices[entry]] < 0:
            return int(indices[entry])
    return -1


@inner
def _active_position(room: Peeling, row: int, pivots: Pivots) -> int:
    """Return the one active position of a row."""
    for place in range(room.row_begin[row], room.row_begin[row + 1]):
        if pivots.slot_of_position[room.row_positions[place]] < 0:
            return int(room.row_positions[place])
    return -1


@inner
def _shorten_columns(row: int, pivots: Pivots, room: Peeling, queued: int) -> int:
    """Count columns without a row that has its pivot; queue those with one entry left."""
    begin, end = room.row_begin[row], room.row_begin[row + 1]
    for place in range(begin, end):
        position = room.row_positions[place]
        room.column_count[position] -= 1
        if room.column_count[position] == 1 and pivots.slot_of_position[position] < 0:
            room.column_queue[queued] = position
            queued += 1
    pivots.sizes[WORK] += end - begin
    return queued


@inner
def _shorten_rows(
    columns: Compressed, variable: int, pivots: Pivots, room: Peeling, queued: int
) -> int:
    """Count rows without a column that has its pivot; queue those with one entry left."""
    starts, indices, values = columns
    for entry in range(starts[variable], starts[variable + 1]):
        row = indices[entry]
        if values[entry] != 0.0 and pivots.slot_of_row[row] < 0:
            room.row_count[row] -= 1
            if room.row_count[row] == 1:
                room.row_queue[queued] = row
                queued += 1
    pivots.sizes[WORK] += starts[variable + 1] - starts[variable]
    return queued


@inner
def peel(columns: Compressed, n: int, basic: Int64Array, pivots: Pivots, room: Peeling) -> None:
    """Choose all pivots that need no elimination; what is left is the nucleus.

    Parameters
    ----------
    columns : Compressed
        The structurals, n of them.
    basic : (m,) int64 array
        The basis.
    pivots : Pivots
        Empty on entry; L and U need room for all entries of the basis.
    """
    _choose_logicals(basic, n, pivots)
    _count(columns, basic, n, pivots, room)
    columns_queued = rows_queued = 0
    for which in range(basic.size):
        if room.column_count[which] == 1:
            room.column_queue[columns_queued] = which
            columns_queued += 1
        if room.row_count[which] == 1:
            room.row_queue[rows_queued] = which
            rows_queued += 1
    column_at = row_at = 0
    while column_at < columns_queued or row_at < rows_queued:
        if column_at < columns_queued:
            position = room.column_queue[column_at]
            column_at += 1
            if pivots.slot_of_position[position] >= 0 or room.column_count[position] != 1:
                continue
            row = _active_row(columns, basic[position], pivots)
        else:
            row = room.row_queue[row_at]
            row_at += 1
            if pivots.slot_of_row[row] >= 0 or room.row_count[row] != 1:
                continue
            position = _active_position(room, row, pivots)
        _take_column(columns, basic[position], position, row, pivots)
        columns_queued = _shorten_columns(row, pivots, room, columns_queued)
        rows_queued = _shorten_rows(columns, basic[position], pivots, room, rows_queued)
    pivots.sizes[WORK] += 2 * room.row_begin[basic.size] + 3 * basic.size


def with_positions(peeling: Peeling, room: int) -> Peeling:
    """Return room for peeling a basis with so many entries."""
    return peeling._replace(row_positions=np.zeros(room, dtype=np.int32))
