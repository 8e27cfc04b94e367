"""Sparse matrix formats, on the CPU (NumPy arrays) or on a GPU (CuPy arrays), and their products.

======  =============================================  =======================================
CSR     entries row by row                             the general one
COO     entries sorted by rows, each with its row      equal work for any lengths; most bytes
ELL     rows padded to one width, column by column     rows of nearly equal length
SELL    slices of rows of like length, each as in ELL  between the two: SELL-C-sigma
======  =============================================  =======================================

After "Performance Engineering for Sparse Linear Solvers" (Thies, Hager, Anzt; ISC 2026), section
on sparse matrix formats. Each is made from CSR, on the device that holds the arrays. Every format
multiplies from the left only; for products with A' keep A' as a matrix of its own
(:func:`transposed`).

Codes for repeated values and columns of 16 bits were measured, too: on 60 matrices on an H200 they
took 2 % off the time of the best format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import EngineError, ProblemError
from solvers.kernels.family import Family
from solvers.papers.sparse_formats.arrays import (
    array_module,
    group_maxima,
    owners_of_entries,
    stable_order,
    starts_of,
)
from solvers.papers.sparse_formats.kernels.products import PRODUCTS, Shared, share_rows

MOST_ENTRIES = 2**31 - 2**16
"""Rows, columns or stored entries that 32-bit indices can number, with those looked at beyond."""

COO_CHUNK = 256
"""Entries of a COO matrix that one warp takes: eight steps between two partial sums."""

SLICE_SHIFT = 5
"""Slices have 32 rows: a warp reads whole lines of the matrix."""

SIGMA = 4096
"""Rows within which SELL sorts by length; sorting all would tear neighbouring rows, which read
neighbouring elements of the vector, apart."""


@dataclass(frozen=True, eq=False)
class _Format:
    """What all formats have in common."""

    format: ClassVar[str]

    rows: int
    columns: int
    nonzeros: int
    indices: Any
    values: Any

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(getattr(getattr(self, one.name), "nbytes", 0)) for one in fields(self))

    @property
    def xp(self) -> Any:
        """The array module of its arrays: NumPy or CuPy."""
        return array_module(self.values)


@dataclass(frozen=True, eq=False)
class CSR(_Format):
    """Compressed rows: starts (rows + 1,), indices and values (nonzeros,)."""

    format: ClassVar[str] = "csr"

    starts: Any

    @property
    def lengths(self) -> Any:
        """(rows,) entries of each row."""
        return self.starts[1:] - self.starts[:-1]

    @cached_property
    def shared(self) -> Shared:
        """How threads of a GPU share out the rows, with scratch memory of the product."""
        return share_rows(self.xp, self.lengths)


@dataclass(frozen=True, eq=False)
class COO(_Format):
    """Coordinates sorted by rows: row_indices, indices and values (nonzeros,).

    ``carries`` (2 * chunks,) is scratch memory of the product, for chunks of ``chunk`` entries.
    """

    format: ClassVar[str] = "coo"

    row_indices: Any
    carries: Any
    chunk: int


@dataclass(frozen=True, eq=False)
class ELL(_Format):
    """Rows padded to one width, column by column: indices and values (width * rows,).

    Row i has ``lengths[i]`` entries, the k-th at ``k * rows + i``.
    """

    format: ClassVar[str] = "ell"

    lengths: Any


@dataclass(frozen=True, eq=False)
class SELL(_Format):
    """Slices of ``2**slice_shift`` rows of like length, each padded to its own width.

    ``order`` (rows,) leads from a place to its row; ``lengths`` (rows,) are those of the places;
    ``slice_starts`` (slices + 1,).
    """

    format: ClassVar[str] = "sell"

    slice_shift: int
    slice_starts: Any
    lengths: Any
    order: Any


SparseMatrix: TypeAlias = CSR | COO | ELL | SELL


def from_scipy(matrix: Any, device: Device) -> CSR:
    """Copy a SciPy matrix to a device as CSR.

    Raises
    ------
    ProblemError
        It is no SciPy sparse matrix of real numbers with rows and columns.
    EngineError
        It has too many entries for 32-bit indices.
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
    rows, columns = matrix.shape
    if max(rows, columns, matrix.nnz) > MOST_ENTRIES:
        raise EngineError(
            f"A {rows} x {columns} matrix of {matrix.nnz} entries is too large for 32-bit indices, "
            f"which number {MOST_ENTRIES:,}; give a part of it."
        )
    by_rows = matrix.tocsr()
    return CSR(
        rows,
        columns,
        by_rows.nnz,
        device.to_device(by_rows.indices.astype(np.int32)),
        device.to_device(by_rows.data.astype(np.float64)),
        device.to_device(by_rows.indptr.astype(np.int32)),
    )


