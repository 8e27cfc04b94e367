"""The coefficients of a problem in slices, laid out on the device.

The host orders rows and columns by their lengths and finds how values are packed. Entries of a
large matrix go to the GPU as they are, piece by piece through pinned memory, and kernels put each
piece into its slices while the host copies the next: the host never holds a second form of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import Problem
from solvers.core.transfers import PIECE, Pinned
from solvers.pdlp.kernels.layout import LAY_OUT, LAYOUT
from solvers.pdlp.state import Coefficients
from solvers.sparse.order import order_both
from solvers.sparse.shape import Plan
from solvers.sparse.slices import Packed, Slices, in_slices, pack, without_entries

ON_DEVICE_FROM = 3_000_000
"""Nonzeros from which entries are laid out on the device. 13 families with four million took 16.4 s
to 1e-4 in all on an H100, and 17.6 s where ten cores of the host laid them out. It takes pinned
memory: with two million the first solve of a process on an H200 took 0.53 s more than the second,
and 0.39 s more where the host laid them out."""

PIECE_ENTRIES = PIECE // 8
"""Entries that travel at a time."""


def to_device(
    problem: Problem, device: Device, plan: Plan, pack_from: int, threads: int = 0
) -> Coefficients:
    """Lay the matrix of a problem out by rows and by columns, in the memory of a GPU.

    Matrices with fewer than ``pack_from`` coefficients are not packed: they are bound by latency,
    and each way of packing needs kernels compiled for it.
    """
    rows, columns = problem.entries, problem.by_column(threads)
    row_order, column_order = order_both(rows, columns, plan, threads)
    orders = tuple(None if one.is_kept else one.order for one in (row_order, column_order))
    packed = pack(rows.data, *rows.shape, threads) if rows.nnz >= pack_from else Packed()
    sides = ((rows, row_order, column_order), (columns, column_order, row_order))
    if rows.nnz < ON_DEVICE_FROM:
        by_both = (
            in_slices(matrix, plan, own.order, other.position, packed, threads).to_device(device)
            for matrix, own, other in sides
        )
        return Coefficients(*by_both, *orders)
    positions = {one: device.to_device(one.position) for one in (row_order, column_order)}
    laid = []
    for matrix, own, other in sides:
        slices = without_entries(
            matrix, plan, own.order, own.lengths, other.position, packed, threads
        )
        laid += laid_out([slices], matrix, positions[own], positions[other], device)
    return Coefficients(*laid, *orders)


def laid_out(
    parts: Sequence[Slices], matrix: SparseRows, position: Any, column_position: Any, device: Device
) -> list[Slices]:
    """Fill slices of some rows of a matrix on the device, where the positions are already.

    The rows of each part stand behind those of the one before; those in none have a negative
    position (rows,).
    """
    xp, found, ends = device.xp, [], [0]
    for part in parts:
        entries = (
            xp.zeros(part.stored_entries, dtype=kind)
            for kind in (part.indices.dtype, part.values.dtype)
        )
        found.append(part.to_device(device).with_entries(*entries))
        ends.append(ends[-1] + part.rows)
    filled = [part.filled for part in parts]  # each is a look at all slices
    starts = device.to_device(matrix.indptr)
    indices, values = (
        xp.empty(min(PIECE_ENTRIES, matrix.nnz), dtype=kind) for kind in (np.int32, np.float64)
    )
    with Pinned(xp) as pinned:
        for piece, first in enumerate(range(0, matrix.nnz, PIECE_ENTRIES)):
            own = slice(first, first + PIECE_ENTRIES)
            count = min(PIECE_ENTRIES, matrix.nnz - first)
            pinned.send(matrix.indices[own], indices[:count])
            pinned.send(matrix.data[own], values[:count])
            for part, slices, laid, rows in zip(parts, filled, found, pairwise(ends), strict=True):
                to_fill = LAY_OUT.arguments_of(
                    slices=slices,
                    height=part.height,
                    meta=laid.meta,
                    first_row=rows[0],
                    last_row=rows[1],
                    codes=laid.table.size,
                    table=laid.table,
                    laid_indices=laid.indices,
                    laid_values=laid.values,
                    rows=matrix.shape[0],
                    starts=starts,
                    position=position,
                    column_position=column_position,
                    piece=piece,
                    piece_entries=PIECE_ENTRIES,
                    count=count,
                    indices=indices,
                    values=values,
                )
                LAYOUT["lay_out"](*to_fill)
    return found
