"""The model split in two: what its integers decide, and the LP that is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel

RELATIVE_ROUNDING = 1e-12
"""Sums of terms of this size, relative, are lost in rounding: about 1e4 times double precision."""


@dataclass(frozen=True, eq=False)
class ContinuousPart:
    """The columns that are not integer, the rows they occur in, and how far they can move them.

    Parameters
    ----------
    columns : (k,) int32
        The continuous columns of the model, rising.
    rows : (r,) int32
        Rows with an entry in one of them, rising.
    matrix : (r, k) csr
        The entries of ``rows`` in ``columns``.
    lowest, highest : (m,) float64
        Least and greatest sum that the continuous columns add to each row; infinite where one of
        them has no bound, zero in other rows.
    """

    columns: IndexArray
    rows: IndexArray
    matrix: sp.csr_array
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, model: MipModel) -> ContinuousPart:
        """Split a model."""
        continuous = model.is_integer == 0
        columns = np.flatnonzero(continuous).astype(np.int32)
        entries = np.flatnonzero(continuous[model.rows.indices])
        row_of_entry = np.repeat(np.arange(model.num_rows, dtype=np.int32), model.rows.lengths)[
            entries
        ]
        column, value = model.rows.indices[entries], model.rows.data[entries]
        at_lower, at_upper = value * model.lower[column], value * model.upper[column]
        least, most = np.minimum(at_lower, at_upper), np.maximum(at_lower, at_upper)
        rows = np.unique(row_of_entry).astype(np.int32)
        matrix = model.problem.matrix[rows][:, columns].tocsr()
        matrix.sort_indices()
        return cls(
            columns=columns,
            rows=rows,
            matrix=matrix,
            lowest=_row_sums(row_of_entry, least, model.num_rows),
            highest=_row_sums(row_of_entry, most, model.num_rows),
        )

    def problem(self, model: MipModel) -> Problem:
        """Return the LP that is left, with the sides that its rows have in the model."""
        return Problem(
            cost=model.cost[self.columns],
            matrix=self.matrix,
            row_lower=model.row_lower[self.rows],
            row_upper=model.row_upper[self.rows],
            lower=model.lower[self.columns],
            upper=model.upper[self.columns],
            integrality=np.zeros(self.columns.size, dtype=bool),
        )

    def row_sides(self, model: MipModel, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sides (m,) that are left for the continuous columns at the integers of x."""
        decided = model.activity(np.where(model.is_integer == 1, x, 0.0))
        return model.row_lower - decided, model.row_upper - decided

    def hopeless_rows(self, low: FloatArray, high: FloatArray) -> IndexArray:
        """Return the rows whose sides (m,) are out of the continuous columns' reach."""
        above = low - self.highest > _tolerance(low, self.highest)
        below = self.lowest - high > _tolerance(high, self.lowest)
        return np.flatnonzero(above | below).astype(np.int32)


def _row_sums(row: IndexArray, terms: FloatArray, num_rows: int) -> FloatArray:
    """Add terms of which the infinite ones all have the same sign."""
    infinite = np.isinf(terms)
    sums = np.bincount(row, weights=np.where(infinite, 0.0, terms), minlength=num_rows)
    total: FloatArray = sums.astype(np.float64, copy=False)
    total[row[infinite]] = terms[infinite]
    return total


def _tolerance(side: FloatArray, reach: FloatArray) -> FloatArray:
    size = np.maximum(
        np.where(np.isfinite(side), np.abs(side), 0.0),
        np.where(np.isfinite(reach), np.abs(reach), 0.0),
    )
    return FEASIBILITY_TOLERANCE + RELATIVE_ROUNDING * size
