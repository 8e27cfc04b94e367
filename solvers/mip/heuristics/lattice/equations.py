"""The rows of a model that only integers can satisfy: equations of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.mip.model import IndexArray, MipModel

LARGEST_COEFFICIENT = 1e6
"""Beyond, a double cannot hold the scalar products of a lattice's vectors exactly enough."""

ADDED = 5
"""Columns added of each equation that no integers satisfy."""

LARGEST_SIDE = 2.0**50
"""Sides below this are exact, and sums up to them."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations A x = b of a model in which every number and every free column is whole.

    Parameters
    ----------
    rows : (r,) int32
        Their numbers in the model, rising.
    columns : (k,) int32
        The columns with an entry in them that are not fixed, rising.
    matrix : (r, k) csr
        A in these columns, each row divided by its greatest common divisor.
    right : (r,) float64
        b, after fixed columns and divided like the rows.
    is_solvable : bool
        False where a row's divisor does not divide its side: no integers satisfy it.
    """

    rows: IndexArray
    columns: IndexArray
    matrix: sp.csr_array
    right: FloatArray
    is_solvable: bool

    def within(self, columns: IndexArray, home: FloatArray) -> tuple[sp.csr_array, FloatArray]:
        """Return matrix and right-hand side in these of our columns, the others at ``home`` (n,).

        ``columns`` (s,) and ``home`` are by the model's numbers.
        """
        inside = np.isin(self.columns, columns)
        there = np.where(inside, 0.0, home[self.columns])
        right = self.right - np.asarray(self.matrix @ there)
        return self.matrix[:, np.flatnonzero(inside)].tocsr(), right


def widened(
    equations: Equations, missed: IndexArray, columns: IndexArray, rng: np.random.Generator
) -> IndexArray:
    """Return ``columns`` (of the model) with some more of the equations ``missed`` (of ours).

    Those with the smallest coefficients: multiples of ten alone do not add up to one.
    """
    matrix, chosen = SparseRows.of(equations.matrix), [columns]
    is_new = ~np.isin(equations.columns, columns)
    for i in missed:
        places, values = matrix[i]
        order = np.lexsort((rng.random(places.size), np.abs(values)))
        places = places[order]
        chosen.append(equations.columns[places[is_new[places]][:ADDED]])
    wider: IndexArray = np.unique(np.concatenate(chosen)).astype(np.int32)
    return wider


def find_equations(model: MipModel, lower: FloatArray, upper: FloatArray) -> Equations:
    """Return the equations of whole numbers of a model within bounds (n,)."""
    free = lower < upper
    whole = np.abs(model.rows.data) <= LARGEST_COEFFICIENT
    whole &= model.rows.data == np.round(model.rows.data)
    whole &= model.is_integer[model.rows.indices] == 1
    all_whole = model.rows.count(~whole) == 0
    is_open = model.rows.count(free[model.rows.indices]) > 0
    with np.errstate(invalid="ignore"):
        sides = (model.row_lower == model.row_upper) & (np.abs(model.row_lower) <= LARGEST_SIDE)
    exact = sides & all_whole & is_open
    rows = np.flatnonzero(exact).astype(np.int32)
    matrix = model.problem.matrix[rows]
    fixed = np.where(free, 0.0, lower)
    right = model.row_lower[rows] - np.asarray(matrix @ fixed)
    matrix = matrix[:, np.flatnonzero(free)].tocsr()
    occurs = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    matrix = matrix[:, occurs].tocsr()
    matrix.sort_indices()
    entries = SparseRows.of(matrix)
    divisor = np.ones(rows.size)
    for i in range(rows.size):
        divisor[i] = float(np.gcd.reduce(np.abs(entries[i][1]).astype(np.int64)))
    matrix.data /= np.repeat(divisor, entries.lengths)
    right = right / divisor
    return Equations(
        rows=rows,
        columns=np.flatnonzero(free)[occurs].astype(np.int32),
        matrix=matrix,
        right=right,
        is_solvable=bool(np.all(right == np.round(right))),
    )
