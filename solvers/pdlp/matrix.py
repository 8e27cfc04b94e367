"""The coefficients of a problem on a device: A and A' in slices, with entries packed.

On a GPU rows and columns are permuted so that those of one length stand together; everything on
the device is in that order, and :class:`Coefficients` knows the way back. On a CPU both stay
where they are, and nothing is copied.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import Problem
from solvers.core.rows import SparseRows
from solvers.sparse.slices import (
    CPU_PLAN,
    Packed,
    Plan,
    Slices,
    in_slices,
    inverse,
    pack,
    row_order,
)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A (``by_row``) and A' (``by_column``), and the orders of rows (m,) and columns (n,).

    ``row_order[i]`` is the original number of the device's row i, an array on the host; None
    stands for no change.
    """

    by_row: Slices
    by_column: Slices
    row_order: Any = None
    column_order: Any = None


def to_device(problem: Problem, device: Device, plan: Plan, pack_from: int) -> Coefficients:
    """Lay the matrix of a problem out by rows and by columns, and copy it to the device.

    Matrices with fewer than ``pack_from`` coefficients are not packed: they are bound by latency,
    and each way of packing needs kernels compiled for it.
    """
    rows, columns = problem.entries, SparseRows.of(problem.matrix_csc)
    if device.kind == "cpu":
        none = np.zeros(0, dtype=np.int64)
        return Coefficients(
            in_slices(rows, CPU_PLAN, none, none, Packed()),
            in_slices(columns, CPU_PLAN, none, none, Packed()),
        )
    packed = pack(rows.data, *rows.shape) if rows.nnz >= pack_from else Packed()
    rows_ordered, columns_ordered = row_order(rows, plan), row_order(columns, plan)
    row_position, column_position = inverse(rows_ordered), inverse(columns_ordered)
    with ThreadPoolExecutor(1) as other:  # the loops run without the interpreter's lock
        by_column = other.submit(in_slices, columns, plan, columns_ordered, row_position, packed)
        by_row = in_slices(rows, plan, rows_ordered, column_position, packed).to_device(device)
        return Coefficients(
            by_row=by_row,
            by_column=by_column.result().to_device(device),
            row_order=rows_ordered,
            column_order=columns_ordered,
        )
