"""Sliced rows: the layout in which engines with kernels of their own keep a matrix.

It is SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format for efficient general
sparse matrix-vector multiplication on modern processors", SIAM J. Sci. Comput. 36, 2014) with
two changes. A slice of 32 lanes holds 32, 16, 8, ... or 1 rows, so that a row of any length has
about the same number of steps; and a row too long for that takes a whole unit of eight slices, or
several units (``shape.py``). All rows of one length stand together: the matrix is permuted once,
when it is laid out, and the vectors with it.

Neighbouring rows of a model often read neighbouring elements, as the capacities of all arcs do in
a flow of many commodities, where the elements of one row stand far apart. Such rows share steps:
up to eight of them, with four lanes each, go through their entries side by side, so that what one
sector of memory holds is read once. Which rows do is seen from the sectors that they touch.

On a CPU a slice is simply a row in its place (``height`` 1), and nothing is copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.linear_algebra import SparseRows
from solvers.core.machine import threads_for
from solvers.sparse.shape import GROUP, UNIT, IndexArray, Plan, share_out

FEW_VALUES = 256
"""Distinct coefficients, zero among them, that codes of one byte can stand for."""

MANY_VALUES = 4096
"""Distinct coefficients up to which codes of two bytes pay: their table stays in fast memory."""

SHORT_INDICES_FROM = 2_000_000
"""Coefficients from which indices of two bytes are used where they suffice: smaller matrices stay
in fast memory either way, and each type of index needs kernels compiled for it."""

STEPS_PER_ENTRY, STEPS_PER_CHOICE = 4, 10_000
"""Elementary steps of laying out an entry, and of choosing the lanes of a group of rows, by which
is seen whether threads pay."""

FloatArray = npt.NDArray[np.float64]
Figures = TypeVar("Figures", FloatArray, npt.NDArray[np.uint8])


@dataclass(frozen=True, eq=False)
class Packed:
    """How the entries of a matrix are stored.

    ``kind`` is the type of the stored values. Codes, of an unsigned type, are places in
    ``table``, which is ascending but for a zero in front: the value that padding has.
    """

    kind: type[np.generic] = np.float64
    index_kind: type[np.generic] = np.int32
    table: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def is_coded(self) -> bool:
        """Whether values are stored as codes."""
        return issubclass(self.kind, np.unsignedinteger)


def pack(values: FloatArray, rows: int, columns: int, threads: int = 1) -> Packed:
    """Find the shortest exact way to store the entries of a matrix and of its transpose.

    Codes for few distinct values (nnz,), float32 where that is exact, else float64.
    """
    from solvers.native.sparse_slices import are_single, distinct_values

    threads = threads_for(STEPS_PER_ENTRY * values.size, threads)
    short = max(rows, columns) <= np.iinfo(np.uint16).max + 1
    index_kind = np.uint16 if short and values.size >= SHORT_INDICES_FROM else np.int32
    found = np.empty(MANY_VALUES)
    count = distinct_values(values, found, threads)
    if count < MANY_VALUES:
        kind = np.uint8 if count < FEW_VALUES else np.uint16
        return Packed(kind, index_kind, np.concatenate([np.zeros(1), np.sort(found[:count])]))
    return Packed(np.float32 if are_single(values, threads) else np.float64, index_kind)


@dataclass(frozen=True, eq=False)
class Slices:
    """A matrix in sliced rows, on one device."""

    rows: int
    columns: int
    nonzeros: int
    height: int
    """Lanes of a slice."""
    meta: Any
    """(slices, 4) int: of each slice: its first entry divided by the height, its steps, its first
    row, and a code of lanes per row (its logarithm in bits 0-3), kind (4-5), rows (6-11) and, of
    the first slice of rows with units of their own, the slices those rows have (12-31). Of slices
    of height 1, (rows + 1, 1): where the entries of each row begin, and where the last end."""
    indices: Any
    """(entries,) int: columns; of padding too, whose value is zero."""
    values: Any
    """(entries,): coefficients, or codes that stand for places in ``table``."""
    table: Any
    """(distinct,) float: what codes stand for, zero first; empty if ``values`` are no codes."""
    splits: Any
    """(units, 4) int: of each unit up to the last one whose rows have several: the first partial
    sum of these rows, which of their units this is, and how many they have."""
    partials: Any
    """(..., 3) float: where units leave their sums of rows that have several."""
    tickets: Any
    """int array: how many of them have."""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments by which kernels take a matrix in slices."""
        return (
            self.slices,
            self.height,
            self.meta,
            self.indices,
            self.values,
            self.table,
            self.splits,
            self.partials,
            self.tickets,
        )

    def to_device(self, device: Device) -> Slices:
        """Return a copy in the device's memory."""
        arrays = {
            part.name: device.to_device(getattr(self, part.name))
            for part in fields(self)
            if isinstance(getattr(self, part.name), np.ndarray)
        }
        return replace(self, **arrays)

    @property
    def slices(self) -> int:
        """Number of slices."""
        return self.rows if self.height == 1 else int(self.meta.shape[0])

    @property
    def units(self) -> int:
        """Teams of threads that one product keeps busy."""
        return -(-self.slices // UNIT)

    @property
    def stored_entries(self) -> int:
        """Entries that all slices have room for."""
        return int(self.meta[-1, :2].sum(dtype=np.int64)) * self.height if len(self.meta) else 0

    @property
    def filled(self) -> int:
        """Slices with rows in them, on the host; fillers of the last unit come after them."""
        return int(np.count_nonzero(self.meta[:, 3]))

    def with_entries(self, indices: Any, values: Any) -> Slices:
        """Return slices with entries in them."""
        return replace(self, indices=indices, values=values)

    @property
    def entry_bytes(self) -> int:
        """Bytes of one stored entry."""
        return int(self.indices.dtype.itemsize + self.values.dtype.itemsize)

    @property
    def bytes(self) -> int:
        """Bytes that one product has to read of the matrix."""
        arrays = (self.meta, self.indices, self.values, self.table)
        return sum(int(array.nbytes) for array in arrays)

    @property
    def padding(self) -> float:
        """Stored entries that are no coefficients, as a part of the coefficients."""
        return int(self.indices.size) / max(1, self.nonzeros) - 1.0


def ordered(values: Figures, order: IndexArray, threads: int = 0) -> Figures:
    """Return the figures of rows (rows,), or codes, in the order in which rows are laid out."""
    from solvers.native.sparse_slices import take

    found = np.empty_like(values, shape=order.size)
    take(values, order.astype(np.int32, copy=False), found, threads_for(order.size, threads))
    return found


def in_slices(
    matrix: SparseRows,
    plan: Plan,
    order: IndexArray,
    column_position: IndexArray,
    packed: Packed,
    threads: int = 1,
) -> Slices:
    """Lay a matrix out in slices, on the host.

    Parameters
    ----------
    matrix : SparseRows
    plan : Plan
    order : (rows,) int array
        The old number of each new row, longest first; on a GPU rows may be missing.
    column_position : (columns,) int array
        The new number of each old column.
    packed : Packed
        How coefficients are stored; those of the matrix are packed by it.
    threads : int
        CPU threads at most, 0 for all cores.
    """
    if plan.height == 1:
        return _as_rows(matrix)
    from solvers.native.sparse_slices import fill

    lengths = matrix.lengths[order]
    slices = without_entries(matrix, plan, order, lengths, column_position, packed, threads)
    entries = slices.stored_entries
    values = np.zeros(entries, dtype=packed.kind)
    indices = np.zeros(entries, dtype=packed.index_kind)
    fill(
        matrix.indptr.astype(matrix.indices.dtype, copy=False),
        matrix.indices,
        matrix.data,
        packed.table,
        order.astype(np.int32, copy=False),
        column_position.astype(np.int32, copy=False),
        slices.meta,
        plan.height,
        indices,
        values,
        threads_for(STEPS_PER_ENTRY * matrix.nnz, threads),
    )
    return slices.with_entries(indices, values)


def without_entries(
    matrix: SparseRows,
    plan: Plan,
    order: IndexArray,
    lengths: IndexArray,
    column_position: IndexArray,
    packed: Packed,
    threads: int = 1,
) -> Slices:
    """Return the slices of a matrix with no entries in them yet, on the host.

    The arguments are those of :func:`in_slices`; ``lengths`` (rows,) are those of the new rows.
    """

    def choose(begin: int, end: int) -> IndexArray:
        from solvers.native.sparse_locality import choose_lanes

        lanes = np.empty((end - begin) // GROUP, dtype=np.int64)
        rows = order[begin:end].astype(np.int32, copy=False)
        position = column_position.astype(np.int32, copy=False)
        count = threads_for(STEPS_PER_CHOICE * lanes.size, threads)
        choose_lanes(matrix.indptr, matrix.indices, rows, position, lanes, count)
        return lanes

    shape = share_out(lengths, plan, choose if plan.joins else None)
    return Slices(
        rows=order.size,
        columns=matrix.shape[1],
        nonzeros=int(lengths.sum()),
        height=plan.height,
        meta=shape.meta,
        indices=np.zeros(0, dtype=packed.index_kind),
        values=np.zeros(0, dtype=packed.kind),
        table=packed.table if packed.is_coded else np.zeros(0),
        splits=shape.splits,
        partials=np.zeros((max(1, shape.partials), 3)),
        tickets=np.zeros(max(1, shape.partials), dtype=np.int32),
    )


def _as_rows(matrix: SparseRows) -> Slices:
    """Describe rows in their places as slices of height 1, without copying anything."""
    starts = matrix.indptr
    return Slices(
        rows=matrix.shape[0],
        columns=matrix.shape[1],
        nonzeros=matrix.nnz,
        height=1,
        meta=starts[:, np.newaxis],
        indices=matrix.indices,
        values=matrix.data,
        table=np.zeros(0),
        splits=np.zeros((0, 4), dtype=starts.dtype),
        partials=np.zeros((1, 3)),
        tickets=np.zeros(1, dtype=starts.dtype),
    )
