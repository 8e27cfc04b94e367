"""Matrices as PDLP lays them out, for kernel tests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from solvers.core.linear_algebra import SparseRows
from solvers.sparse.order import order_rows
from solvers.sparse.shape import CPU_PLAN, Plan
from solvers.sparse.slices import Packed, Slices, in_slices
from tests.emulator.gpu import EmulatedGpu
from tests.matrices import as_problem_matrix

PLANS = {
    "cpu": CPU_PLAN,
    "usual": Plan(),
    "one step": Plan(steps=1, unit_from=64, units_from=512),
    "many units": Plan(steps=8, unit_from=40, units_from=100),
    "joined rows": Plan(steps=1, unit_from=64, units_from=512, joins=True),
    "joined, many units": Plan(steps=2, unit_from=40, units_from=256, joins=True),
}
"""Ways to lay rows out, among them some that give moderate rows units of their own."""

PACKINGS = ("float64", "float32", "uint8", "uint16")


@dataclass(frozen=True, eq=False)
class Laid:
    """A matrix in slices, as A and as A', with ``matrix`` in the order of the slices."""

    matrix: sp.csr_array
    by_row: Slices
    by_column: Slices

    @property
    def plain(self) -> Laid:
        """The same places without packing: a twin is compiled once for all of them."""
        return Laid(self.matrix, unpacked(self.by_row), unpacked(self.by_column))


def lay_out(
    matrix: sp.csr_array,
    plan: Plan = CPU_PLAN,
    packing: str = "float64",
    packed: Packed | None = None,
) -> Laid:
    """Lay a matrix out on the host, as ``packed`` says.

    Without that coefficients become such as the packing can stand for.
    """
    matrix = as_problem_matrix(matrix.copy())
    if packed is None:
        matrix.data, packed = packable(matrix, packing)
    of_rows, of_columns = SparseRows.of(matrix), SparseRows.of(matrix.tocsc())
    if plan.height == 1:
        none = np.zeros(0, dtype=np.int32)
        laid = (in_slices(one, plan, none, none, packed) for one in (of_rows, of_columns))
        return Laid(matrix, *laid)
    rows, columns = order_rows(of_rows), order_rows(of_columns)
    ordered = as_problem_matrix(matrix[rows.order][:, columns.order])
    by_row = in_slices(of_rows, plan, rows.order, columns.position, packed)
    by_column = in_slices(of_columns, plan, columns.order, rows.position, packed)
    return Laid(ordered, by_row, by_column)


def packable(matrix: sp.csr_array, packing: str) -> tuple[np.ndarray, Packed]:
    """Return coefficients near those given that a packing stores exactly, and the packing."""
    data = matrix.data
    indices = np.uint16 if max(matrix.shape) <= 2**16 else np.int32
    if packing == "float64":
        return data, Packed(np.float64, indices)
    if packing == "float32":
        return data.astype(np.float32).astype(np.float64), Packed(np.float32, indices)
    distinct = np.linspace(-2.0, 2.0, 200 if packing == "uint8" else 3000)
    nearest = np.minimum(np.searchsorted(distinct, data), distinct.size - 1)
    kind = np.uint8 if packing == "uint8" else np.uint16
    return distinct[nearest], Packed(kind, indices, np.concatenate([[0.0], distinct]))


def unpacked(slices: Slices) -> Slices:
    values = slices.table[slices.values] if slices.table.size else slices.values
    return replace(
        slices,
        values=np.asarray(values, dtype=np.float64),
        indices=slices.indices.astype(np.int32),
        table=np.zeros(0),
        tickets=slices.tickets.copy(),
        partials=slices.partials.copy(),
    )


PRETENDED_GPU = EmulatedGpu("cuda", "the host with the layout of a GPU")
