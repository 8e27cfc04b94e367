"""In which order rows and columns of a matrix are laid out: longest first.

Among rows of one length those next to each other should read elements next to each other, for they
are read together, and by sectors of memory. In most models they do in the order in which they come.
In some another order lets gathers touch far fewer sectors: where the columns of each commodity
stand together, but rows of each arc sum over all commodities, say. So another is tried: columns by
the last row that they stand in, and then rows by their first column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.sparse.shape import IndexArray, Plan

BAD, BETTER = 0.75, 0.95
"""Sectors for each entry of one product above which another order is looked for, which takes some
iterations' time, and the part of those of both products to which it has to bring them down.
Stretches of neighbours take 0.25, elements anywhere one. Of fourteen families of one and of six
million nonzeros (two seeds) five are above, and the other order is taken on three of them: with 0.3
of the sectors on multicommodity flow, with 0.9 on sparse regression, and on supply chains of six
million. Rows first and then columns would be taken on none of the other two."""


@dataclass(frozen=True, eq=False)
class RowOrder:
    """How the rows of a matrix are laid out: longest first."""

    order: IndexArray
    """(rows,) int32: the old number of each new row."""
    position: IndexArray
    """(rows,) int32: the new number of each old row."""
    lengths: IndexArray
    """(rows,) int: entries of each new row."""
    is_kept: bool
    """All rows stay where they are."""


def order_rows(matrix: SparseRows, threads: int = 1, turn: IndexArray | None = None) -> RowOrder:
    """Order the rows of a matrix by their lengths, on so many CPU threads, 0 for all.

    Rows of one length come in ``turn`` (rows,), by default in that of their numbers.
    """
    from solvers.native.sparse_slices import order_by_length

    rows = matrix.shape[0]
    turn = np.zeros(0, dtype=np.int32) if turn is None else turn
    order, position = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    lengths = np.empty(rows, dtype=matrix.indptr.dtype)
    is_kept = order_by_length(
        matrix.indptr, turn, order, position, lengths, threads_for(STEPS_PER_LOOK * rows, threads)
    )
    return RowOrder(order, position, lengths, is_kept)


def order_both(
    rows: SparseRows, columns: SparseRows, plan: Plan, threads: int = 1
) -> tuple[RowOrder, RowOrder]:
    """Order rows and columns of a matrix; ``columns`` is its transpose by rows."""
    best = order_rows(rows, threads), order_rows(columns, threads)
    if not plan.reorders:
        return best
    usual = _sectors(rows, columns, *best, plan)
    if max(usual) <= BAD:
        return best
    as_they_are = np.arange(rows.shape[0], dtype=np.int32)
    column_order = _by_places(columns, as_they_are, threads, greatest=True)
    other = _by_places(rows, column_order.position, threads, greatest=False), column_order
    return other if sum(_sectors(rows, columns, *other, plan)) < BETTER * sum(usual) else best


def _by_places(
    matrix: SparseRows, column_position: IndexArray, threads: int, *, greatest: bool
) -> RowOrder:
    """Order rows by length, those of one length by their first column or by their last."""
    from solvers.native.sparse_locality import extreme_places, order_by_place

    count = threads_for(matrix.nnz, threads)
    places, turn = (np.empty(matrix.shape[0], dtype=np.int32) for _ in range(2))
    extreme_places(matrix.indptr, matrix.indices, column_position, greatest, places, count)
    order_by_place(places, turn, count)
    return order_rows(matrix, threads, turn)


def _sectors(
    rows: SparseRows,
    columns: SparseRows,
    row_order: RowOrder,
    column_order: RowOrder,
    plan: Plan,
) -> tuple[float, ...]:
    """Return how many sectors the gathers of each product touch, for each entry."""
    from solvers.native.sparse_locality import gathered_sectors

    return tuple(
        gathered_sectors(
            matrix.indptr, matrix.indices, own.order, own.lengths, other.position, plan.steps
        )
        for matrix, own, other in (
            (rows, row_order, column_order),
            (columns, column_order, row_order),
        )
    )
