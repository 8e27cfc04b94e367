"""The smaller problem that is left when idle columns and rows are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import inner
from solvers.pdlp.shrinking.idle import Kept


@dataclass(frozen=True, eq=False)
class Part:
    """A problem without some columns and rows, and the way back.

    Parameters
    ----------
    problem : Problem
        The kept columns and rows; what the columns left out contribute at their bounds stands in
        its row sides and its offset.
    kept : Kept
        What is kept of the whole.
    columns, rows : integer arrays
        The numbers of the kept ones in the whole.
    x : (n,) float64
        A point of the whole; its values are those of the columns left out.
    """

    problem: Problem
    kept: Kept
    columns: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]
    x: FloatArray

    def point(self, x: FloatArray) -> FloatArray:
        """Return a point of the whole (n,) from one of the part."""
        whole = self.x.copy()
        whole[self.columns] = x
        return whole

    def direction(self, x: FloatArray) -> FloatArray:
        """Return a direction of the whole (n,), zero where columns are left out."""
        whole = np.zeros(self.x.size)
        whole[self.columns] = x
        return whole

    def duals(self, y: FloatArray) -> FloatArray:
        """Return row duals of the whole (m,), zero where rows are left out."""
        whole = np.zeros(self.kept.rows.size)
        whole[self.rows] = y
        return whole


def leave_out(problem: Problem, kept: Kept, x: FloatArray) -> Part:
    """Make the part of a problem that is kept, with all other columns where x (n,) has them."""
    columns, rows = np.flatnonzero(kept.columns), np.flatnonzero(kept.rows)
    outside = np.where(kept.columns, 0.0, x)
    matrix = problem.matrix_csc[:, columns].tocsr()[rows]
    contribution = (problem.matrix @ outside)[rows]
    smaller = Problem(
        cost=problem.cost[columns],
        matrix=matrix,
        row_lower=problem.row_lower[rows] - contribution,
        row_upper=problem.row_upper[rows] - contribution,
        lower=problem.lower[columns],
        upper=problem.upper[columns],
        integrality=np.zeros(columns.size, dtype=bool),
        offset=problem.offset + inner(problem.cost, outside),
    )
    return Part(smaller, kept, columns, rows, x)
