"""The form in which the method sees a linear program, and the way back.

    minimise c'x   subject to   A x = b,   x_j >= 0 and x_j <= u_j where bounded,   x_j free else

Rows that are no equations get a slack column with the row's sides as bounds. Rows without a side
and columns that are fixed are left out. A column is shifted by its finite bound, turned round
where that is the upper one, and scaled; cost and sides are scaled to a size of one.

Scales are powers of two: A becomes R A C with entries near one, and no digit is lost. Passes by the
geometric mean of each line's extremes tame badly scaled models, and a last one by the root of the
greatest magnitude (Ruiz 2001) brings every line's greatest entry near one. The factors of the
normal equations are indifferent to the scale of columns in exact arithmetic; what scaling decides
is how large the regularisation is beside the entries. With PDLP's passes, of Curtis and Reid,
instead of the first ones Netlib takes 1 % fewer iterations and an energy system of 365 hours 14 %
more (``docs/interior-point.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.native.interior_point_scaling import rescale_lines

GEOMETRIC_PASSES, RUIZ_PASSES = 4, 4


Look = Callable[[], object]
"""What is called between steps of the preparation: it raises an exception where that is to end."""


def go_on() -> None:
    """Look for nothing: the preparation is not to end."""


def find_scaling(
    matrix: Any, look: Look = go_on, threads: int = 1, by_column: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return the scales of rows (m,) and of columns (n,) of a CSR matrix, all powers of two.

    Empty rows and columns keep the scale 1. ``by_column`` is the same as a CSC matrix, if there is
    one.
    """
    rows, columns = (
        (lines.indptr.astype(np.int64), lines.indices.astype(np.int32, copy=False), abs(lines.data))
        for lines in (matrix, matrix.tocsc() if by_column is None else by_column)
    )
    row, column = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for geometric in [True] * GEOMETRIC_PASSES + [False] * RUIZ_PASSES:
        look()
        row_before = row.copy()
        rescale_lines(*rows, column, row, geometric, threads)
        rescale_lines(*columns, row if geometric else row_before, column, geometric, threads)
    return _power_of_two(row), _power_of_two(column)


def _power_of_two(values: FloatArray) -> FloatArray:
    rounded: FloatArray = np.exp2(np.round(np.log2(values)))
    return rounded


IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class StandardForm:
    """A linear program in standard form, with what leads back to the problem it came from."""

    matrix: Any
    transposed: Any
    """CSR matrices of shape (rows, columns) and (columns, rows)."""
    b: FloatArray
    """(rows,)."""
    c: FloatArray
    """(columns,)."""
    free: BoolArray
    """(columns,) of bool: columns without bounds; all others are non-negative."""
    bounded: IndexArray
    """(k,): places of the columns that have an upper bound too, and ``u`` (k,) those bounds."""
    u: FloatArray
    origin: Origin
    pairs: int
    """Complementary pairs of the embedding, (tau, kappa) among them."""


