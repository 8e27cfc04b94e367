"""Sliced rows: the layout in which engines with kernels of their own keep a matrix.

It is SELL-C-sigma (Kreutzer et al., "A unified sparse matrix data format for efficient general
sparse matrix-vector multiplication on modern processors", SIAM J. Sci. Comput. 36, 2014) with
two changes. A slice of 32 lanes holds 32, 16, 8, ... or 1 rows, so that a row of any length has
about the same number of steps; and a row too long for that takes a whole unit of eight slices, or
several units. All rows of one length stand together: the matrix is permuted once, when it is laid
out, and the vectors with it.

On a CPU a slice is simply a row in its place (``height`` 1), and nothing is copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.cores import threads_for
from solvers.core.device import Device
from solvers.core.rows import SparseRows

UNIT = 8
"""Slices of a unit: the warps of a team of threads."""

SHORT_ROWS, ROW_OF_UNIT, ROW_OF_UNITS = 0, 1, 2
"""Kinds of slices: several rows; an eighth of a row; a part of a row that has several units."""


@dataclass(frozen=True)
class Plan:
    """How rows are shared out over lanes.

    Parameters
    ----------
    height : int
        Lanes of a slice: 32 on a GPU, 1 on a CPU.
    steps : int
        Steps in which a row is done at the most while it has fewer than 32 lanes.
    unit_from : int
        Rows with more entries than this take a whole unit.
    units_from : int
        Rows with more entries than this take several units, one for so many entries. A multiple
        of a unit's lanes, so that no unit of a long row is without entries. With 4096
        dense columns of 20,000 entries cost 5 % more than with 8192, with 16384 a staircase 13 %.
    """

    height: int = 32
    steps: int = 4
    unit_from: int = 256
    units_from: int = 8192


CPU_PLAN = Plan(height=1)

FEW_VALUES = 256
"""Distinct coefficients, zero among them, that codes of one byte can stand for."""

MANY_VALUES = 4096
"""Distinct coefficients up to which codes of two bytes pay: their table stays in fast memory."""

SHORT_INDICES_FROM = 2_000_000
"""Coefficients from which indices of two bytes are used where they suffice: smaller matrices stay
in fast memory either way, and each type of index needs kernels compiled for it."""

STEPS_PER_ENTRY = 4
"""Elementary steps of laying out an entry, by which is seen whether threads pay."""

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.signedinteger[Any]]


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
    """A matrix in sliced rows, on one device.

    Parameters
    ----------
    rows, columns, nonzeros : int
    height : int
        Lanes of a slice.
    meta : (slices, 4) int array
        Of each slice: its first entry divided by the height, its steps, its first row, and a
        code of lanes per row (its logarithm in bits 0-3), kind (4-5), rows (6-11) and, of the
        first slice of a long row, the slices that row has (12-31).
    indices : (entries,) int array
        Columns; of padding too, whose value is zero.
    values : (entries,) array
        Coefficients, or codes that stand for places in ``table``.
    table : (distinct,) float array
        What codes stand for, zero first; empty if ``values`` are no codes.
    splits : (units of rows with several units, 4) int array
        First partial sum of the row, which of its units this is, and how many it has.
    partials : (..., 3) float array
        Where units of one row leave their sums.
    tickets : int array
        How many of them have.
    """

    rows: int
    columns: int
    nonzeros: int
    height: int
    meta: Any
    indices: Any
    values: Any
    table: Any
    splits: Any
    partials: Any
    tickets: Any

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments by which kernels take a matrix in slices."""
        return (
            int(self.meta.shape[0]),
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
    def units(self) -> int:
        """Teams of threads that one product keeps busy."""
        return -(-int(self.meta.shape[0]) // UNIT)

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


@dataclass(frozen=True, eq=False)
class RowOrder:
    """How the rows of a matrix are laid out: longest first.

    Rows of one length keep their order, which in models is that of one family of constraints.

    Parameters
    ----------
    order : (rows,) int32 array
        The old number of each new row.
    position : (rows,) int32 array
        The new number of each old row.
    lengths : (rows,) int array
        Entries of each new row.
    is_kept : bool
        All rows stay where they are.
    """

    order: IndexArray
    position: IndexArray
    lengths: IndexArray
    is_kept: bool


def order_rows(matrix: SparseRows, threads: int = 1) -> RowOrder:
    """Order the rows of a matrix by their lengths, on so many CPU threads, 0 for all."""
    from solvers.native.sparse_slices import order_by_length

    rows = matrix.shape[0]
    order, position = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    lengths = np.empty(rows, dtype=matrix.indptr.dtype)
    is_kept = order_by_length(
        matrix.indptr, order, position, lengths, threads_for(STEPS_PER_ENTRY * rows, threads)
    )
    return RowOrder(order, position, lengths, is_kept)


def ordered(values: FloatArray, order: IndexArray, threads: int = 0) -> FloatArray:
    """Return the figures of rows (rows,) in the order in which the rows are laid out."""
    from solvers.native.sparse_slices import take

    found = np.empty(order.size)
    take(values, order.astype(np.int32, copy=False), found, threads_for(order.size, threads))
    return found


def in_place(values: FloatArray, order: IndexArray, threads: int = 0) -> FloatArray:
    """Return figures (rows,) in the order in which rows are laid out as those of the rows."""
    from solvers.native.sparse_slices import put_back

    found = np.empty(order.size)
    put_back(values, order.astype(np.int32, copy=False), found, threads_for(order.size, threads))
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
        The old number of each new row, longest first.
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

    slices = without_entries(matrix, plan, matrix.lengths[order], packed)
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


def without_entries(matrix: SparseRows, plan: Plan, lengths: IndexArray, packed: Packed) -> Slices:
    """Return the slices of a matrix with no entries in them yet, on the host.

    ``lengths`` (rows,) are those of its rows as they are laid out, longest first.
    """
    meta, splits = _shape(lengths, plan)
    return Slices(
        rows=matrix.shape[0],
        columns=matrix.shape[1],
        nonzeros=matrix.nnz,
        height=plan.height,
        meta=meta,
        indices=np.zeros(0, dtype=packed.index_kind),
        values=np.zeros(0, dtype=packed.kind),
        table=packed.table if packed.is_coded else np.zeros(0),
        splits=splits,
        partials=np.zeros((max(1, splits.shape[0]), 3)),
        tickets=np.zeros(max(1, splits.shape[0]), dtype=np.int32),
    )


Meta = npt.NDArray[np.int32]


def _shape(lengths: IndexArray, plan: Plan) -> tuple[Meta, Meta]:
    """Share rows (rows,), given by their lengths, longest first, out over slices.

    Returns ``Slices.meta`` and ``Slices.splits``.
    """
    bounds = [plan.units_from, plan.unit_from]
    bounds += [min(lanes * plan.steps, plan.unit_from) for lanes in (16, 8, 4, 2, 1)]
    ends = (lengths.size - np.searchsorted(lengths[::-1], bounds, side="right")).tolist()
    long, splits = _long_rows(lengths[: ends[1]], ends[0], plan)
    parts, first_row = [long], ends[1]
    for lanes, end in zip((32, 16, 8, 4, 2, 1), [*ends[2:], int(lengths.size)], strict=True):
        parts.append(_short_rows(lengths, first_row, end, lanes, plan))
        first_row = end
    filler = -sum(part.shape[0] for part in parts) % UNIT
    meta = np.concatenate([*parts, np.zeros((filler, 4), dtype=np.int32)])
    steps = meta[:, 1].astype(np.int64)
    meta[:, 0] = np.cumsum(steps) - steps
    return meta, splits


def _long_rows(lengths: IndexArray, several: int, plan: Plan) -> tuple[Meta, Meta]:
    """Give each of these rows a unit, and the first ``several`` of them several units."""
    units = np.ones(lengths.size, dtype=np.int64)
    units[:several] = -(-lengths[:several] // plan.units_from)
    slices = UNIT * units
    width = -(-lengths // (plan.height * slices))
    row = np.repeat(np.arange(lengths.size), slices)
    first = np.cumsum(slices) - slices
    is_first = np.arange(row.size) == first[row]
    kind = np.where(row < several, ROW_OF_UNITS, ROW_OF_UNIT)
    code = 5 | kind << 4 | is_first << 6 | np.where(is_first, slices[row], 0) << 12
    meta = np.stack([np.zeros_like(row), width[row], row, code], axis=1).astype(np.int32)
    split_row = np.repeat(np.arange(several), units[:several])
    first_partial = (np.cumsum(units[:several]) - units[:several])[split_row]
    which = np.arange(split_row.size) - first_partial
    splits = np.stack([first_partial, which, units[split_row], np.zeros_like(which)], axis=1)
    return meta, splits.astype(np.int32)


def _short_rows(lengths: IndexArray, begin: int, end: int, lanes: int, plan: Plan) -> Meta:
    """Put rows ``begin`` to ``end`` into slices with so many lanes for each row."""
    in_slice = plan.height // lanes
    first_row = np.arange(begin, end, in_slice)
    meta = np.zeros((first_row.size, 4), dtype=np.int32)
    meta[:, 1] = -(-lengths[first_row] // lanes)
    meta[:, 2] = first_row
    rows = np.minimum(in_slice, end - first_row)
    meta[:, 3] = (lanes.bit_length() - 1) | SHORT_ROWS << 4 | rows << 6
    return meta


def _as_rows(matrix: SparseRows) -> Slices:
    """Describe rows in their places as slices of height 1, without copying the entries."""
    starts = matrix.indptr
    meta = np.empty((matrix.shape[0], 4), dtype=starts.dtype)
    meta[:, 0] = starts[:-1]
    meta[:, 1] = starts[1:] - starts[:-1]
    meta[:, 2] = np.arange(matrix.shape[0])
    meta[:, 3] = 1 << 6
    return Slices(
        rows=matrix.shape[0],
        columns=matrix.shape[1],
        nonzeros=matrix.nnz,
        height=1,
        meta=meta,
        indices=matrix.indices,
        values=matrix.data,
        table=np.zeros(0),
        splits=np.zeros((0, 4), dtype=starts.dtype),
        partials=np.zeros((1, 3)),
        tickets=np.zeros(1, dtype=starts.dtype),
    )
