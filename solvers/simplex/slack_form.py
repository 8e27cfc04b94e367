"""Slack form: one logical variable for each row, and bounds on everything.

    minimise    cost'x
    subject to  [A  -I] x = 0,   lower <= x <= upper

Variables 0..n-1 are the columns of the problem ("structurals"), n..n+m-1 the activities of its rows
("logicals"), so that ranges, equations and free rows are bounds like any others, and the slack
basis -I needs no factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.core.rows import SparseRows

SCALING_PASSES = 4
"""Passes of geometric scaling; more change the powers of two of few rows."""

NO_SCALING_WITHIN = (0.2, 5.0)
"""Smallest and largest coefficient between which a matrix is left as it is."""


@dataclass(frozen=True, eq=False)
class SlackForm:
    """A linear program in slack form, scaled by powers of two.

    With R and C the scales, the matrix here is R A C, a structural here is x / C, a logical R s.

    Parameters
    ----------
    num_rows, num_structurals : int
        m and n.
    columns, rows : SparseRows
        A by columns and by rows, without the logicals; indices ascend.
    cost, lower, upper : (n + m,) arrays
        Of structurals, then logicals, whose costs are zero.
    column_scale, row_scale : (n,) and (m,) arrays
        C and R, powers of two.
    """

    num_rows: int
    num_structurals: int
    columns: SparseRows
    rows: SparseRows
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    column_scale: FloatArray
    row_scale: FloatArray

    @property
    def num_variables(self) -> int:
        """Structurals and logicals, n + m."""
        return self.num_structurals + self.num_rows

    @property
    def scale(self) -> FloatArray:
        """(n + m,) factors that turn values here into values of the problem."""
        return np.concatenate([self.column_scale, 1.0 / self.row_scale])

    @property
    def is_scaled(self) -> bool:
        """Whether any scale differs from one."""
        return bool((self.column_scale != 1.0).any() or (self.row_scale != 1.0).any())


def slack_form(problem: Problem, *, scaled: bool = True) -> SlackForm:
    """Write a linear program in slack form; integrality is ignored.

    Parameters
    ----------
    problem : Problem
    scaled : bool
        Scale rows and columns geometrically, rounded to powers of two, which makes no rounding
        errors; a matrix whose coefficients are all near one is left as it is.
    """
    matrix = problem.matrix
    m, n = matrix.shape
    row_scale, column_scale = np.ones(m), np.ones(n)
    if scaled and matrix.nnz:
        row_scale, column_scale = geometric_scales(matrix)
    by_rows = sp.csr_array(
        (
            matrix.data
            * np.repeat(row_scale, np.diff(matrix.indptr))
            * column_scale[matrix.indices],
            matrix.indices,
            matrix.indptr,
        ),
        shape=(m, n),
    )
    by_columns = by_rows.tocsc()
    by_columns.sort_indices()
    return SlackForm(
        m,
        n,
        SparseRows.of(by_columns),
        SparseRows.of(by_rows),
        np.concatenate([problem.cost * column_scale, np.zeros(m)]),
        np.concatenate([problem.lower / column_scale, problem.row_lower * row_scale]),
        np.concatenate([problem.upper / column_scale, problem.row_upper * row_scale]),
        column_scale,
        row_scale,
    )


def geometric_scales(matrix: sp.csr_array) -> tuple[FloatArray, FloatArray]:
    """Return (m,) row and (n,) column scales that bring coefficients near one, powers of two."""
    m, n = matrix.shape
    size = np.abs(matrix.data)
    row_scale, column_scale = np.ones(m), np.ones(n)
    if size.min() >= NO_SCALING_WITHIN[0] and size.max() <= NO_SCALING_WITHIN[1]:
        return row_scale, column_scale
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    column = matrix.indices
    for _ in range(SCALING_PASSES):
        row_scale = _inverse_middle(size * column_scale[column], row, m)
        column_scale = _inverse_middle(size * row_scale[row], column, n)
    return _power_of_two(row_scale), _power_of_two(column_scale)


def _inverse_middle(size: FloatArray, owner: npt.NDArray[np.integer], count: int) -> FloatArray:
    """Return 1 / sqrt(smallest * largest) of each owner's coefficients; one where it has none."""
    smallest, largest = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(smallest, owner, size)
    np.maximum.at(largest, owner, size)
    filled = largest > 0.0
    scale = np.ones(count)
    scale[filled] = 1.0 / np.sqrt(smallest[filled] * largest[filled])
    return scale


def _power_of_two(scale: FloatArray) -> FloatArray:
    return np.asarray(np.exp2(np.round(np.log2(scale))))
