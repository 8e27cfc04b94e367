"""Columns that an equation defines are replaced by what it says of them.

Where ``a_ij x_j + a_i' x = b_i`` keeps ``x_j`` within its bounds by itself, or has only one other
column, to which the bounds of ``x_j`` can be moved, column j and row i go. This is the one
reduction that changes the matrix, so it is taken only where it adds no entry: for equations with
two columns, for columns with two entries, and for a few more.

All pairs of a round are chosen so that no replaced column stands in another one's equation. With
``x = T x' + t`` the round is a single sparse product ``A T`` (``transform``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.outcome import Basis, BasisStatus, Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.native.presolve_light_pairs import (
    count_promising,
    find_candidates,
    implied_bounds,
    return_bounds,
    take,
)
from solvers.native.presolve_light_transform import charge_columns, replace_columns
from solvers.presolve.reduction import Reduction, unchanged

# Which columns to replace by which equations, and what becomes of their bounds.


IntArray = npt.NDArray[np.int64]

NO_PAIR = 2**40


@dataclass(frozen=True, eq=False)
class Pairs:
    """Replaced columns (k,), their equations and pivots, and the bounds (n,) afterwards.

    ``other`` (k,) is the column that took over the bounds of the replaced one, -1 without one,
    and ``other_entry`` its coefficient; ``origin`` says which sides came that way: 1 the lower,
    2 the upper, 3 both.
    """

    row: IntArray
    column: IntArray
    pivot: FloatArray
    other: IntArray
    other_entry: FloatArray
    origin: IntArray
    lower: FloatArray
    upper: FloatArray

    def first(self, count: int) -> Pairs:
        """Return the first so many pairs; the bounds are the same."""
        of_pair = ("row", "column", "pivot", "other", "other_entry", "origin")
        return replace(self, **{name: getattr(self, name)[:count] for name in of_pair})


def choose_pairs(problem: Problem, at_least: float = 1.0) -> Pairs | None:
    """Choose pairs that do not touch each other, the cheapest first.

    Returns None where there are fewer than ``at_least``. Whether there can be as many is asked
    first, of the pattern alone: most models have few short equations, or none.
    """
    m, n = problem.num_rows, problem.num_columns
    by_column = problem.columns
    lengths = by_column.lengths
    if count_promising(problem, lengths) < at_least:
        return None
    price = np.full(m, NO_PAIR, dtype=np.int64)
    entry = np.full(m, -1, dtype=np.int64)
    by_row = (np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64))
    implied_bounds(problem, *by_row)
    find_candidates(problem, lengths, *by_row, price, entry)
    candidates = np.flatnonzero(price < NO_PAIR)
    if candidates.size < at_least:
        return None
    candidates = candidates[np.argsort(price[candidates], kind="stable")]
    k = candidates.size
    pairs = Pairs(
        row=np.empty(k, dtype=np.int64),
        column=np.empty(k, dtype=np.int64),
        pivot=np.empty(k),
        other=np.empty(k, dtype=np.int64),
        other_entry=np.empty(k),
        origin=np.empty(k, dtype=np.int64),
        lower=problem.lower.copy(),
        upper=problem.upper.copy(),
    )
    count = take(problem, by_column, *by_row, candidates, entry, pairs)
    return pairs.first(count) if count >= at_least else None


ENOUGH = 0.04
"""A round that would replace less than this part of the columns is not worth its product."""


def substitute(problem: Problem) -> Reduction:
    """Replace columns of a linear program by the equations that define them, one round."""
    pairs = choose_pairs(problem, max(1.0, ENOUGH * problem.num_columns))
    if pairs is None:
        return unchanged(problem)
    way = _Way(problem, pairs)
    return Reduction(way.reduced(), way.back, forward=way.forward)


class _Way:
    """The substitution x = T x' + t, and the duals and the basis on the way back."""

    def __init__(self, problem: Problem, pairs: Pairs) -> None:
        self._problem = problem
        self._pairs = pairs
        self._row_stays = np.ones(problem.num_rows, dtype=bool)
        self._row_stays[pairs.row] = False
        self._column_stays = np.ones(problem.num_columns, dtype=bool)
        self._column_stays[pairs.column] = False

    def reduced(self) -> Problem:
        """Return the problem in x'; its bounds are not kept for the way back."""
        problem, pairs = self._problem, self._pairs
        self._pairs = replace(pairs, lower=np.zeros(0), upper=np.zeros(0))
        stay = np.flatnonzero(self._row_stays)
        columns_stay = np.flatnonzero(self._column_stays)
        A, sides = problem.entries, problem.row_lower[pairs.row] / pairs.pivot
        place = np.full(problem.num_columns, -1, dtype=np.int64)
        place[columns_stay] = np.arange(columns_stay.size)
        place[pairs.column] = -1 - np.arange(pairs.column.size)
        equations = (pairs.row, pairs.pivot, sides)
        cost = problem.cost.copy()
        charge_columns(A, pairs.row, pairs.pivot, pairs.column, cost)
        rows, columns = stay.size, columns_stay.size
        lengths = A.lengths
        uses = problem.columns.lengths[pairs.column]
        room = int(lengths[stay].sum() + (uses * lengths[pairs.row]).sum())
        start = np.zeros(rows + 1, dtype=A.indptr.dtype)
        index, value = np.empty(room, dtype=A.indices.dtype), np.empty(room)
        shift = np.empty(rows)
        replace_columns(A, *equations, stay, place, columns, start, index, value, shift)
        left = sp.csr_array((value[: start[-1]], index[: start[-1]], start), (rows, columns))
        left.sort_indices()  # long rows are written as they come
        return Problem.from_canonical(
            cost=cost[columns_stay],
            matrix=left,
            row_lower=problem.row_lower[stay] - shift,
            row_upper=problem.row_upper[stay] - shift,
            lower=pairs.lower[columns_stay],
            upper=pairs.upper[columns_stay],
            integrality=problem.integrality[columns_stay],
            offset=problem.offset + float(problem.cost[pairs.column] @ sides),
            maximize=problem.maximize,
            name=problem.name,
        )

    def back(self, outcome: Outcome) -> Outcome:
        """Return an outcome in x' as one of the original, without activities and objective."""
        fields: dict[str, Any] = {"basis": None}
        for name in ("x", "candidate"):
            value = getattr(outcome, name)
            fields[name] = None if value is None else self._point(value)
        if outcome.primal_ray is not None:
            fields["primal_ray"] = self._completed_point(outcome.primal_ray, 0.0)
        if outcome.dual_ray is not None:
            fields["dual_ray"] = self._duals(outcome.dual_ray, 0.0)
        fields["pool"] = tuple(replace(one, x=self._point(one.x)) for one in outcome.pool)
        if outcome.row_dual is not None:
            fields["row_dual"], basis = self._duals_and_basis(outcome.row_dual, outcome.basis)
            fields["basis"] = basis
        return replace(outcome, **fields)

    def forward(self, start: Start) -> Start:
        """Return a start of the original as one in x', without its basis."""
        return Start(
            None if start.x is None else start.x[self._column_stays],
            None if start.row_dual is None else start.row_dual[self._row_stays],
        )

    def _completed_point(self, reduced: FloatArray, scale: float) -> FloatArray:
        problem, pairs = self._problem, self._pairs
        x = np.zeros(problem.num_columns)
        x[self._column_stays] = reduced
        rest = problem.matrix @ x
        x[pairs.column] = (scale * problem.row_lower[pairs.row] - rest[pairs.row]) / pairs.pivot
        return x

    def _point(self, reduced: FloatArray) -> FloatArray:
        replaced = self._pairs.column
        x = self._completed_point(reduced, 1.0)
        x[replaced] = np.clip(
            x[replaced], self._problem.lower[replaced], self._problem.upper[replaced]
        )
        return x

    def _duals(self, reduced: FloatArray, scale: float = 1.0) -> FloatArray:
        columns = np.zeros(self._problem.num_columns, dtype=np.int8)
        return self._completed(reduced, scale, columns)

    def _duals_and_basis(
        self, reduced: FloatArray, basis: Basis | None
    ) -> tuple[FloatArray, Basis | None]:
        if basis is None:
            return self._duals(reduced), None
        columns = np.full(self._problem.num_columns, BasisStatus.BASIC, dtype=np.int8)
        rows = np.full(self._problem.num_rows, BasisStatus.LOWER, dtype=np.int8)
        columns[self._column_stays] = basis.column_status
        rows[self._row_stays] = basis.row_status
        return self._completed(reduced, 1.0, columns), Basis(columns, rows)

    def _completed(self, reduced: FloatArray, scale: float, columns: Any) -> FloatArray:
        """Return duals that give the replaced columns no reduced cost, and return bounds.

        ``scale`` is 1 for the duals of a point, and 0 for a ray, which no cost meets.
        """
        problem, pairs = self._problem, self._pairs
        y = np.zeros(problem.num_rows)
        y[self._row_stays] = reduced
        y[pairs.row] = self._priced(y, scale)[pairs.column] / pairs.pivot
        if (pairs.other >= 0).any():
            return_bounds(pairs, y, self._priced(y, scale), columns)
        return y

    def _priced(self, y: FloatArray, scale: float) -> FloatArray:
        """Return the reduced costs (n,), or what a ray does to them, in one vector."""
        z: FloatArray = self._problem.matrix.T @ y
        return np.subtract(self._problem.cost if scale == 1.0 else 0.0, z, out=z)
