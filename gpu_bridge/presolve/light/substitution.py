"""Columns that an equation defines are replaced by what it says of them.

Where ``a_ij x_j + a_i' x = b_i`` keeps ``x_j`` within its bounds by itself, or has only one other
column, to which the bounds of ``x_j`` can be moved, column j and row i go. This is the one
reduction that changes the matrix, so it is taken only where it adds no entry: for equations with
two columns, for columns with two entries, and for a few more.

All pairs of a round are chosen so that no replaced column stands in another one's equation. With
``x = T x' + t`` the round is a single sparse product ``A T``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpu_bridge.presolve.light.pairs import Pairs, choose_pairs, return_bounds
from gpu_bridge.presolve.reduction import Reduction, unchanged
from solvers.outcome import Basis, BasisStatus, Outcome, Start
from solvers.problem import FloatArray, Problem

ROUNDING = 1e-12
"""Entries below this part of the largest in their row are what rounding left of a zero."""

ENOUGH = 0.005
"""A round that would replace less than this part of the columns is not worth its product."""


def substitute(problem: Problem) -> Reduction:
    """Replace columns of a linear program by the equations that define them, one round."""
    pairs = choose_pairs(problem)
    if pairs.row.size < max(1.0, ENOUGH * problem.num_columns):
        return unchanged(problem)
    way = _Way(problem, pairs)
    return Reduction(way.reduced(), way.back, forward=way.forward)


class _Way:
    """The substitution x = T x' + t, and the duals and the basis on the way back."""

    def __init__(self, problem: Problem, pairs: Pairs) -> None:
        self._problem = problem
        self._pairs = pairs
        row_stays = np.ones(problem.num_rows, dtype=bool)
        row_stays[pairs.row] = False
        column_stays = np.ones(problem.num_columns, dtype=bool)
        column_stays[pairs.column] = False
        self._rows, self._columns = np.flatnonzero(row_stays), np.flatnonzero(column_stays)
        self._transform = self._make_transform()
        self._constant = np.zeros(problem.num_columns)
        self._constant[pairs.column] = problem.row_lower[pairs.row] / pairs.pivot

    def _make_transform(self) -> sp.csr_array:
        problem, pairs = self._problem, self._pairs
        n, kept = problem.num_columns, self._columns.size
        place = np.full(n, -1, dtype=np.int64)
        place[self._columns] = np.arange(kept)
        equations = problem.matrix[pairs.row].tocoo()
        target = place[equations.col]
        own = target >= 0
        values = -equations.data[own] / pairs.pivot[equations.row[own]]
        rows = np.concatenate([self._columns, pairs.column[equations.row[own]]])
        columns = np.concatenate([np.arange(kept), target[own]])
        return sp.csr_array(
            sp.coo_array((np.concatenate([np.ones(kept), values]), (rows, columns)), (n, kept))
        )

    def reduced(self) -> Problem:
        """Return the problem in x'."""
        problem, pairs = self._problem, self._pairs
        A = problem.matrix[self._rows]
        shift = A @ self._constant
        return Problem(
            cost=self._transform.T @ problem.cost,
            matrix=_without_rounding(sp.csr_array(A @ self._transform)),
            row_lower=problem.row_lower[self._rows] - shift,
            row_upper=problem.row_upper[self._rows] - shift,
            lower=pairs.lower[self._columns],
            upper=pairs.upper[self._columns],
            integrality=problem.integrality[self._columns],
            offset=problem.offset + float(problem.cost @ self._constant),
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
            fields["primal_ray"] = self._transform @ outcome.primal_ray
        if outcome.dual_ray is not None:
            fields["dual_ray"] = self._duals(outcome.dual_ray, 0.0)
        fields["pool"] = tuple(replace(one, x=self._point(one.x)) for one in outcome.pool)
        if outcome.row_dual is not None:
            fields["row_dual"], basis = self._duals_and_basis(outcome.row_dual, outcome.basis)
            fields["basis"] = basis
        return replace(outcome, **fields)

    def forward(self, start: Start) -> Start:
        """Return a start of the original as one in x', without its basis."""
        x, y = start.x, start.row_dual
        return Start(None if x is None else x[self._columns], None if y is None else y[self._rows])

    def _point(self, reduced: FloatArray) -> FloatArray:
        x: FloatArray = self._transform @ reduced + self._constant
        x[self._pairs.column] = np.clip(
            x[self._pairs.column],
            self._problem.lower[self._pairs.column],
            self._problem.upper[self._pairs.column],
        )
        return x

    def _duals(self, reduced: FloatArray, scale: float = 1.0) -> FloatArray:
        columns = np.zeros(self._problem.num_columns, dtype=np.int8)
        rows = np.zeros(self._problem.num_rows, dtype=np.int8)
        return self._completed(reduced, scale, columns, rows)

    def _duals_and_basis(
        self, reduced: FloatArray, basis: Basis | None
    ) -> tuple[FloatArray, Basis | None]:
        if basis is None:
            return self._duals(reduced), None
        columns = np.full(self._problem.num_columns, BasisStatus.BASIC, dtype=np.int8)
        rows = np.full(self._problem.num_rows, BasisStatus.LOWER, dtype=np.int8)
        columns[self._columns] = basis.column_status
        rows[self._rows] = basis.row_status
        return self._completed(reduced, 1.0, columns, rows), Basis(columns, rows)

    def _completed(self, reduced: FloatArray, scale: float, columns: Any, rows: Any) -> FloatArray:
        """Return duals that give the replaced columns no reduced cost, and return bounds."""
        problem, pairs = self._problem, self._pairs
        y = np.zeros(problem.num_rows)
        y[self._rows] = reduced
        z = scale * problem.cost - problem.matrix.T @ y
        y[pairs.row] = z[pairs.column] / pairs.pivot
        z = scale * problem.cost - problem.matrix.T @ y
        return_bounds(*pairs.moved, y, z, columns, rows)
        return y


def _without_rounding(A: sp.csr_array) -> sp.csr_array:
    """Drop entries that should have cancelled."""
    sizes = np.abs(A.data)
    largest = np.zeros(A.shape[0])
    lengths = np.diff(A.indptr)
    filled = np.flatnonzero(lengths)
    if filled.size:
        largest[filled] = np.maximum.reduceat(sizes, A.indptr[filled])
    A.data[sizes <= ROUNDING * np.repeat(largest, lengths)] = 0.0
    A.eliminate_zeros()
    A.sort_indices()
    return A
