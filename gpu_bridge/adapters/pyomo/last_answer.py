"""The last answer of an instance as a start for its next solve, whatever has come and gone since.

Columns and rows are told apart by their variables and constraints. New columns begin on a bound and
new rows basic, so that simplex goes on where it was: dual simplex after a cut has been added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.adapters.pyomo.convert import ConvertedModel
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import FloatArray, Problem


class LastAnswer:
    """The latest answer that has anything to start from, and what it was the answer to."""

    def __init__(self) -> None:
        self._last: tuple[ConvertedModel, Outcome] | None = None

    def remember(self, converted: ConvertedModel, outcome: Outcome) -> None:
        """Keep an answer, unless it has neither a point nor a basis."""
        if outcome.basis is not None or outcome.x is not None:
            self._last = converted, outcome

    def start(self, converted: ConvertedModel) -> Start | None:
        """Return a start for a model: the point, and of a linear program duals and basis, too."""
        if self._last is None:
            return None
        last, outcome = self._last
        problem, before = converted.problem, last.problem
        columns, rows = None, None
        if problem.num_columns != before.num_columns or last.columns is not converted.columns:
            columns = _places(last.columns, converted.columns)
        if problem.num_rows != before.num_rows or last.rows is not converted.rows:
            rows = _places(last.rows, converted.rows)
        x = outcome.x
        if x is not None:
            x = x if columns is None else _taken(x, columns, problem.num_columns, np.nan)
        if problem.is_mip or before.is_mip:
            return None if x is None else Start(x=x)
        duals = outcome.row_dual
        if duals is not None:
            duals = duals if rows is None else _taken(duals, rows, problem.num_rows, 0.0)
            duals = -duals if problem.maximize else duals
        basis = outcome.basis
        if basis is not None and not (columns is None and rows is None):
            basis = _carried_over(basis, problem, columns, rows)
        return Start(x, duals, basis)


Places = npt.NDArray[np.int64]


def _places(old: Sequence[Any], new: Sequence[Any]) -> Places:
    """Return where each of the new ones stood, -1 for none."""
    known = dict(zip(map(id, old), range(len(old)), strict=True))
    return np.fromiter((known.get(id(item), -1) for item in new), np.int64, len(new))


def _taken(values: FloatArray, places: Places, size: int, missing: float) -> FloatArray:
    taken = np.full(size, missing)
    known = np.flatnonzero(places >= 0)
    taken[known] = values[places[known]]
    return taken


def _carried_over(
    basis: Basis, problem: Problem, columns: Places | None, rows: Places | None
) -> Basis:
    """Return the basis over other columns and rows; HiGHS repairs a wrong number of basics."""
    column_status, row_status = basis.column_status, basis.row_status
    if columns is not None:
        fallback = np.where(np.isfinite(problem.lower), BasisStatus.LOWER, BasisStatus.UPPER)
        free = np.isinf(problem.lower) & np.isinf(problem.upper)
        fallback[free] = BasisStatus.ZERO
        column_status = _statuses(column_status, columns, fallback)
    if rows is not None:
        row_status = _statuses(row_status, rows, np.full(problem.num_rows, BasisStatus.BASIC))
    return Basis(column_status, row_status)


def _statuses(
    statuses: npt.NDArray[np.int8], places: Places, fallback: npt.NDArray[np.generic]
) -> npt.NDArray[np.int8]:
    known = np.flatnonzero(places >= 0)
    taken = fallback.astype(np.int8)
    taken[known] = statuses[places[known]]
    return taken
