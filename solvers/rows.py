"""A sparse matrix by rows, without SciPy: small models are solved before that is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]

SMALL = 20_000
"""Entries up to which NumPy multiplies; from there on SciPy, whose import takes a tenth of a second
and whose products take a third of the time."""


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix (m, n) by rows, with the names that SciPy has for its parts.

    Parameters
    ----------
    data : (nnz,) float64
    indices : (nnz,) int
        Columns, ascending in each row.
    indptr : (m + 1,) int
    shape : (int, int)
    """

    data: FloatArray
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[Any]
    shape: tuple[int, int]

    ndim = 2

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

    @cached_property
    def row(self) -> npt.NDArray[Any]:
        """Row of each entry (nnz,)."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @cached_property
    def csr(self) -> sp.csr_array:
        """The same matrix, on the same arrays, for SciPy."""
        import scipy.sparse as sp

        made = sp.csr_array(self.shape, dtype=np.float64)
        made.data, made.indices, made.indptr = self.data, self.indices, self.indptr
        return made

    @cached_property
    def magnitudes(self) -> SparseRows:
        """The matrix of absolute values."""
        return SparseRows(np.abs(self.data), self.indices, self.indptr, self.shape)

    def times(self, x: FloatArray) -> FloatArray:
        """Return A x (m,); each row is summed in its order."""
        if self.nnz > SMALL:
            product: FloatArray = self.csr @ x
            return product
        return _sums(self.row, self.data * x[self.indices], self.shape[0])

    def transposed_times(self, y: FloatArray) -> FloatArray:
        """Return A' y (n,); each column is summed in the order of the rows."""
        if self.nnz > SMALL:
            product: FloatArray = self.csr.T @ y
            return product
        return _sums(self.indices, self.data * y[self.row], self.shape[1])

    def canonical(self) -> SparseRows:
        """Return the same matrix with ascending columns, each entry once and none of them zero."""
        key = self.row * np.int64(self.shape[1]) + self.indices
        data, indices, row = self.data, self.indices, self.row
        if not (np.diff(key) > 0).all():
            order = np.argsort(key, kind="stable")
            begins = np.flatnonzero(np.diff(key[order], prepend=-1))
            data = np.add.reduceat(data[order], begins) if begins.size else data[order]
            indices, row = indices[order][begins], row[order][begins]
        kept = data != 0.0
        if not kept.all():
            data, indices, row = data[kept], indices[kept], row[kept]
        starts = np.zeros(self.shape[0] + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=self.shape[0]), out=starts[1:])
        as_short = indices.astype(np.int32, copy=data is self.data)
        return SparseRows(data.copy() if data is self.data else data, as_short, starts, self.shape)


def _sums(places: npt.NDArray[Any], terms: FloatArray, size: int) -> FloatArray:
    """Return the sum of the terms of each place, added in their order."""
    return np.bincount(places, terms, size).astype(np.float64, copy=False)
