"""The coefficients of a problem in slices, laid out on the device.

The host orders rows and columns by their lengths and finds how values are packed. Entries go to the
GPU as they are, piece by piece through pinned memory, and kernels put each piece into its slices
while the host copies the next: the host never holds a second form of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import Problem
from solvers.core.rows import SparseRows
from solvers.core.transfers import PIECE, Pinned
from solvers.pdlp.kernels.layout import LAYOUT
from solvers.pdlp.state import Coefficients
from solvers.sparse.slices import (
    CPU_PLAN,
    Packed,
    Plan,
    RowOrder,
    Slices,
    in_slices,
    order_rows,
    pack,
    without_entries,
)

PIECE_ENTRIES = PIECE // 8
"""Entries that travel at a time."""


def to_device(
    problem: Problem, device: Device, plan: Plan, pack_from: int, threads: int = 0
) -> Coefficients:
    """Lay the matrix of a problem out by rows and by columns, in the memory of the device.

    Matrices with fewer than ``pack_from`` coefficients are not packed, and laid out on the host:
    they are bound by latency, and each way of packing needs kernels compiled for it.
    """
    rows, columns = problem.entries, problem.by_column(threads)
    if device.kind == "cpu":
        none = np.zeros(0, dtype=np.int32)
        return Coefficients(
            in_slices(rows, CPU_PLAN, none, none, Packed()),
            in_slices(columns, CPU_PLAN, none, none, Packed()),
        )
    row_order, column_order = order_rows(rows, threads), order_rows(columns, threads)
    orders = tuple(None if one.is_kept else one.order for one in (row_order, column_order))
    if rows.nnz < pack_from:
        laid = (
            in_slices(matrix, plan, own.order, other.position, Packed()).to_device(device)
            for matrix, own, other in (
                (rows, row_order, column_order),
                (columns, column_order, row_order),
            )
        )
        return Coefficients(*laid, *orders)
    packed = pack(rows.data, *rows.shape, threads)
    row_position = device.to_device(row_order.position)
    column_position = device.to_device(column_order.position)
    by_row = _laid_out(rows, plan, row_order, row_position, column_position, packed, device)
    by_column = _laid_out(
        columns, plan, column_order, column_position, row_position, packed, device
    )
    return Coefficients(by_row, by_column, *orders)


def _laid_out(
    matrix: SparseRows,
    plan: Plan,
    order: RowOrder,
    position: Any,
    column_position: Any,
    packed: Packed,
    device: Device,
) -> Slices:
    """Return a matrix in slices on the device; the positions are there already."""
    xp, slices = device.xp, without_entries(matrix, plan, order.lengths, packed)
    there = slices.to_device(device)
    laid = there.with_entries(
        xp.zeros(slices.stored_entries, dtype=packed.index_kind),
        xp.zeros(slices.stored_entries, dtype=packed.kind),
    )
    starts = device.to_device(matrix.indptr)
    indices, values = (
        xp.empty(min(PIECE_ENTRIES, matrix.nnz), dtype=kind) for kind in (np.int32, np.float64)
    )
    with Pinned(device, PIECE) as pinned:
        for piece, first in enumerate(range(0, matrix.nnz, PIECE_ENTRIES)):
            own = slice(first, first + PIECE_ENTRIES)
            count = min(PIECE_ENTRIES, matrix.nnz - first)
            pinned.send(matrix.indices[own], indices[:count])
            pinned.send(matrix.data[own], values[:count])
            LAYOUT["lay_out"](
                *(slices.filled, plan.height, laid.meta, matrix.shape[0], starts),
                *(position, column_position, piece, PIECE_ENTRIES, count, indices, values),
                *(laid.table.size, laid.table, laid.indices, laid.values),
            )
    return laid
