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

from dataclasses import dataclass
from typing import Any

import numpy as np

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
        Rows with more entries than this take several units, one for so many entries.
    """

    height: int = 32
    steps: int = 4
    unit_from: int = 256
    units_from: int = 16384


CPU_PLAN = Plan(height=1)


@dataclass(frozen=True, eq=False)
class Rows:
    """A matrix by rows as engines get it: starts (rows + 1,), indices and values (nnz,)."""

    rows: int
    columns: int
    starts: Any
    indices: Any
    values: Any


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

    @property
    def units(self) -> int:
        """Teams of threads that one product keeps busy."""
        return -(-int(self.meta.shape[0]) // UNIT)

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


def row_order(matrix: Rows, plan: Plan, xp: Any) -> Any:
    """Return the order (rows,) in which the rows of a matrix are laid out: longest first.

    Rows of one length keep their order, which in models is that of one family of constraints.
    """
    if plan.height == 1:
        return xp.arange(matrix.rows)
    lengths = matrix.starts[1:] - matrix.starts[:-1]
    return xp.argsort(-lengths, kind="stable")


def in_slices(
    matrix: Rows, plan: Plan, order: Any, column_position: Any, values: Any, table: Any, xp: Any
) -> Slices:
    """Lay a matrix out in slices.

    Parameters
    ----------
    matrix : Rows
        Its values are not looked at.
    plan : Plan
    order : (rows,) int array
        From :func:`row_order`: the old number of each new row.
    column_position : (columns,) int array
        The new number of each old column.
    values : (nnz,) array
        Coefficients or codes, in the order of ``matrix``.
    table : array
        What codes stand for, or empty; code 0, which padding has, stands for zero.
    xp : module
        NumPy or CuPy, by where the arrays live.
    """
    if plan.height == 1:
        return _as_rows(matrix, values, table, xp)
    lengths = (matrix.starts[1:] - matrix.starts[:-1])[order]
    shape = _shape(lengths, plan, xp)
    new_of_old = xp.empty_like(order)
    new_of_old[order] = xp.arange(matrix.rows)
    entries = xp.arange(int(matrix.indices.size))
    row_of_entry = xp.searchsorted(matrix.starts[1:], entries, side="right")
    within = entries - matrix.starts[row_of_entry]
    new = new_of_old[row_of_entry]
    lanes = shape.lanes[new]
    place = (
        shape.base[shape.slice_of_row[new]] + within // lanes * plan.height
        + shape.slot[new] * lanes + within % lanes
    )  # fmt: skip
    laid_values = xp.zeros(shape.entries, dtype=values.dtype)
    laid_values[place] = values
    laid_indices = xp.zeros(shape.entries, dtype=_index_type(matrix.columns))
    laid_indices[place] = column_position[matrix.indices]
    return Slices(
        rows=matrix.rows,
        columns=matrix.columns,
        nonzeros=int(matrix.indices.size),
        height=plan.height,
        meta=shape.meta,
        indices=laid_indices,
        values=laid_values,
        table=table,
        splits=shape.splits,
        partials=xp.zeros((max(1, int(shape.splits.shape[0])), 3)),
        tickets=xp.zeros(max(1, int(shape.splits.shape[0])), dtype=np.int32),
    )


@dataclass(frozen=True, eq=False)
class _Shape:
    """Where the rows of a matrix, longest first, stand in slices."""

    meta: Any
    base: Any
    splits: Any
    entries: int
    slice_of_row: Any
    slot: Any
    lanes: Any


def _shape(lengths: Any, plan: Plan, xp: Any) -> _Shape:
    """Share rows (rows,), given by their lengths, longest first, out over slices."""
    bounds = [plan.units_from, plan.unit_from]
    bounds += [min(lanes * plan.steps, plan.unit_from) for lanes in (16, 8, 4, 2, 1)]
    limits = xp.asarray(np.array(bounds, dtype=np.int64))
    ends = [int(end) for end in xp.searchsorted(-lengths, -limits, side="left")]
    long = _long_rows(np.asarray(_to_host(lengths[: ends[1]])), ends[0], plan)
    parts, first_slice, first_row = [long], long.meta.shape[0], ends[1]
    for lanes, end in zip((32, 16, 8, 4, 2, 1), [*ends[2:], int(lengths.size)], strict=True):
        part = _short_rows(lengths, first_row, end, lanes, first_slice, plan, xp)
        parts.append(part)
        first_slice += int(part.meta.shape[0])
        first_row = end
    filler = np.zeros((-first_slice % UNIT, 4), dtype=np.int32)
    meta = xp.concatenate([*(xp.asarray(part.meta) for part in parts), xp.asarray(filler)])
    ends_of_slices = xp.cumsum(meta[:, 1].astype(np.int64))
    starts_of_slices = ends_of_slices - meta[:, 1]
    meta[:, 0] = starts_of_slices
    joined = {
        name: xp.concatenate([xp.asarray(getattr(part, name)) for part in parts])
        for name in ("slice_of_row", "slot", "lanes")
    }
    return _Shape(
        meta=xp.ascontiguousarray(meta),
        base=starts_of_slices * plan.height,
        splits=xp.asarray(long.splits),
        entries=int(ends_of_slices[-1]) * plan.height if int(meta.shape[0]) else 0,
        **joined,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """Slices of one sort of rows, and where those rows stand in them."""

    meta: Any
    slice_of_row: Any
    slot: Any
    lanes: Any
    splits: Any = None


def _long_rows(lengths: Any, several: int, plan: Plan) -> _Part:
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
    return _Part(
        meta=meta,
        slice_of_row=first,
        slot=np.zeros(lengths.size, dtype=np.int64),
        lanes=np.full(lengths.size, plan.height, dtype=np.int64),
        splits=splits.astype(np.int32),
    )


def _short_rows(
    lengths: Any, begin: int, end: int, lanes: int, first_slice: int, plan: Plan, xp: Any
) -> _Part:
    """Put rows ``begin`` to ``end`` into slices with so many lanes for each row."""
    in_slice = plan.height // lanes
    count = end - begin
    first_row = begin + in_slice * xp.arange(-(-count // in_slice))
    width = -(-lengths[first_row] // lanes)
    rows = xp.minimum(in_slice, end - first_row)
    code = (lanes.bit_length() - 1) | SHORT_ROWS << 4 | rows << 6
    meta = xp.stack([xp.zeros_like(first_row), width, first_row, code], axis=1)
    row = xp.arange(count)
    return _Part(
        meta=meta.astype(np.int32),
        slice_of_row=first_slice + row // in_slice,
        slot=row % in_slice,
        lanes=xp.full(count, lanes, dtype=np.int64),
    )


def _as_rows(matrix: Rows, values: Any, table: Any, xp: Any) -> Slices:
    """Describe rows in their places as slices of height 1, without copying the entries."""
    starts = matrix.starts
    meta = xp.empty((matrix.rows, 4), dtype=starts.dtype)
    meta[:, 0] = starts[:-1]
    meta[:, 1] = starts[1:] - starts[:-1]
    meta[:, 2] = xp.arange(matrix.rows)
    meta[:, 3] = 1 << 6
    return Slices(
        rows=matrix.rows,
        columns=matrix.columns,
        nonzeros=int(matrix.indices.size),
        height=1,
        meta=meta,
        indices=matrix.indices,
        values=values,
        table=table,
        splits=xp.zeros((0, 4), dtype=starts.dtype),
        partials=xp.zeros((1, 3)),
        tickets=xp.zeros(1, dtype=starts.dtype),
    )


def _index_type(columns: int) -> type[np.generic]:
    return np.uint16 if columns <= np.iinfo(np.uint16).max + 1 else np.int32


def _to_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array
