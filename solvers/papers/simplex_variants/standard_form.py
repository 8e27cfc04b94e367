"""Standard form of the paper, minimise c'x subject to A x = b, x >= 0, and its scaling.

Every column of the problem becomes one or two that start at zero: one with a finite lower bound is
shifted, one with an upper bound only is mirrored, a free one is split in two, a fixed one goes to
the right-hand side. Inequalities get a slack, free rows are left out. An upper bound that is left,
of a column or of the slack of a ranged row, becomes a row ``x + t = width`` (paper, section 2.3:
"for the constraints of the variables themselves we assume 0 <= x"). The pivots see the scaled form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.simplex.state import geometric_scales

NONE = -1
"""Stands for "no such column" or "no such row"."""

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StandardForm:
    """A linear program with equations and non-negative columns, and where its parts come from."""

    problem: Problem
    """What it was made of."""
    matrix: sp.csc_array
    """(m, n) csc_array: A, with slacks and the complements of upper bounds as its last columns."""
    cost: FloatArray
    rhs: FloatArray
    """(n,) and (m,): c and b; b may have any sign."""
    owner: Indices
    """(n,): column of the problem that a column here is part of; ``NONE`` for slacks and
    complements."""
    sign: FloatArray
    """(n,): 1, or -1 where a column here runs against its owner."""
    shift: FloatArray
    """(columns of the problem,): value of each column of the problem at zero here."""
    kept_rows: Indices
    """Rows of the problem that the first rows here are."""
    slack: Indices
    """(m,): column whose only other rows are bounds, which makes a start basis; ``NONE`` in
    equations."""
    complement: Indices
    """(n,): column that a row ``x + t = width`` pairs a column with; ``NONE`` without upper
    bound."""

    @property
    def num_rows(self) -> int:
        """Equations, m."""
        return int(self.rhs.size)

    @property
    def num_columns(self) -> int:
        """Non-negative columns, n; the artificial of row i is counted as n + i."""
        return int(self.cost.size)

    def recover_point(self, values: FloatArray) -> FloatArray:
        """Return the problem's point for values (n,) of the columns here."""
        return self.recover_direction(values) + self.shift

    def recover_direction(self, values: FloatArray) -> FloatArray:
        """Return the problem's direction for a direction (n,) of the columns here."""
        direction = np.zeros(self.shift.size)
        owned = self.owner != NONE
        np.add.at(direction, self.owner[owned], self.sign[owned] * values[owned])
        return direction

    def recover_duals(self, y: FloatArray) -> FloatArray:
        """Return the problem's row multipliers for those (m,) of the equations here."""
        duals = np.zeros(self.problem.num_rows)
        duals[self.kept_rows] = y[: self.kept_rows.size]
        return duals


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns here that stand for columns of the problem."""

    owner: Indices
    sign: FloatArray
    shift: FloatArray
    width: FloatArray


def standard_form(problem: Problem) -> StandardForm:
    """Write a linear program in standard form; integrality is ignored."""
    columns = _columns(problem)
    low, high = problem.row_lower, problem.row_upper
    kept = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    matrix = problem.matrix[kept]
    low, high = low[kept], high[kept]
    side = np.where(np.isfinite(high), high, low)
    slack_sign = np.where(np.isfinite(high), 1.0, -1.0)
    slack_row = np.flatnonzero(low < high)
    slack_width = np.where(np.isfinite(low) & np.isfinite(high), high - low, np.inf)[slack_row]
    count = columns.owner.size
    own = matrix.tocsc()[:, columns.owner] @ sp.diags_array(columns.sign)
    slacks = sp.csc_array(
        (slack_sign[slack_row], (slack_row, np.arange(slack_row.size))),
        shape=(kept.size, slack_row.size),
    )
    width = np.concatenate([columns.width, slack_width])
    bounded = np.flatnonzero(np.isfinite(width))
    full = _with_bound_rows(sp.hstack([own, slacks], format="csc"), bounded)
    right = np.concatenate([side - matrix @ columns.shift, width[bounded]])
    if not right.size:  # an equation without columns, so that there is a basis
        full, right = sp.csc_array((1, full.shape[1])), np.zeros(1)
    slack = np.full(full.shape[0], NONE, dtype=np.int64)
    slack[slack_row] = count + np.arange(slack_row.size)
    slack[kept.size : kept.size + bounded.size] = width.size + np.arange(bounded.size)
    complement = np.full(full.shape[1], NONE, dtype=np.int64)
    complement[bounded] = width.size + np.arange(bounded.size)
    rest = full.shape[1] - count
    return StandardForm(
        problem,
        full,
        np.concatenate([problem.cost[columns.owner] * columns.sign, np.zeros(rest)]),
        right,
        np.concatenate([columns.owner, np.full(rest, NONE, dtype=np.int64)]),
        np.concatenate([columns.sign, np.ones(rest)]),
        columns.shift,
        kept,
        slack,
        complement,
    )


def _columns(problem: Problem) -> _Columns:
    lower, upper = problem.lower, problem.upper
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    moving = np.flatnonzero(lower < upper)
    free = np.flatnonzero(~has_lower & ~has_upper)
    mirrored = ~has_lower & has_upper
    return _Columns(
        np.concatenate([moving, free]),
        np.concatenate([np.where(mirrored[moving], -1.0, 1.0), np.full(free.size, -1.0)]),
        np.where(has_lower, lower, np.where(has_upper, upper, 0.0)),
        np.concatenate(
            [
                np.where(has_lower & has_upper, upper - lower, np.inf)[moving],
                np.full(free.size, np.inf),
            ]
        ),
    )


def _with_bound_rows(matrix: sp.csc_array, bounded: Indices) -> sp.csc_array:
    """Return the matrix with a row x + t = width, and a column t, for each bounded column."""
    count = bounded.size
    ones, rows = np.ones(count), np.arange(count)
    picks = sp.csc_array((ones, (rows, bounded)), shape=(count, matrix.shape[1]))
    nothing = sp.csc_array((matrix.shape[0], count))
    whole = sp.block_array(
        [[matrix, nothing], [picks, sp.eye_array(count, format="csc")]], format="csc"
    )
    whole = sp.csc_array(whole)
    whole.sum_duplicates()
    whole.sort_indices()
    return whole


@dataclass(frozen=True, eq=False)
class ScaledForm:
    """The standard form with R A C for A, all scales powers of two, and cost of size one."""

    origin: StandardForm
    matrix: sp.csc_array
    """(m, n) csc_array: R A C."""
    cost: FloatArray
    rhs: FloatArray
    """(n,) and (m,): scaled, C c / ``cost_scale`` and R b."""
    row_scale: FloatArray
    column_scale: FloatArray
    """(m,) and (n,): R and C."""
    cost_scale: float

    @property
    def num_rows(self) -> int:
        """Equations, m."""
        return self.origin.num_rows

    @property
    def num_columns(self) -> int:
        """Columns without artificials, n."""
        return self.origin.num_columns


def scaled_form(origin: StandardForm) -> ScaledForm:
    """Equilibrate a standard form."""
    by_rows = origin.matrix.tocsr()
    m, n = by_rows.shape
    rows, columns = geometric_scales(by_rows) if by_rows.nnz else (np.ones(m), np.ones(n))
    matrix = sp.csc_array(sp.diags_array(rows) @ origin.matrix @ sp.diags_array(columns))
    matrix.sort_indices()
    cost = origin.cost * columns
    largest = np.max(np.abs(cost), initial=0.0)
    cost_scale = float(np.exp2(np.round(np.log2(largest)))) if largest > 0.0 else 1.0
    return ScaledForm(
        origin, matrix, cost / cost_scale, origin.rhs * rows, rows, columns, cost_scale
    )
