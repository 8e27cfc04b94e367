"""The coefficients of a problem in slices, laid out on the device.

The host orders rows and columns by their lengths and finds how values are packed. Entries of a
large matrix go to the GPU as they are, piece by piece through pinned memory, and kernels put each
piece into its slices while the host copies the next: the host never holds a second form of it.
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

ON_DEVICE_FROM = 10_000_000
"""Nonzeros from which entries are laid out on the device. That takes another kernel, and pinned
memory: with two million the first solve of a process on an H200 took 0.53 s more than the second,
and 0.39 s more where the host laid them out."""

PIECE_ENTRIES = PIECE // 8
"""Entries that travel at a time."""


def to_device(
    problem: Problem, device: Device, plan: Plan, pack_from: int, threads: int = 0
) -> Coefficients:
    """Lay the matrix of a problem out by rows and by columns, in the memory of the device.

    Matrices with fewer than ``pack_from`` coefficients are not packed: they are bound by latency,
    and each way of packing needs kernels compiled for it.
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
    packed = pack(rows.data, *rows.shape, threads) if rows.nnz >= pack_from else Packed()
    if rows.nnz < ON_DEVICE_FROM:
        of_rows = in_slices(rows, plan, row_order.order, column_order.position, packed, threads)
        of_columns = in_slices(
            columns, plan, column_order.order, row_order.position, packed, threads
        )
        return Coefficients(of_rows.to_device(device), of_columns.to_device(device), *orders)
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
