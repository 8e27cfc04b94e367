"""Linear programs put together from groups of columns and rows, straight into CSR arrays.

Every family is a few groups: a column for each technology and hour, a row for each node and hour.
A group is one NumPy expression whatever its size, and its entries are written once, next to each
other, so that a hundred million of them take a minute and not much more memory than the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.linear_programs import FloatArray, LinearProgram

IntArray = npt.NDArray[Any]
"""Numbers of columns, 32 bits wide as long as they fit."""

Value = npt.NDArray[Any] | float


@dataclass(frozen=True, eq=False)
class Term:
    """Columns with their coefficients in a group of rows.

    ``columns`` has the axes of the group, which give each row one entry, or one axis more, along
    which lie the entries of a row. Axes of length one are spread, and so is ``coefficients``.
    """

    columns: IntArray
    coefficients: Value = 1.0


@dataclass(frozen=True, eq=False)
class _Rows:
    """A group of rows, one after the other: columns, values and how many of them in each."""

    indices: IntArray
    data: FloatArray
    lengths: IntArray
    lower: FloatArray
    upper: FloatArray


class Builder:
    """Takes groups of columns, then groups of rows over them, and makes the program."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._columns: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._count = 0
        self._rows: list[_Rows] = []

    def columns(
        self,
        *shape: int,
        cost: Value = 0.0,
        lower: Value = 0.0,
        upper: Value = np.inf,
    ) -> IntArray:
        """Add columns in the given shape and return their numbers in that shape."""
        size = int(np.prod(shape))
        self._columns.append((_spread(cost, shape), _spread(lower, shape), _spread(upper, shape)))
        first, self._count = self._count, self._count + size
        return np.arange(first, self._count, dtype=_index_type(self._count)).reshape(shape)

    def rows(
        self,
        shape: tuple[int, ...],
        terms: Sequence[Term],
        *,
        lower: Value = -np.inf,
        upper: Value = np.inf,
    ) -> None:
        """Add one row for each element of ``shape``, all with the same number of entries."""
        axes, count = len(shape), int(np.prod(shape))
        widths = [1 if term.columns.ndim == axes else term.columns.shape[-1] for term in terms]
        indices = np.empty((*shape, sum(widths)), dtype=_index_type(self._count))
        data = np.empty(indices.shape)
        at = 0
        for term, width in zip(terms, widths, strict=True):
            single = term.columns.ndim == axes
            part = at if single else slice(at, at + width)
            indices[..., part] = term.columns
            data[..., part] = term.coefficients
            at += width
        lengths = np.full(count, sum(widths))
        self._add(indices.ravel(), data.ravel(), lengths, shape, lower, upper)

    def blocks(
        self,
        matrix: sp.csr_matrix,
        columns: IntArray,
        *,
        lower: Value = -np.inf,
        upper: Value = np.inf,
    ) -> None:
        """Add the rows of ``matrix`` (m, n) once for each row of ``columns`` (copies, n).

        For rows that differ in length. Sides are of the shape (copies, m), or spread to it.
        """
        indices = columns[:, matrix.indices].ravel()
        copies = len(columns)
        lengths = np.tile(np.diff(matrix.indptr), copies)
        data = np.tile(matrix.data.astype(float), copies)
        self._add(indices, data, lengths, (copies, matrix.shape[0]), lower, upper)

    def finish(self) -> LinearProgram:
        """Return the program; the builder is empty afterwards."""
        groups = list(zip(*self._columns, strict=True))
        cost, lower, upper = (np.concatenate(parts) for parts in groups)
        matrix, row_lower, row_upper = self._matrix()
        return LinearProgram(
            name=self._name,
            cost=cost,
            matrix=matrix,
            row_lower=row_lower,
            row_upper=row_upper,
            lower=lower,
            upper=upper,
        )

    def _add(
        self,
        indices: IntArray,
        data: FloatArray,
        lengths: IntArray,
        shape: tuple[int, ...],
        lower: Value,
        upper: Value,
    ) -> None:
        sides = (_spread(lower, shape), _spread(upper, shape))
        self._rows.append(_Rows(indices, data, lengths, *sides))

    def _matrix(self) -> tuple[sp.csr_matrix, FloatArray, FloatArray]:
        """Join the groups, each of which is let go once it is copied."""
        lengths = np.concatenate([group.lengths for group in self._rows])
        row_lower = np.concatenate([group.lower for group in self._rows])
        row_upper = np.concatenate([group.upper for group in self._rows])
        total = int(lengths.sum())
        index_type = _index_type(max(total, self._count))
        starts = np.zeros(len(lengths) + 1, dtype=index_type)
        np.cumsum(lengths, out=starts[1:])
        indices, data = np.empty(total, dtype=index_type), np.empty(total)
        self._rows.reverse()
        at = 0
        while self._rows:
            group = self._rows.pop()
            end = at + group.data.size
            indices[at:end], data[at:end] = group.indices, group.data
            at = end
        shape = (len(lengths), self._count)
        matrix = sp.csr_matrix((data, indices, starts), shape=shape)
        matrix.eliminate_zeros()
        matrix.sum_duplicates()
        return matrix, row_lower, row_upper


def _spread(value: Value, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, dtype=float), shape).ravel()


def _index_type(count: int) -> type[np.signedinteger[Any]]:
    return np.int32 if count <= np.iinfo(np.int32).max else np.int64
