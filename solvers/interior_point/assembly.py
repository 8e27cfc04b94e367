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
from solvers.interior_point.placement import matrix_on

PIVOT_SHARE = 1e-14
"""Part of a diagonal entry that is added to it, which rounding cannot outweigh where equations
depend on each other."""

IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Assembly:
    """The lower triangle of the matrix: its pattern, and how its values follow from D.

    The columns ``kept`` come first, then the rows. ``row`` and ``column`` (entries,) say where each
    entry is, ``products`` (entries, columns) how much of each ``1 / d`` is in it, ``constant``
    (entries,) what does not depend on D. The diagonal is always there, at ``on_diagonal`` (size,).
    """

    kept: IndexArray
    size: int
    row: IndexArray
    column: IndexArray
    products: Any
    constant: FloatArray
    on_diagonal: IndexArray

    @property
    def num_kept(self) -> int:
        """How many columns are kept."""
        return int(self.kept.size)

    @classmethod
    def of(cls, matrix: Any, kept: BoolArray) -> Assembly:
        """Lay out the matrix for A (rows, columns) with some columns kept."""
        by_column = matrix.tocsc()
        num_kept = int(np.count_nonzero(kept))
        size = num_kept + matrix.shape[0]
        row, column, source, factor = _pairs(by_column, np.flatnonzero(~kept))
        there = by_column[:, kept].tocoo()
        diagonal = np.arange(size, dtype=np.int64)
        key = np.concatenate(
            [
                (column + num_kept) * size + row + num_kept,
                there.col.astype(np.int64) * size + there.row + num_kept,
                diagonal * size + diagonal,
            ]
        )
        pattern, place = np.unique(key, return_inverse=True)
        pairs, constants = row.size, row.size + there.nnz
        constant = np.zeros(pattern.size)
        constant[place[pairs:constants]] = there.data
        shape = (pattern.size, matrix.shape[1])
        products = sp.csr_array((factor, (place[:pairs], source)), shape=shape)
        row, column = pattern % size, pattern // size
        places = np.flatnonzero(kept)
        return cls(places, size, row, column, products, constant, place[constants:])

    def on(self, device: Device) -> Assembly:
        """Return this with what :meth:`values` needs on a device."""
        return dataclasses.replace(
            self,
            kept=device.to_device(self.kept),
            products=matrix_on(self.products, device),
            constant=device.to_device(self.constant),
            on_diagonal=device.to_device(self.on_diagonal),
        )

    def values(self, inverse: FloatArray, kept_diagonal: FloatArray, delta: float) -> FloatArray:
        """Return the entries for ``1 / d`` of the eliminated columns and D + rho of the kept."""
        values: FloatArray = self.products @ inverse + self.constant
        num_kept = kept_diagonal.size
        values[self.on_diagonal[:num_kept]] = -kept_diagonal
        rows = self.on_diagonal[num_kept:]
        values[rows] += delta + PIVOT_SHARE * values[rows]
        return values


def pair_count(matrix: Any, kept: BoolArray) -> int:
    """Return how many products there are, which is what decides about the memory of a layout."""
    counts = np.diff(matrix.tocsc().indptr)[~kept].astype(np.int64)
    return int((counts * (counts + 1) // 2).sum())


def _pairs(
    by_column: Any, columns: npt.NDArray[Any]
) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray]:
    """Return, for every two entries of each column, their rows (larger first), it and product."""
    starts, counts = by_column.indptr[columns].astype(np.int64), np.diff(by_column.indptr)[columns]
    found: list[tuple[IndexArray, IndexArray, IndexArray, FloatArray]] = []
    for count in np.unique(counts[counts > 0]).tolist():
        these = counts == count
        low, high = np.tril_indices(count)
        first, second = starts[these, None] + low, starts[these, None] + high
        i, k = by_column.indices[first].astype(np.int64), by_column.indices[second].astype(np.int64)
        source = np.broadcast_to(columns[these, None], i.shape)
        product = by_column.data[first] * by_column.data[second]
        found.append(
            (np.maximum(i, k).ravel(), np.minimum(i, k).ravel(), source.ravel(), product.ravel())
        )
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing, np.zeros(0)
    i, k, source, product = (np.concatenate(part) for part in zip(*found, strict=True))
    return i, k, source, product
