"""Sparse matrices by rows, with sums that are the same for any number of threads.

Small models are solved before SciPy is loaded. The columns of a matrix are the rows of its
transpose, so one type serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from solvers.core.errors import EngineError
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.vectors import SMALL, FloatArray, size_range

if TYPE_CHECKING:
    import scipy.sparse as sp


BoolArray = npt.NDArray[np.bool_]
Shape = tuple[int, int]

MOST_SHORT = 2**31 - 1
"""Entries that 32 bits can count."""


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix (m, n) by rows, with the names that SciPy has for its parts.

    Compiled loops take it as ``native::SparseRows``.
    """

    data: FloatArray
    """(nnz,) float64."""
    indices: npt.NDArray[Any]
    """(nnz,) int: columns, ascending in each row."""
    indptr: npt.NDArray[Any]
    """(m + 1,) int: row i's entries are ``indptr[i]:indptr[i + 1]`` of the other two."""
    shape: tuple[int, int]

    ndim = 2

    @classmethod
    def of(cls, matrix: sp.csr_array | sp.csc_array) -> SparseRows:
        """Return a SciPy matrix by rows, or the transpose of one by columns, on the same arrays."""
        rows, columns = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
        return cls(matrix.data, matrix.indices, matrix.indptr, (rows, columns))

    @classmethod
    def of_table(cls, table: npt.NDArray[Any]) -> SparseRows:
        """Return the entries of a dense matrix (m, n) that are not zero."""
        row, column = np.nonzero(table)
        lengths = np.bincount(row, minlength=table.shape[0])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        values = np.asarray(table[row, column], dtype=np.float64)
        rows, columns = table.shape
        return cls(values, column.astype(np.int32), starts.astype(np.int32), (rows, columns))

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.data.size)

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """Number of entries of each row (m,)."""
        return np.diff(self.indptr)

    def __getitem__(self, i: int) -> tuple[npt.NDArray[Any], FloatArray]:
        """Return the columns and the coefficients of row i."""
        own = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[own], self.data[own]

    def count(self, marked: BoolArray) -> npt.NDArray[np.int64]:
        """Return how many of the entries marked (nnz,) each row has, (m,)."""
        before = np.zeros(marked.size + 1, dtype=np.int64)
        np.cumsum(marked, out=before[1:])
        counts: npt.NDArray[np.int64] = np.diff(before[self.indptr])
        return counts

    @cached_property
    def row(self) -> npt.NDArray[Any]:
        """Row of each entry (nnz,)."""
        return np.repeat(np.arange(self.shape[0]), self.lengths)

    @cached_property
    def csr(self) -> sp.csr_array:
        """The same matrix, on the same arrays, for SciPy."""
        import scipy.sparse as sp

        made = sp.csr_array(self.shape, dtype=np.float64)
        made.data, made.indices, made.indptr = self.data, self.indices, self.indptr
        return made

    @property
    def csc(self) -> sp.csc_array:
        """The transpose by columns, on the same arrays, for SciPy."""
        import scipy.sparse as sp

        made = sp.csc_array(self.shape[::-1], dtype=np.float64)
        made.data, made.indices, made.indptr = self.data, self.indices, self.indptr
        return made

    @property
    def magnitudes(self) -> SparseRows:
        """The matrix of absolute values, in memory of its own."""
        return SparseRows(np.abs(self.data), self.indices, self.indptr, self.shape)

    @cached_property
    def size_range(self) -> tuple[float, float]:
        """The smallest and the largest magnitude of all; infinity and zero without entries."""
        return size_range(self.data)

    @property
    def row_sizes(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest magnitude in each row (m,); zero where it has no entry."""
        smallest, largest = np.zeros(self.shape[0]), np.zeros(self.shape[0])
        if self.nnz > SMALL:
            from solvers.native.core_linear_algebra import row_sizes

            row_sizes(self, smallest, largest, self._threads(0))
            return smallest, largest
        filled = np.flatnonzero(self.lengths)
        if filled.size:
            size, begins = np.abs(self.data), self.indptr[filled]
            smallest[filled] = np.minimum.reduceat(size, begins)
            largest[filled] = np.maximum.reduceat(size, begins)
        return smallest, largest

    @cached_property
    def largest(self) -> FloatArray:
        """The largest magnitude in each row (m,); zero where it has no entry."""
        return self.row_sizes[1]

    def cast(self, value: npt.DTypeLike) -> SparseRows:
        """Return the matrix as C++ and kernels read it: read-only, its indices in 32 bits.

        Arrays that are of these types already are shared.
        """
        indices, indptr = (_sealed(one, np.int32) for one in self.short_indices())
        return SparseRows(_sealed(self.data, value), indices, indptr, self.shape)

    def short_indices(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return ``indices`` and ``indptr`` in 32 bits, as engines of others count entries.

        Raises
        ------
        EngineError
            There are more entries than that counts.
        """
        if self.nnz > MOST_SHORT:
            raise EngineError(
                f"The model has {self.nnz:,} nonzeros, and this engine counts to {MOST_SHORT:,} at "
                "the most; method='pdlp' takes more."
            )
        return self.indices.astype(np.int32, copy=False), self.indptr.astype(np.int32, copy=False)

    def times(self, x: FloatArray, threads: int = 1) -> FloatArray:
        """Return A x (m,) by so many threads, 0 for all; each row is summed in its order."""
        if self.nnz > SMALL:
            from solvers.native.core_linear_algebra import multiply

            return self._product(multiply, x, threads)
        return _sums(self.row, self.data * x[self.indices], self.shape[0])

    def magnitudes_times(self, x: FloatArray, threads: int = 1) -> FloatArray:
        """Return the product (m,) of the magnitudes of A likewise."""
        if self.nnz > SMALL:
            from solvers.native.core_linear_algebra import multiply_magnitudes

            return self._product(multiply_magnitudes, x, threads)
        return _sums(self.row, np.abs(self.data) * x[self.indices], self.shape[0])

    def _product(self, loop: Callable[..., None], x: FloatArray, threads: int) -> FloatArray:
        if x.shape != self.shape[1:]:  # the loop does not know the number of columns
            raise ValueError(f"A vector of shape {x.shape} for {self.shape[1]} columns.")
        product = np.empty(self.shape[0])
        vector = np.ascontiguousarray(x, dtype=np.float64)
        loop(self, vector, product, self._threads(threads))
        return product

    def transposed_times(self, y: FloatArray) -> FloatArray:
        """Return A' y (n,); each column is summed in the order of the rows."""
        if self.nnz > SMALL:
            product: FloatArray = self.csr.T @ y
            return product
        return _sums(self.indices, self.data * y[self.row], self.shape[1])

    @classmethod
    def of_entries(
        cls, data: FloatArray, row: npt.NDArray[Any], column: npt.NDArray[Any], shape: Shape
    ) -> SparseRows:
        """Return the matrix of entries (k,) in any order, as they are."""
        if (np.diff(row) < 0).any():
            order = np.argsort(row, kind="stable")
            data, row, column = data[order], row[order], column[order]
        return cls(data, column, _starts(row, shape[0]), shape)

    def transposed(self, threads: int = 1) -> SparseRows:
        """Return the transpose (n, m), made by so many threads at most, 0 for all cores."""
        if self.nnz <= SMALL:
            row = self.row.astype(index_type(self.nnz))
            return SparseRows.of_entries(self.data, self.indices, row, self.shape[::-1])
        from solvers.native.core_linear_algebra import count_columns, transpose

        threads, kind = self._threads(threads), self.indptr.dtype
        starts = np.zeros(self.shape[1] + 1, dtype=kind)
        count_columns(self, starts[1:], threads)
        np.cumsum(starts, out=starts)
        indices, data = np.empty(self.nnz, dtype=kind), np.empty(self.nnz)
        transpose(self, starts, indices, data, threads)
        return SparseRows(data, indices, starts, self.shape[::-1])

    def column_lengths(self, threads: int = 1) -> npt.NDArray[Any]:
        """Return the number of entries of each column (n,)."""
        if self.nnz <= SMALL:
            return np.bincount(self.indices, minlength=self.shape[1])
        from solvers.native.core_linear_algebra import count_columns

        counts = np.empty(self.shape[1], dtype=self.indptr.dtype)
        count_columns(self, counts, self._threads(threads))
        return counts

    def _threads(self, threads: int) -> int:
        """Return how many threads a look at each entry is worth."""
        return threads_for(STEPS_PER_LOOK * self.nnz, threads)

    def select(self, rows: BoolArray | None = None, columns: BoolArray | None = None) -> SparseRows:
        """Return the rows (m,) and columns (n,) that are wanted: all of them by None."""
        chosen = self if rows is None else self._of_rows(rows)
        if columns is None:
            return chosen
        kept = columns[chosen.indices]
        places = np.cumsum(columns, dtype=index_type(int(kept.sum()))) - 1
        shape = chosen.shape[0], int(np.count_nonzero(columns))
        starts = _starts(chosen.row[kept], shape[0])
        return SparseRows(chosen.data[kept], places[chosen.indices[kept]], starts, shape)

    def _of_rows(self, rows: BoolArray) -> SparseRows:
        """Return the rows (m,) that are wanted, in arrays of their own."""
        count = int(np.count_nonzero(rows))
        shape = count, self.shape[1]
        if rows[self.shape[0] - count :].all():  # all but the first ones, as without an objective
            starts = self.indptr[self.shape[0] - count :]
            own = slice(int(starts[0]), None)
            data, kind = self.data[own].copy(), index_type(int(starts[-1] - starts[0]))
            starts = (starts - starts[0]).astype(kind, copy=False)
            return SparseRows(data, self.indices[own].astype(kind), starts, shape)
        kept = rows[self.row]
        row = (np.cumsum(rows) - 1)[self.row[kept]]
        indices = self.indices[kept].astype(index_type(row.size), copy=False)
        return SparseRows(self.data[kept], indices, _starts(row, count), shape)

    def first(self, count: int) -> SparseRows:
        """Return the first rows, on the same arrays."""
        end = int(self.indptr[count])
        starts = self.indptr[: count + 1]
        return SparseRows(self.data[:end], self.indices[:end], starts, (count, self.shape[1]))

    def last(self, count: int) -> SparseRows:
        """Return the last rows, on the same arrays."""
        starts = self.indptr[self.shape[0] - count :]
        own = slice(int(starts[0]), None)
        shape = count, self.shape[1]
        return SparseRows(self.data[own], self.indices[own], starts - starts[0], shape)

    def above(self, other: SparseRows) -> SparseRows:
        """Return these rows and below them others, over as many columns or more."""
        starts = np.concatenate((self.indptr, self.nnz + other.indptr[1:]), dtype=np.int64)
        kind = index_type(self.nnz + other.nnz)
        shape = self.shape[0] + other.shape[0], other.shape[1]
        indices = np.concatenate((self.indices, other.indices), dtype=kind)
        starts = starts.astype(kind, copy=False)
        return SparseRows(np.concatenate((self.data, other.data)), indices, starts, shape)

    def part(
        self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], threads: int = 1
    ) -> SparseRows:
        """Return the matrix of some rows and columns, given by ascending numbers, in that order.

        Compiled loops do it, on so many threads.
        """
        from solvers.native.core_linear_algebra import copy_kept, count_kept

        kind = self.indices.dtype
        place = np.full(self.shape[1], -1, dtype=kind)
        place[columns] = np.arange(columns.size, dtype=kind)
        starts = np.zeros(rows.size + 1, dtype=kind)
        count_kept(self, rows, place, starts[1:], threads)
        np.cumsum(starts, out=starts)
        indices, data = np.empty(starts[-1], dtype=kind), np.empty(starts[-1])
        copy_kept(self, rows, place, starts, indices, data, threads)
        short = index_type(data.size)
        indices, starts = indices.astype(short, copy=False), starts.astype(short, copy=False)
        return SparseRows(data, indices, starts, (rows.size, columns.size))

    def canonical(self) -> SparseRows:
        """Return the same matrix with ascending columns, each entry once and none of them zero."""
        if self.nnz > SMALL:
            matrix = self.csr.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            return SparseRows(matrix.data, matrix.indices, matrix.indptr, self.shape)
        key = self.row * np.int64(self.shape[1]) + self.indices
        data, indices, row = self.data, self.indices, self.row
        if not (key[1:] > key[:-1]).all():
            order = np.argsort(key, kind="stable")
            begins = np.flatnonzero(np.diff(key[order], prepend=-1))
            data = np.add.reduceat(data[order], begins) if begins.size else data[order]
            indices, row = indices[order][begins], row[order][begins]
        kept = data != 0.0
        if not kept.all():
            data, indices, row = data[kept], indices[kept], row[kept]
        as_short = indices.astype(np.int32, copy=data is self.data)
        data = data.copy() if data is self.data else data
        as_given = row is self.row
        starts = self.indptr.astype(np.int32) if as_given else _starts(row, self.shape[0])
        made = SparseRows(data, as_short, starts, self.shape)
        vars(made)["row"] = row
        return made


def index_type(entries: int) -> type[np.signedinteger[Any]]:
    """Return the type of all indices of a matrix of so many entries: compiled loops ask for one."""
    return np.int64 if entries > MOST_SHORT else np.int32


def _sealed(array: npt.NDArray[Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of a type that cannot be written to, a view where it is of that type."""
    view = np.ascontiguousarray(array, dtype=kind).view()
    view.flags.writeable = False
    return view


def _sums(places: npt.NDArray[Any], terms: FloatArray, size: int) -> FloatArray:
    """Return the sum of the terms of each place, added in their order."""
    return np.bincount(places, terms, size).astype(np.float64, copy=False)


def _starts(row: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """Return where each row begins, and where the last one ends, of entries in their order."""
    starts = np.zeros(rows + 1, dtype=index_type(row.size))
    np.cumsum(np.bincount(row, minlength=rows), out=starts[1:])
    return starts
