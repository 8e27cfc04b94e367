"""Conversion between formats, on the device that holds the arrays.

Everything is said with whole arrays (sort, search, gather), so that it runs as it stands in NumPy
and in CuPy. CSR is the hub: every format is made from it and turned back into it. Values travel
as they are stored, so that a compressed CSR becomes a compressed SELL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import EngineError, ProblemError
from solvers.papers.sparse_formats.formats import (
    COO,
    CSR,
    ELL,
    FULL_SHIFTS,
    SELL,
    SparseMatrix,
    Storage,
)
from solvers.papers.sparse_formats.schedule import (
    array_module,
    group_maxima,
    in_given_order,
    inverse_order,
    owners_of_entries,
    share_rows,
    stable_order,
    starts_in,
    starts_of,
)

COO_CHUNK = 256
"""Entries of a COO matrix that one warp takes: eight steps between two partial sums."""

WARP = 32

SLICE_SHIFT = 5
"""Slices have 32 rows: a warp reads whole lines of the matrix."""

LARGEST_SHIFT = 15
"""Slices of more than 2^15 rows would be padded like ELL, which has a format of its own."""

SIGMA = 4096
"""Rows within which SELL sorts by length; sorting all would tear neighbouring rows, which read
neighbouring elements of the vector, apart."""

INDEX_MARGIN = 2**16
"""How far beyond the last entry a kernel may count, looking for more."""


def from_scipy(matrix: Any, device: Device, index_type: Any = None) -> CSR:
    """Copy a SciPy matrix to a device as CSR.

    Parameters
    ----------
    matrix : (m, n) scipy.sparse array or matrix
        A CSC matrix is copied as it is and transposed on the device; other formats go through
        CSR on the host.
    device : Device
    index_type : dtype, optional
        ``int32`` or ``int64``; by default ``int32`` where sizes and nonzeros fit.

    Raises
    ------
    ProblemError
        It is no SciPy sparse matrix of real numbers with rows and columns.
    EngineError
        Another index type, or one that is too narrow.
    """
    if not sp.issparse(matrix):
        raise ProblemError(
            f"A SciPy sparse matrix or array is needed, not a {type(matrix).__name__}; make one by "
            "scipy.sparse.csr_array(...)."
        )
    if matrix.ndim != 2 or matrix.dtype.kind == "c":
        raise ProblemError(
            f"The sparse matrix has {matrix.ndim} dimensions, of type {matrix.dtype}; it "
            "needs rows and columns of real numbers."
        )
    if matrix.format == "csc":
        return transposed(_from_compressed(matrix.T, device, index_type))
    return _from_compressed(
        matrix if matrix.format == "csr" else matrix.tocsr(), device, index_type
    )


def _from_compressed(matrix: Any, device: Device, index_type: Any) -> CSR:
    rows, columns = matrix.shape
    wide = max(rows, columns, matrix.nnz) > np.iinfo(np.int32).max - INDEX_MARGIN
    kind = np.dtype(index_type or (np.int64 if wide else np.int32))
    if kind not in (np.int32, np.int64) or (wide and kind == np.int32):
        raise EngineError(
            f"Indices of type {kind} do not suit a {rows} x {columns} matrix of {matrix.nnz} "
            "entries; leave the type out, or take int64."
        )
    return make_csr(
        columns,
        device.to_device(matrix.indptr.astype(kind)),
        device.to_device(matrix.indices.astype(kind)),
        device.to_device(matrix.data.astype(np.float64)),
    )


def make_csr(columns: int, starts: Any, indices: Any, values: Any, dictionary: Any = None) -> CSR:
    """Put a CSR matrix together from its arrays: starts (rows + 1,), indices, values (nnz,)."""
    xp = array_module(starts)
    on_cpu = xp is np
    storage = Storage(
        indices=indices,
        values=values,
        dictionary=xp.zeros(0) if dictionary is None else dictionary,
        bases=xp.zeros(0, dtype=starts.dtype),
        base_shift=FULL_SHIFTS[starts.dtype.itemsize],
    )
    return CSR(
        rows=int(starts.size) - 1,
        columns=int(columns),
        nonzeros=int(values.size),
        starts=starts,
        storage=storage,
        schedule=in_given_order(starts) if on_cpu else share_rows(starts),
    )


def transposed(matrix: CSR) -> CSR:
    """Return A' as a matrix of its own: a stable sort of the entries by column.

    Holding it doubles the memory. The alternative, scattering into the product by columns of A,
    needs atomic sums, whose order changes from run to run, or a private product for each thread.
    """
    entries = _with_full_indices(matrix)
    indices = entries.storage.indices
    order = stable_order(indices)
    rows = owners_of_entries(entries.starts, entries.nonzeros)
    return make_csr(
        entries.rows,
        starts_in(indices[order], entries.columns),
        rows[order],
        entries.storage.values[order],
        entries.storage.dictionary,
    )


def to_coo(matrix: CSR, chunk: int = COO_CHUNK) -> COO:
    """Convert to coordinates; values are stored in full.

    Raises
    ------
    EngineError
        ``chunk``, the entries that are summed at once, is no multiple of 32.
    """
    if chunk <= 0 or chunk % WARP:
        raise EngineError(f"Chunks of {chunk} entries cannot be used; take a multiple of {WARP}.")
    plain = uncompressed(matrix)
    xp = array_module(plain.starts)
    return COO(
        rows=plain.rows,
        columns=plain.columns,
        nonzeros=plain.nonzeros,
        row_indices=owners_of_entries(plain.starts, plain.nonzeros),
        indices=plain.storage.indices,
        values=plain.storage.values,
        carries=xp.zeros(2 * -(-plain.nonzeros // chunk)),
        chunk=chunk,
    )


def to_ell(matrix: CSR, most_bytes: int | None = None) -> ELL:
    """Convert to rows of one width; values are stored in full.

    Raises
    ------
    EngineError
        Padding would take more than ``most_bytes``.
    """
    plain = uncompressed(matrix)
    xp = array_module(plain.starts)
    lengths = plain.starts[1:] - plain.starts[:-1]
    width = int(lengths.max()) if plain.nonzeros else 0
    needed = width * plain.rows * plain.storage.entry_bytes
    if most_bytes is not None and needed > most_bytes:
        raise EngineError(
            f"ELL would pad {plain.rows} rows to the {width} entries of the longest one and take "
            f"{needed} bytes, more than {most_bytes}; use 'csr' or 'sell'."
        )
    places = _ell_places(plain.starts, plain.nonzeros)
    indices = xp.zeros(width * plain.rows, dtype=plain.starts.dtype)
    values = xp.zeros(width * plain.rows)
    indices[places] = plain.storage.indices
    values[places] = plain.storage.values
    return ELL(plain.rows, plain.columns, plain.nonzeros, width, lengths, indices, values)


def to_sell(matrix: CSR, slice_shift: int = SLICE_SHIFT, sigma: int = SIGMA) -> SELL:
    """Convert to sorted slices of ``2**slice_shift`` rows; ``sigma`` 1 leaves rows in place.

    Coded values stay coded; short indices become full ones
    (:mod:`solvers.papers.sparse_formats.compress` shortens them again).

    Raises
    ------
    EngineError
        The slices are too high, or padding leaves too much to index.
    """
    if not 0 <= slice_shift <= LARGEST_SHIFT:
        raise EngineError(
            f"Slices of 2^{slice_shift} rows cannot be used; take a shift of 0 to {LARGEST_SHIFT}."
        )
    entries = _with_full_indices(matrix)
    xp, index_type = array_module(entries.starts), entries.starts.dtype
    lengths = entries.starts[1:] - entries.starts[:-1]
    order = sorted_in_windows(lengths, sigma)
    height = 1 << slice_shift
    placed = lengths[order]
    widths = group_maxima(placed, height)
    slice_starts = starts_of(widths.astype(np.int64) * height, np.int64)
    size = int(slice_starts[-1])
    if size > np.iinfo(index_type).max - INDEX_MARGIN:
        raise EngineError(
            f"SELL would pad the matrix to {size} entries, too many for indices of type "
            f"{index_type}; use 'csr'."
        )
    slice_starts = slice_starts.astype(index_type)
    places = _sell_places(entries.starts, entries.nonzeros, order, slice_starts, slice_shift)
    indices = xp.zeros(size, dtype=index_type)
    values = xp.zeros(size, dtype=entries.storage.values.dtype)
    indices[places] = entries.storage.indices
    values[places] = entries.storage.values
    return SELL(
        rows=entries.rows,
        columns=entries.columns,
        nonzeros=entries.nonzeros,
        slice_shift=slice_shift,
        slice_starts=slice_starts,
        lengths=placed,
        order=order if sigma > 1 else order[:0],
        storage=replace(entries.storage, indices=indices, values=values),
    )


def to_csr(matrix: SparseMatrix) -> CSR:
    """Convert any format back to CSR with full values and indices; the order within rows stays."""
    if isinstance(matrix, CSR):
        return uncompressed(matrix)
    if isinstance(matrix, COO):
        starts = starts_in(matrix.row_indices, matrix.rows)
        return make_csr(matrix.columns, starts, matrix.indices, matrix.values)
    if isinstance(matrix, ELL):
        starts = starts_of(matrix.lengths, matrix.lengths.dtype)
        places = _ell_places(starts, matrix.nonzeros)
        return make_csr(matrix.columns, starts, matrix.indices[places], matrix.values[places])
    order = _order_of(matrix)
    lengths = matrix.lengths[inverse_order(order)]
    starts = starts_of(lengths, lengths.dtype)
    places = _sell_places(starts, matrix.nonzeros, order, matrix.slice_starts, matrix.slice_shift)
    indices = full_indices(matrix.storage, sell_owners(matrix))[places]
    return make_csr(matrix.columns, starts, indices, full_values(matrix.storage)[places])


def to_scipy(matrix: SparseMatrix) -> sp.csr_array:
    """Copy a matrix of any format to the host as SciPy's CSR."""
    plain = to_csr(matrix)
    arrays = (plain.storage.values, plain.storage.indices, plain.starts)
    on_host = [array if isinstance(array, np.ndarray) else array.get() for array in arrays]
    return sp.csr_array(tuple(on_host), shape=plain.shape)


