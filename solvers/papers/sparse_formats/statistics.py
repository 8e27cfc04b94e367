"""What decides which format suits a matrix: row lengths, padding, distinct values, gathers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.papers.sparse_formats.compress import SHORT_SPAN, best_values
from solvers.papers.sparse_formats.convert import SIGMA, sorted_in_windows, uncompressed
from solvers.papers.sparse_formats.formats import CSR
from solvers.papers.sparse_formats.schedule import array_module, group_maxima, owners_of_entries

PERCENTS = (10, 50, 90, 99)
WARP = 32

REALS_PER_SECTOR = 4
"""A GPU fetches 32 bytes at a time."""

GROUPS = 4096
"""Gathers of a warp that are looked at, evenly spread over the matrix."""

STEPS = 16
"""Steps of a slice that are looked at."""


@dataclass(frozen=True)
class MatrixStatistics:
    """Figures of a sparse matrix by rows.

    Parameters
    ----------
    rows, columns, nonzeros : int
    shortest, longest : int
        Entries of a row.
    mean, variance : float
        Of the row lengths.
    percentiles : tuple of float
        Row lengths that :data:`PERCENTS` of the rows do not exceed.
    ell_entries, ell_touched : int
        Entries that ELL stores, and those in the columns that each 32 rows reach into.
    sell_entries : int
        Entries that SELL-32-sigma stores.
    index_bytes : int
        Bytes of a full index.
    value_bytes : int
        Bytes of a value in its most compact exact form.
    distinct_values : int or None
        Where that form is a code.
    widest_span : int
        Most columns from a row's first entry to its last.
    row_sectors, slice_sectors : float
        Distinct sectors of 32 bytes, per nonzero, that a warp's gather of the vector fetches:
        in the order of CSR and of SELL. 0.25 if neighbours are read, 1 if entries lie anywhere.
    """

    rows: int
    columns: int
    nonzeros: int
    shortest: int
    longest: int
    mean: float
    variance: float
    percentiles: tuple[float, ...]
    ell_entries: int
    ell_touched: int
    sell_entries: int
    index_bytes: int
    value_bytes: int
    distinct_values: int | None
    widest_span: int
    row_sectors: float
    slice_sectors: float

    @property
    def columns_fit(self) -> bool:
        """Whether columns of 16 bits can be used."""
        return self.columns <= SHORT_SPAN or self.widest_span < SHORT_SPAN

    @property
    def ell_padding(self) -> float:
        """Share of ELL's entries that is padding."""
        return 1.0 - self.nonzeros / self.ell_entries if self.ell_entries else 0.0

    @property
    def sell_padding(self) -> float:
        """Share of SELL's entries that is padding."""
        return 1.0 - self.nonzeros / self.sell_entries if self.sell_entries else 0.0


def matrix_statistics(matrix: CSR) -> MatrixStatistics:
    """Gather the figures of a matrix, on the device that holds it."""
    plain = uncompressed(matrix)
    xp = array_module(plain.starts)
    lengths = plain.starts[1:] - plain.starts[:-1]
    some = lengths if lengths.size else xp.zeros(1, dtype=np.int64)
    values = best_values(plain.storage.values)
    order = sorted_in_windows(lengths, SIGMA)
    longest = int(some.max())
    return MatrixStatistics(
        rows=plain.rows,
        columns=plain.columns,
        nonzeros=plain.nonzeros,
        shortest=int(some.min()),
        longest=longest,
        mean=float(some.mean()),
        variance=float(some.var()),
        percentiles=tuple(float(value) for value in xp.percentile(some, xp.asarray(PERCENTS))),
        ell_entries=longest * plain.rows,
        ell_touched=_slice_entries(lengths),
        sell_entries=_slice_entries(lengths[order]),
        index_bytes=int(plain.starts.dtype.itemsize),
        value_bytes=int(values.stored.dtype.itemsize),
        distinct_values=int(values.dictionary.size) or None,
        widest_span=_widest_span(plain),
        row_sectors=_row_sectors(plain.storage.indices),
        slice_sectors=_slice_sectors(plain, order),
    )


def _slice_entries(lengths: Any) -> int:
    """Return the entries of slices of 32 rows, each as wide as its longest row."""
    return WARP * int(group_maxima(lengths, WARP).astype(np.int64).sum())


def _widest_span(matrix: CSR) -> int:
    """Return the most columns between a row's first and last entry, whatever their order."""
    if not matrix.nonzeros:
        return 0
    xp = array_module(matrix.starts)
    rows = owners_of_entries(matrix.starts, matrix.nonzeros).astype(np.int64)
    keys = rows * matrix.columns + matrix.storage.indices
    keys.sort()
    used = xp.flatnonzero(matrix.starts[1:] > matrix.starts[:-1])
    span = keys[matrix.starts[used + 1] - 1] - keys[matrix.starts[used]]
    return int(span.max()) + 1


def _row_sectors(indices: Any) -> float:
    """Return sectors per nonzero where a warp gathers for 32 entries that follow each other."""
    if not indices.size:
        return 0.0
    xp = array_module(indices)
    whole = indices.size // WARP
    if not whole:
        return _distinct_share(_to_groups(indices))
    picked = xp.asarray(np.linspace(0, whole - 1, min(whole, GROUPS)).astype(np.int64))
    return _distinct_share(indices[: whole * WARP].reshape(-1, WARP)[picked])


def _slice_sectors(matrix: CSR, order: Any) -> float:
    """Return sectors per nonzero where a warp gathers for the k-th entries of 32 rows."""
    if not matrix.nonzeros:
        return 0.0
    xp = array_module(order)
    slices = -(-matrix.rows // WARP)
    picked = np.linspace(0, slices - 1, min(slices, GROUPS // STEPS)).astype(np.int64)
    places = (picked[:, None] * WARP + np.arange(WARP)).ravel()
    rows = order[xp.asarray(places[places < matrix.rows])]
    rows = xp.concatenate([rows, xp.full(-rows.size % WARP, matrix.rows - 1, dtype=rows.dtype)])
    first, end = matrix.starts[rows], matrix.starts[rows + 1]
    entries = first[None, :] + xp.arange(STEPS, dtype=first.dtype)[:, None]
    inside = entries < end[None, :]
    columns = matrix.storage.indices[xp.where(inside, entries, 0)]
    return _distinct_share(xp.where(inside, columns, -1).reshape(-1, WARP))


def _to_groups(indices: Any) -> Any:
    xp = array_module(indices)
    groups = xp.full(WARP, -1, dtype=indices.dtype)
    groups[: indices.size] = indices
    return groups.reshape(1, WARP)


def _distinct_share(columns: Any) -> float:
    """Return distinct sectors per column over groups of 32; -1 stands for no column."""
    xp = array_module(columns)
    sectors = xp.sort(xp.where(columns < 0, -1, columns // REALS_PER_SECTOR), axis=1)
    new = sectors[:, 1:] != sectors[:, :-1]
    distinct = int(new.sum()) + int(sectors.shape[0]) - int((sectors[:, 0] < 0).sum())
    return distinct / max(1, int((columns >= 0).sum()))
