"""From the diagonal D to the entries of the matrix that is factorised, at a fixed pattern.

Entry (i, k) of ``A_E D_E^-1 A_E'`` is a sum over columns j of ``a_ij a_kj / d_j``, so all entries
are one sparse matrix of products times the vector ``1 / d``. The pattern, and with it ordering and
symbolic factorisation, is the same in every iteration, even where entries cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.problem import BoolArray, FloatArray
from solvers.interior_point.on_device import array_on, csr_on
from solvers.native.interior_point_products import lay_out

IndexArray = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the lower triangle has entries, and which entries of A they are made of.

    The columns ``kept`` come first, then the rows. ``row`` and ``column`` (entries,) say where each
    entry is; the diagonal is always there, at ``on_diagonal`` (size,). Products are laid out as a
    CSR matrix (entries, columns) by ``starts`` and ``columns``; ``first`` and ``second`` are the
    places of their factors in A by columns. What stands there itself has its places in A in
    ``alone``, and ``alone_at`` says in which entry.
    """

    kept: IndexArray
    size: int
    row: IndexArray
    column: IndexArray
    on_diagonal: IndexArray
    starts: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    first: IndexArray
    second: IndexArray
    alone: IndexArray
    alone_at: IndexArray

    @classmethod
    def of(cls, by_column: Any, kept: BoolArray) -> Pattern:
        """Lay out the matrix for A', a CSR matrix (columns, rows) in order, some columns kept."""
        num_rows = by_column.shape[1]
        if by_column.nnz > np.iinfo(np.int32).max:
            raise DeviceError("The interior point method takes up to two billion coefficients.")
        places = sp.csr_array(
            (np.arange(by_column.nnz), by_column.indices, by_column.indptr), shape=by_column.shape
        ).tocsc()
        matrix = _Matrix(
            by_column.indptr.astype(np.int64),
            by_column.indices.astype(np.int32, copy=False),
            places.indptr.astype(np.int64),
            places.indices.astype(np.int32, copy=False),
            places.data,
        )
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        num_kept = int(np.count_nonzero(kept))
        size, pairs = num_kept + num_rows, pair_count(by_column, kept)
        alone = int(np.diff(by_column.indptr)[kept].sum())
        laid = _Layout.with_room_for(pairs, alone, size)
        entries = lay_out(matrix, number, num_kept, laid)
        for part in (laid.row, laid.column):
            part.resize(entries, refcheck=False)  # in place
        return cls(
            kept=np.flatnonzero(kept),
            size=size,
            row=laid.row,
            column=laid.column,
            on_diagonal=laid.on_diagonal,
            starts=laid.starts[: entries + 1].astype(_index_type(pairs)),
            columns=laid.columns,
            first=laid.first,
            second=laid.second,
            alone=laid.alone,
            alone_at=laid.alone_at,
        )

    def assembly(self, by_column: Any, device: Device) -> Assembly:
        """Return the products of the entries of A, whose pattern is the one that was laid out.

        The matrix is on the device, and so is what comes back.
        """
        values, shape = by_column.data, (self.row.size, by_column.shape[0])
        first, second, alone, alone_at, kept, on_diagonal = (
            array_on(part, device)
            for part in (
                *(self.first, self.second, self.alone, self.alone_at),
                *(self.kept, self.on_diagonal),
            )
        )
        products = csr_on(values[first] * values[second], self.columns, self.starts, shape, device)
        constant = np.zeros_like(values, shape=shape[0])
        constant[alone_at] = values[alone]
        return Assembly(kept, shape[0], products, constant, on_diagonal)


@dataclass(frozen=True, eq=False)
class Assembly:
    """How the values of the lower triangle follow from D.

    ``products`` (entries, columns) says how much of each ``1 / d`` is in an entry, ``constant``
    (entries,) what does not depend on D; ``kept`` and ``on_diagonal`` are those of the pattern.
    """

    kept: IndexArray
    entries: int
    products: Any
    constant: FloatArray
    on_diagonal: IndexArray

    @property
    def num_kept(self) -> int:
        """How many columns are kept."""
        return int(self.kept.size)

    def values(
        self, inverse: FloatArray, kept_diagonal: FloatArray, delta: float, share: float
    ) -> FloatArray:
        """Return the entries for ``1 / d`` of the eliminated columns and D + rho of the kept.

        To each pivot of a row ``delta`` is added, and a ``share`` of it.
        """
        values: FloatArray = self.products @ inverse + self.constant
        num_kept = kept_diagonal.size
        values[self.on_diagonal[:num_kept]] = -kept_diagonal
        rows = self.on_diagonal[num_kept:]
        values[rows] += delta + share * values[rows]
        return values


def pair_count(by_column: Any, kept: BoolArray) -> int:
    """Return how many products there are, which is what decides about the memory of a layout."""
    counts = np.diff(by_column.indptr)[~kept].astype(np.int64)
    return int((counts * (counts + 1) // 2).sum())


class _Matrix(NamedTuple):
    """A by columns, and by rows with the places of their entries there."""

    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    row_starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    places: npt.NDArray[np.int64]


class _Layout(NamedTuple):
    """The arrays of a pattern, with room for as many entries as there may be."""

    row: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    alone: npt.NDArray[np.int64]
    alone_at: npt.NDArray[np.int64]
    on_diagonal: npt.NDArray[np.int64]

    @classmethod
    def with_room_for(cls, pairs: int, alone: int, size: int) -> _Layout:
        """Return arrays for so many products, entries of kept columns, and rows of the system."""
        most = pairs + alone + size
        row, column = (np.empty(most, dtype=np.int32) for _ in range(2))
        first, second = (np.empty(pairs, dtype=np.int32) for _ in range(2))
        places = (np.empty(count, dtype=np.int64) for count in (alone, alone, size))
        starts, columns = np.empty(most + 1, dtype=np.int64), np.empty(pairs, dtype=np.int32)
        return cls(row, column, starts, columns, first, second, *places)


def _index_type(most: int) -> type[np.signedinteger[Any]]:
    """Return the shortest type of indices up to ``most``."""
    return np.int32 if most <= np.iinfo(np.int32).max else np.int64