@dataclass(frozen=True, eq=False)
class Origin:
    """What leads from a standard form back to its problem.

    ``structural`` are the problem's columns that were kept, the first of the standard form, and
    ``rows`` its rows. A column is ``shift + factor * value``; a row's dual is ``row_factor * y``.
    ``fixed`` (n,) holds the values of the columns that were left out; an objective is
    ``objective_factor`` times that of the standard form, and a constant.
    """

    structural: IndexArray
    rows: IndexArray
    shift: FloatArray
    factor: FloatArray
    row_factor: FloatArray
    fixed: FloatArray
    objective_factor: float

    def point(self, x: FloatArray) -> FloatArray:
        """Return the problem's columns (n,) at a point of the standard form."""
        return self._spread(self.shift + self.factor * x[: self.shift.size], self.fixed)

    def direction(self, x: FloatArray) -> FloatArray:
        """Return the direction (n,) in the problem that belongs to one of the standard form."""
        return self._spread(self.factor * x[: self.shift.size], 0.0 * self.fixed)

    def standard(self, x: FloatArray, row_dual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what a point of the problem is here: its columns without slacks, and y (rows,)."""
        return (x[self.structural] - self.shift) / self.factor, row_dual[
            self.rows
        ] / self.row_factor

    def row_dual(self, y: FloatArray, size: int) -> FloatArray:
        """Return the duals of the problem's rows, of which there are ``size``."""
        dual = np.zeros_like(y, shape=size)
        dual[self.rows] = self.row_factor * y
        return dual

    def _spread(self, values: FloatArray, rest: FloatArray) -> FloatArray:
        whole = rest.copy()
        whole[self.structural] = values
        return whole


def standard_form(problem: Problem, look: Look = go_on, threads: int = 1) -> StandardForm:
    """Return a linear program in standard form; see :meth:`Outline.form`."""
    return Outline.of(problem).form(look, threads)


@dataclass(frozen=True, eq=False)
class Outline:
    """What the linear system of a standard form is analysed by: where it has entries, not which.

    Parameters
    ----------
    problem : Problem
    rows, structural : arrays
        The rows and columns of the problem that are kept.
    kept : CSR matrix of shape (rows, structural)
        These of its matrix.
    slack_of : array
        Rows that get a slack.
    transposed : CSR matrix of shape (columns, rows)
        With entries where the form's has some; their values mean nothing.
    free : (columns,) array of bool
    """

    problem: Problem
    rows: IndexArray
    structural: IndexArray
    kept: Any
    slack_of: IndexArray
    transposed: Any
    free: BoolArray

    @classmethod
    def of(cls, problem: Problem) -> Outline:
        """Look at which rows, columns and bounds there are; integrality is ignored."""
        rows = np.flatnonzero(np.isfinite(problem.row_lower) | np.isfinite(problem.row_upper))
        structural = np.flatnonzero(problem.lower < problem.upper)
        kept = problem.matrix if rows.size == problem.num_rows else problem.matrix[rows]
        if structural.size < problem.num_columns:
            kept = kept[:, structural]
        by_column = kept.tocsc()
        slack_of = np.flatnonzero(problem.row_lower[rows] < problem.row_upper[rows])
        free = np.zeros(structural.size + slack_of.size, dtype=bool)
        bounds = problem.lower[structural], problem.upper[structural]
        free[: structural.size] = ~(np.isfinite(bounds[0]) | np.isfinite(bounds[1]))
        starts, places = by_column.indptr, by_column.indices
        after = starts[-1] + np.arange(1, slack_of.size + 1)
        parts = (
            np.zeros(places.size + slack_of.size, dtype=bool),
            np.concatenate([places, slack_of.astype(places.dtype)]),
            np.concatenate([starts, after.astype(starts.dtype)]),
        )
        transposed = sp.csr_array(parts, shape=(free.size, rows.size))
        return cls(problem, rows, structural, kept, slack_of, transposed, free)

    def form(self, look: Look = go_on, threads: int = 1) -> StandardForm:
        """Return the standard form.

        ``look`` is called between steps; ``threads`` is the most that may be used, 0 for all cores.
        """
        problem, rows, structural, slack_of = (
            *(self.problem, self.rows, self.structural, self.slack_of),
        )
        fixed = np.where(problem.lower < problem.upper, 0.0, problem.lower)
        fixed_activity = (problem.matrix @ fixed)[rows]
        sides = problem.row_lower[rows], problem.row_upper[rows]
        is_range = sides[0] < sides[1]
        threads = threads_for(STEPS_PER_LOOK * self.kept.nnz, threads)
        by_column = self.kept.tocsc()  # again: held from before, it would be half of the model
        row_scale, column_scale = find_scaling(self.kept, look, threads, by_column)
        scale = np.concatenate([column_scale, 1.0 / row_scale[slack_of]])
        lower = np.concatenate([problem.lower[structural], sides[0][slack_of]]) / scale
        upper = np.concatenate([problem.upper[structural], sides[1][slack_of]]) / scale
        cost = np.concatenate([problem.cost[structural] * column_scale, np.zeros(slack_of.size)])
        b = row_scale * (np.where(is_range, 0.0, sides[0]) - fixed_activity)
        # shift to the finite bound, and turn round what has only an upper one
        sign = np.where(np.isfinite(lower) | ~np.isfinite(upper), 1.0, -1.0)
        shift = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        bounded = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
        matrix = _with_slacks(self.kept, row_scale, column_scale, slack_of)
        b = b - matrix @ shift
        u = (upper - lower)[bounded]
        cost_size = _size(cost)
        side_size = _size(b)
        matrix.data *= sign[matrix.indices]
        count = structural.size
        origin = Origin(
            structural,
            rows,
            shift=(shift * scale)[:count],
            factor=(sign * scale)[:count] * side_size,
            row_factor=row_scale * cost_size,
            fixed=fixed,
            objective_factor=cost_size * side_size,
        )
        return StandardForm(
            matrix=matrix,
            transposed=self._transposed(by_column, row_scale, column_scale, sign),
            b=b / side_size,
            c=sign * cost / cost_size,
            free=self.free,
            bounded=bounded,
            u=u / side_size,
            origin=origin,
            pairs=int(np.count_nonzero(~self.free)) + bounded.size + 1,
        )

    def _transposed(
        self, by_column: Any, row_scale: FloatArray, column_scale: FloatArray, sign: FloatArray
    ) -> Any:
        """Return the form's matrix, with the ``sign`` (columns,) of each column, by columns."""
        count = column_scale.size
        data = by_column.data * row_scale[by_column.indices]
        data *= np.repeat(column_scale * sign[:count], np.diff(by_column.indptr))
        there = self.transposed
        parts = np.concatenate([data, -sign[count:]]), there.indices, there.indptr
        return sp.csr_array(parts, shape=there.shape)


def _with_slacks(
    kept: Any, row_scale: FloatArray, column_scale: FloatArray, slack_of: IndexArray
) -> Any:
    """Return a scaled CSR matrix with a column of -1 for each row that has a slack."""
    data = kept.data * np.repeat(row_scale, np.diff(kept.indptr))
    data *= column_scale[kept.indices]
    scaled = sp.csr_array((data, kept.indices, kept.indptr), shape=kept.shape)
    # indices as short as the matrix's, else all that follow are long
    places = slack_of.astype(kept.indices.dtype), np.arange(slack_of.size, dtype=kept.indices.dtype)
    slacks = sp.csr_array((-np.ones(slack_of.size), places), shape=(row_scale.size, slack_of.size))
    return sp.hstack([scaled, slacks], format="csr")


def _size(values: FloatArray) -> float:
    """Return a power of two near the greatest magnitude; one where all are zero."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return float(np.exp2(np.round(np.log2(largest)))) if largest > 0 else 1.0