def transposed(matrix: CSR) -> CSR:
    """Return A' as a matrix of its own: a stable sort of the entries by column.

    Holding it doubles the memory. The alternative, scattering into the product by columns of A,
    needs atomic sums, whose order changes from run to run, or a private product for each thread.
    """
    order = stable_order(matrix.indices)
    counts = matrix.xp.bincount(matrix.indices, minlength=matrix.columns)
    return CSR(
        matrix.columns,
        matrix.rows,
        matrix.nonzeros,
        owners_of_entries(matrix.starts)[order],
        matrix.values[order],
        starts_of(counts).astype(np.int32),
    )


def to_coo(matrix: CSR, chunk: int = COO_CHUNK) -> COO:
    """Convert to coordinates; ``chunk``, a multiple of 32, is what one warp sums."""
    return COO(
        matrix.rows,
        matrix.columns,
        matrix.nonzeros,
        matrix.indices,
        matrix.values,
        owners_of_entries(matrix.starts),
        matrix.xp.zeros(2 * -(-matrix.nonzeros // chunk)),
        chunk,
    )


def to_ell(matrix: CSR) -> ELL:
    """Convert to rows of one width.

    Raises
    ------
    EngineError
        Padding leaves too much to index.
    """
    lengths, rows = matrix.lengths, matrix.rows
    width = int(lengths.max()) if matrix.nonzeros else 0
    owners = owners_of_entries(matrix.starts).astype(np.int64)
    places = (matrix.xp.arange(matrix.nonzeros) - matrix.starts[owners]) * rows + owners
    indices, values = _padded(matrix, width * rows, places)
    return ELL(rows, matrix.columns, matrix.nonzeros, indices, values, lengths)


def to_sell(matrix: CSR, slice_shift: int = SLICE_SHIFT, sigma: int = SIGMA) -> SELL:
    """Convert to sorted slices of ``2**slice_shift`` rows; ``sigma`` 1 leaves rows in place.

    Raises
    ------
    EngineError
        Padding leaves too much to index.
    """
    xp, height = matrix.xp, 1 << slice_shift
    order = sorted_in_windows(matrix.lengths, sigma)
    lengths = matrix.lengths[order]
    slice_starts = starts_of(group_maxima(lengths, height).astype(np.int64) * height)
    place_of_row = xp.empty_like(order)
    place_of_row[order] = xp.arange(order.size, dtype=order.dtype)
    owners = owners_of_entries(matrix.starts)
    at = place_of_row[owners]
    inside = xp.arange(matrix.nonzeros) - matrix.starts[owners]
    places = slice_starts[at >> slice_shift] + inside * height + (at & (height - 1))
    indices, values = _padded(matrix, int(slice_starts[-1]), places)
    return SELL(
        matrix.rows,
        matrix.columns,
        matrix.nonzeros,
        indices,
        values,
        slice_shift,
        slice_starts.astype(np.int32),
        lengths,
        order,
    )


def _padded(matrix: CSR, size: int, places: Any) -> tuple[Any, Any]:
    """Return indices and values of so many entries, zeros but for those of the matrix."""
    if size > MOST_ENTRIES:
        raise EngineError(
            f"Padding would make {size} entries of {matrix.nonzeros}, more than the "
            f"{MOST_ENTRIES:,} that 32-bit indices number; use 'csr' or 'coo'."
        )
    xp = matrix.xp
    indices, values = xp.zeros(size, dtype=np.int32), xp.zeros(size)
    indices[places], values[places] = matrix.indices, matrix.values
    return indices, values


def sorted_in_windows(lengths: Any, sigma: int) -> Any:
    """Return the rows by falling length within windows of ``sigma`` rows."""
    rows = array_module(lengths).arange(lengths.size, dtype=np.int64)
    longest = int(lengths.max()) if lengths.size else 0
    return stable_order((rows // sigma) * (longest + 1) + (longest - lengths)).astype(np.int32)


CONVERSIONS: dict[str, Callable[[CSR], SparseMatrix]] = {
    "csr": lambda matrix: matrix,
    "coo": to_coo,
    "ell": to_ell,
    "sell": to_sell,
}


def build(matrix: CSR, matrix_format: str) -> SparseMatrix:
    """Return the matrix in a format of :data:`CONVERSIONS`."""
    return CONVERSIONS[matrix_format](matrix)


# The product of a matrix in any format with a vector.


Call = tuple[Family, str, tuple[Any, ...]]
"""A kernel family, the name of a kernel in it, and its arguments."""


def multiply(matrix: SparseMatrix, vector: Any, product: Any = None) -> Any:
    """Return A x.

    Parameters
    ----------
    vector : (columns,) float array
        On the matrix's device; may hold infinities and NaNs, which reach only the rows that have
        an entry in their columns.
    product : (rows,) float array, optional
        Where to put the result; a new array if absent.

    Raises
    ------
    EngineError
        A vector of the wrong length, type or layout, or on another device; or one array for both.
    """
    if product is None:
        product = matrix.xp.empty(matrix.rows)
    prepared(matrix, vector, product)()
    return product


def prepared(matrix: SparseMatrix, vector: Any, product: Any) -> Callable[[], None]:
    """Return a call of ``product = A vector`` on these very arrays, with all checks done.

    On a GPU it costs little more than its launches and allocates nothing, so that a stream can
    record it into a graph. A loop in Python should prepare its products once.
    """
    _check(matrix, vector, product)
    calls = _calls(matrix, vector, product)
    if array_module(vector) is np:
        launches: list[Callable[[], None]] = [
            partial(family[name], *values) for family, name, values in calls
        ]
    else:
        launches = [family.bind(name, *values) for family, name, values in calls]

    def run() -> None:
        for launch in launches:
            launch()

    return run


def _check(matrix: SparseMatrix, vector: Any, product: Any) -> None:
    """Refuse vectors of the wrong length, type or layout, on another device, or that overlap."""
    for name, array, size in (
        ("vector", vector, matrix.columns),
        ("product", product, matrix.rows),
    ):
        if array_module(array) is not matrix.xp:
            raise EngineError(
                f"The {name} is an array of {array_module(array).__name__} and the matrix of "
                f"{matrix.xp.__name__}; bring them to one device (Device.to_device, to_host)."
            )
        if getattr(array, "shape", None) != (size,) or str(array.dtype) != "float64":
            found = f"of shape {np.shape(array)} and type {getattr(array, 'dtype', type(array))}"
            raise EngineError(
                f"The {name} of a {matrix.rows} x {matrix.columns} matrix must be an array of "
                f"{size} float64, not {found}."
            )
        if not array.flags.c_contiguous:
            raise EngineError(f"The {name} is a part of an array with gaps; give a copy of it.")
    if matrix.xp.may_share_memory(vector, product):
        raise EngineError(
            "The product would overwrite the vector while it is still read; give it an array of "
            "its own."
        )


def _calls(matrix: SparseMatrix, vector: Any, product: Any) -> list[Call]:
    """Return the kernel calls that make a product."""
    given: dict[str, Any] = {"vector": vector, "product": product}
    if isinstance(matrix, CSR):
        return [_call("csr_multiply", matrix.shared, matrix, **given)]
    if isinstance(matrix, COO):
        given["entries"] = matrix.nonzeros
        names = "coo_clear", "coo_segments", "coo_carries"
        return [_call(name, matrix, **given) for name in names]
    return [_call(f"{matrix.format}_multiply", matrix, **given)]


def _call(name: str, *holders: Any, **others: Any) -> Call:
    return PRODUCTS, name, PRODUCTS.kernels[name].arguments_of(*holders, **others)