def uncompressed(matrix: CSR) -> CSR:
    """Return the CSR matrix with values and indices in full; the same object if they are."""
    full = _with_full_indices(matrix)
    if full.storage.values.dtype == np.float64:
        return full
    values = full_values(full.storage)
    storage = replace(full.storage, values=values, dictionary=full.storage.dictionary[:0])
    return replace(full, storage=storage)


def full_values(storage: Storage) -> Any:
    """Return the values as double precision numbers."""
    if storage.is_coded:
        return storage.dictionary[storage.values]
    return storage.values.astype(np.float64)


def full_indices(storage: Storage, owners: Any) -> Any:
    """Return the columns of entries that belong to these owners (rows, or places in SELL)."""
    if not storage.is_short:
        return storage.indices
    bases = storage.bases[owners >> storage.base_shift]
    return bases + storage.indices.astype(storage.bases.dtype)


def sell_owners(matrix: SELL) -> Any:
    """Return the place that each stored entry, padding included, belongs to."""
    xp = array_module(matrix.slice_starts)
    count = int(matrix.storage.values.size)
    entries = xp.arange(count, dtype=matrix.slice_starts.dtype)
    slices = owners_of_entries(matrix.slice_starts, count)
    return (slices << matrix.slice_shift) + (entries & ((1 << matrix.slice_shift) - 1))


