"""From the diagonal D to the entries of the matrix that is factorised, at a fixed pattern.

Entry (i, k) of ``A_E D_E^-1 A_E'`` is a sum over columns j of ``a_ij a_kj / d_j``, so all entries
are one sparse matrix of products times the vector ``1 / d``. The pattern, and with it ordering and
symbolic factorisation, is the same in every iteration, even where entries cancel.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.problem import BoolArray, FloatArray
from solvers.interior_point.standard_form import matrix_on
from solvers.native.interior_point_sorting import lexicographic_order

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
        """Lay out the matrix for A', a CSR matrix (columns, rows), with some columns kept."""
        num_columns, num_rows = by_column.shape
        num_kept = int(np.count_nonzero(kept))
        size = num_kept + num_rows
        first, second, source = _pairs(by_column, np.flatnonzero(~kept))
        owner = np.repeat(np.arange(num_columns, dtype=np.int32), np.diff(by_column.indptr))
        alone = np.flatnonzero(kept[owner])
        pairs, constants = first.size, first.size + alone.size
        low, high = (np.empty(constants + size, dtype=np.int32) for _ in range(2))
        i, k = by_column.indices[first], by_column.indices[second]
        np.minimum(i, k, out=low[:pairs], casting="same_kind")
        np.maximum(i, k, out=high[:pairs], casting="same_kind")
        high[pairs:constants] = by_column.indices[alone]
        low[:pairs] += num_kept
        high[:constants] += num_kept
        low[pairs:constants] = (np.cumsum(kept) - 1)[owner[alone]]
        low[constants:] = high[constants:] = np.arange(size)
        del i, k, owner
        column, row, place = _distinct(low, high, size)
        del low, high
        shape = (row.size, num_columns)
        numbers = np.arange(pairs, dtype=place.dtype)
        order = sp.csr_array((numbers, (place[:pairs], source)), shape=shape)
        return cls(
            kept=np.flatnonzero(kept),
            size=size,
            row=row,
            column=column,
            on_diagonal=place[constants:],
            starts=order.indptr,
            columns=order.indices,
            first=first[order.data],
            second=second[order.data],
            alone=alone,
            alone_at=place[pairs:constants],
        )

    def assembly(self, by_column: Any) -> Assembly:
        """Return the products of the entries of A, whose pattern is the one that was laid out."""
        values = by_column.data
        products = sp.csr_array(
            (values[self.first] * values[self.second], self.columns, self.starts),
            shape=(self.row.size, by_column.shape[0]),
        )
        constant = np.zeros(self.row.size)
        constant[self.alone_at] = values[self.alone]
        return Assembly(self.kept, self.row.size, products, constant, self.on_diagonal)


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

    def on(self, device: Device) -> Assembly:
        """Return this with what :meth:`values` needs on a device."""
        return dataclasses.replace(
            self,
            kept=device.to_device(self.kept),
            products=matrix_on(self.products, device),
            constant=device.to_device(self.constant),
            on_diagonal=device.to_device(self.on_diagonal),
        )

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


def _distinct(
    column: npt.NDArray[np.int32], row: npt.NDArray[np.int32], size: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], IndexArray]:
    """Return the distinct entries by columns, and the place of each entry among them."""
    order = np.empty(column.size, dtype=np.int64)
    lexicographic_order(column, row, size, order)
    column, row = column[order], row[order]
    is_new = np.empty(column.size, dtype=bool)
    is_new[:1] = True
    np.not_equal(column[1:], column[:-1], out=is_new[1:])
    is_new[1:] |= row[1:] != row[:-1]
    kind = np.int32 if column.size <= np.iinfo(np.int32).max else np.int64
    place: IndexArray = np.empty(column.size, dtype=kind)
    place[order] = np.cumsum(is_new, dtype=kind) - 1
    return column[is_new], row[is_new], place


def _pairs(by_column: Any, columns: npt.NDArray[Any]) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return, for every two entries of each column, their places among all entries, and it."""
    starts, counts = by_column.indptr[columns], np.diff(by_column.indptr)[columns]
    columns = columns.astype(np.int32)
    found: list[tuple[IndexArray, IndexArray, IndexArray]] = []
    for count in np.unique(counts[counts > 0]).tolist():
        these = counts == count
        low, high = (part.astype(np.int32) for part in np.tril_indices(count))
        first, second = starts[these, None] + low, starts[these, None] + high
        source = np.broadcast_to(columns[these, None], first.shape)
        found.append((first.ravel(), second.ravel(), source.ravel()))
    if not found:
        nothing = np.zeros(0, dtype=np.int32)
        return nothing, nothing, nothing
    first, second, source = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, second, source
