"""What the whole GPU's walker carries, how much memory that is, and which models it suits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.linear_algebra import SparseRows
from solvers.mip.budget import LARGE_MODEL
from solvers.mip.heuristics.local_search.kernels.grid_walk import (
    CHUNK,
    CONTROL,
    MOVE,
    PIECES,
    SHARED,
    SLOTS,
)
from solvers.mip.heuristics.local_search.kernels.walk import RECORD, Field
from solvers.mip.heuristics.local_search.layout import Layout, bytes_per_walker, first_records

TEAMS = 2048
"""Teams of a round on any GPU: about the warps that an H200 holds at two blocks to a processor."""

FRACTION = 0.1
"""How far below the best point the target lies, which decides how many moves a round makes towards
it. (The walkers of a fleet have 1e-4 to 1e-2, which here is a move or two in a round: on a covering
model of 20 thousand columns the first 500 rounds came to 155 thousand with 1e-2, to 112 with this.)
"""

LEAF_ROWS = 32
"""Rows in a word of the tree, and nodes under each node of it."""


@dataclass(frozen=True, eq=False)
class GridWideState:
    """State of the one walker; the names of arrays are those of the kernel's arguments.

    Parameters
    ----------
    walkers : int
        Always 1.
    values : (n * 2,) real
        Value and stamp of each column.
    cells : (m * 2,) real
        Slack and weight of each row.
    kept : (n,) real
        Columns of the best point.
    records : (RECORD,) float64
    tree : int32
        Bits of violated rows, and counts of them.
    claims : (m,) int64
        Who wants to change a row in this round.
    moves : (teams * MOVE,) float64
    slots : (SLOTS * MOVE,) float64
        Columns of more than a chunk that are scored in this round.
    partials : float64
        Sums over chunks, and of the objective.
    shares : (shared_count * teams,) float64
        What moves of this round take from shared rows.
    control : (CONTROL,) int32
    long_rows : (k,) int32
        Rows of more than a chunk, rising.
    shared_rows : (s,) int32
        The longest of them, which moves of a round may share, rising.
    long_count, shared_count, row_chunks, column_chunks : int
        Numbers of those rows; chunks of the longest row and column, 0 where none is that long.
    """

    walkers: int
    values: Any
    cells: Any
    kept: Any
    records: Any
    tree: Any
    claims: Any
    moves: Any
    slots: Any
    partials: Any
    shares: Any
    control: Any
    long_rows: Any
    shared_rows: Any
    long_count: int
    shared_count: int
    row_chunks: int
    column_chunks: int
    teams: int


def tree_nodes(rows: int) -> int:
    """Return the size of the tree over so many rows."""
    width = -(-rows // LEAF_ROWS)
    size = _padded(width)
    while True:
        width = -(-width // LEAF_ROWS)
        size += _padded(width)
        if width <= LEAF_ROWS:
            return size


def _padded(nodes: int) -> int:
    return -(-max(nodes, 1) // LEAF_ROWS) * LEAF_ROWS


def chunks_of(lines: SparseRows) -> int:
    """Return the chunks of the longest line; 0 where every line fits one."""
    longest = int(np.max(lines.lengths, initial=0))
    return -(-longest // CHUNK) if longest > CHUNK else 0


def _long_rows(layout: Layout) -> np.ndarray:
    lengths = layout.by_row.lengths
    return np.flatnonzero(lengths > CHUNK).astype(np.int32)


def _shared_rows(layout: Layout) -> np.ndarray:
    rows = _long_rows(layout)
    lengths = layout.by_row.lengths[rows]
    return np.sort(rows[np.argsort(-lengths, kind="stable")[:SHARED]])


def _held(rows: np.ndarray) -> np.ndarray:
    return rows if rows.size else np.zeros(1, np.int32)


def _partials(layout: Layout) -> int:
    slots = 2 * SLOTS * chunks_of(layout.by_column)
    return max(slots, int(_long_rows(layout).size) * chunks_of(layout.by_row) + PIECES)


def grid_bytes(layout: Layout, teams: int) -> int:
    """Return the memory of the walker's state."""
    real = np.dtype(layout.real).itemsize
    of_columns = layout.columns * 3 * real
    of_rows = max(1, layout.rows) * (2 * real + 8)
    lines = max(1, int(_long_rows(layout).size)), max(1, int(_shared_rows(layout).size))
    numbers = _partials(layout) + MOVE * (teams + SLOTS) + RECORD + teams * lines[1]
    integers = tree_nodes(layout.rows) + CONTROL + sum(lines)
    return of_columns + of_rows + 8 * numbers + 4 * integers


def _first_record(layout: Layout, seed: int) -> np.ndarray:
    """Return the record (RECORD,) of a walker that has not walked yet.

    Its score is that of Feasibility Jump, which weighs costs by their size. The other, of
    Local-MIP, counts only that a move lowers the objective: with many moves at once it came to
    twice the objective on covering models, for the same number of entries scored.
    """
    record = first_records(layout, 1, seed).ravel()
    record[Field.JUMP] = 1.0
    record[Field.OBJECTIVE_WEIGHT] = 0.0
    record[Field.FRACTION] = FRACTION
    return record


def make_grid_wide(layout: Layout, device: Device, teams: int, seed: int) -> GridWideState:
    """Allocate the state of the walker, without a point."""
    xp = device.xp
    long_rows, shared_rows = _long_rows(layout), _shared_rows(layout)
    return GridWideState(
        walkers=1,
        values=xp.zeros(2 * layout.columns, dtype=layout.real),
        cells=xp.zeros(2 * max(1, layout.rows), dtype=layout.real),
        kept=xp.zeros(layout.columns, dtype=layout.real),
        records=device.to_device(_first_record(layout, seed)),
        tree=xp.zeros(tree_nodes(layout.rows), dtype=np.int32),
        claims=xp.zeros(max(1, layout.rows), dtype=np.int64),
        moves=xp.zeros(MOVE * teams, dtype=np.float64),
        slots=xp.zeros(MOVE * SLOTS, dtype=np.float64),
        partials=xp.zeros(_partials(layout), dtype=np.float64),
        shares=xp.zeros(teams * max(1, shared_rows.size), dtype=np.float64),
        control=xp.zeros(CONTROL, dtype=np.int32),
        long_rows=device.to_device(_held(long_rows)),
        shared_rows=device.to_device(_held(shared_rows)),
        long_count=int(long_rows.size),
        shared_count=int(shared_rows.size),
        row_chunks=chunks_of(layout.by_row),
        column_chunks=chunks_of(layout.by_column),
        teams=teams,
    )


GRID_KERNEL = "walk_grid"
"""Name of this walker's kernel in a plan."""

LONG_MEAN = 200.0
"""Mean entries of rows or columns from which a warp takes too long over one."""

LARGE_STATE = 8 << 20
"""Bytes of one walker's state from which a warp takes too long over it. On an H200, with a million
columns, this walker comes to 2.29e6 in 12 s, no walker at all to 4.45e6."""

LONG_LINE = 10_000
"""Entries of a row or column that are too many for one warp, in a large model: in smaller ones a
move along a long column is rare, and a long row is sampled."""


def suits_grid(layout: Layout) -> bool:
    """Return whether the model has long rows or columns, or very many."""
    mean = layout.entries / max(1, min(layout.rows, layout.columns))
    if mean > LONG_MEAN or bytes_per_walker(layout) > LARGE_STATE:
        return True
    matrices = layout.by_row, layout.by_column
    longest = max(int(np.max(matrix.lengths, initial=0)) for matrix in matrices)
    return longest >= LONG_LINE and layout.entries >= LARGE_MODEL