def _with_full_indices(matrix: CSR) -> CSR:
    if not matrix.storage.is_short:
        return matrix
    rows = owners_of_entries(matrix.starts, matrix.nonzeros)
    storage = replace(
        matrix.storage,
        indices=full_indices(matrix.storage, rows),
        bases=matrix.storage.bases[:0],
        base_shift=FULL_SHIFTS[matrix.starts.dtype.itemsize],
    )
    return replace(matrix, storage=storage)


def _ell_places(starts: Any, nonzeros: int) -> Any:
    """Return where ELL keeps each entry of a CSR matrix."""
    xp, rows = array_module(starts), int(starts.size) - 1
    owners = owners_of_entries(starts, nonzeros).astype(np.int64)
    return (xp.arange(nonzeros) - starts[owners]) * rows + owners


def _sell_places(
    starts: Any, nonzeros: int, order: Any, slice_starts: Any, slice_shift: int
) -> Any:
    """Return where SELL keeps each entry of a CSR matrix."""
    xp = array_module(starts)
    owners = owners_of_entries(starts, nonzeros)
    places = inverse_order(order)[owners]
    inside = xp.arange(nonzeros) - starts[owners]
    height = 1 << slice_shift
    return slice_starts[places >> slice_shift] + inside * height + (places & (height - 1))


def sorted_in_windows(lengths: Any, sigma: int) -> Any:
    """Return the rows by falling length within windows of ``sigma`` rows."""
    xp = array_module(lengths)
    rows = xp.arange(lengths.size, dtype=np.int64)
    if sigma <= 1 or not lengths.size:
        return rows.astype(lengths.dtype)
    longest = int(lengths.max())
    keys = (rows // sigma) * (longest + 1) + (longest - lengths)
    return stable_order(keys).astype(lengths.dtype)


def _order_of(matrix: SELL) -> Any:
    if matrix.order.size:
        return matrix.order
    return array_module(matrix.lengths).arange(matrix.rows, dtype=matrix.lengths.dtype)
