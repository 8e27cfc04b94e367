"""The last answer of a model as a start for its next solve, whatever has come and gone since.

New columns begin on a bound and new rows basic, so that simplex goes on where it was: dual simplex
after a cut has been added. A start is only ever that, so a wrong guess costs time and nothing else.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import Basis, BasisStatus, Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.process_state import Slot

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solved:
    """A problem, its answer in the model's sense, and what its columns and rows stand for.

    ``columns`` and ``rows`` may be fewer than the problem's, whose last ones are then of nobody.
    """

    problem: Problem
    outcome: Outcome
    columns: Sequence[Any]
    rows: Sequence[Any]

    @property
    def is_a_start(self) -> bool:
        """Whether there is a point or a basis."""
        return self.outcome.basis is not None or self.outcome.x is not None


def start_after(
    last: Solved,
    problem: Problem,
    columns: Sequence[Any],
    rows: Sequence[Any],
    key: Callable[[Any], Hashable],
) -> Start | None:
    """Return a start for a problem: the last point, and of a linear program duals and basis, too.

    Parameters
    ----------
    problem : Problem
        With ``columns`` and ``rows`` as in :class:`Solved`.
    key : callable
        What tells columns and rows apart in both.
    """
    outcome, before = last.outcome, last.problem
    of_columns = of_rows = None
    if problem.num_columns != before.num_columns or columns is not last.columns:
        of_columns = _places(last.columns, columns, key, problem.num_columns, before.num_columns)
    if problem.num_rows != before.num_rows or rows is not last.rows:
        of_rows = _places(last.rows, rows, key, problem.num_rows, before.num_rows)
    x, duals, basis = outcome.x, outcome.row_dual, outcome.basis
    if x is not None and of_columns is not None:
        x = _taken(x, of_columns, np.nan)
    if problem.is_mip or before.is_mip:
        return None if x is None else Start(x=x)
    if duals is not None:
        duals = duals if of_rows is None else _taken(duals, of_rows, 0.0)
        duals = -duals if problem.maximize else duals
    if basis is not None and not (of_columns is None and of_rows is None):
        basis = _carried_over(basis, problem, of_columns, of_rows)
    return Start(x, duals, basis)


def merged(own: Start | None, last: Start | None) -> Start | None:
    """Return the last answer with the point that the caller wants to start from instead."""
    if own is None or last is None:
        return last if own is None else own
    return replace(last, x=own.x)


def _places(
    old: Sequence[Any],
    new: Sequence[Any],
    key: Callable[[Any], Hashable],
    size: int,
    size_before: int,
) -> Places | None:
    """Return where each of the columns or rows stood, -1 for nowhere; None where all stand there.

    Those of nobody, such as of reformulated ordered sets, have stood nowhere.
    """
    found = np.full(size, -1)
    if len(old) <= len(new) and all(map(is_, old, new)):  # others have come at the end at most
        found[: len(old)] = np.arange(len(old))
    else:
        known = dict(zip(map(key, old), range(len(old)), strict=False))
        found[: len(new)] = [known.get(key(item), -1) for item in new]
    return None if size == size_before and np.array_equal(found, np.arange(size)) else found


def _taken(values: FloatArray, places: Places, missing: float) -> FloatArray:
    taken = np.full(places.size, missing)
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
        fallback[np.isinf(problem.lower) & np.isinf(problem.upper)] = BasisStatus.ZERO
        column_status = _statuses(column_status, columns, fallback)
    if rows is not None:
        row_status = _statuses(row_status, rows, np.full(problem.num_rows, BasisStatus.BASIC))
    return Basis(column_status, row_status)


def _statuses(
    statuses: npt.NDArray[np.int8], places: Places, fallback: npt.NDArray[np.generic]
) -> npt.NDArray[np.int8]:
    taken = fallback.astype(np.int8)
    known = np.flatnonzero(places >= 0)
    taken[known] = statuses[places[known]]
    return taken


# The basis of a solver's last answer, for a warm start of the same model.
#
# A model that is solved again after its data have changed starts from the basis it ended with, if
# the caller wants a warm start. It is remembered beside the solver and not in it, so that solvers
# can be copied and written to files, and for the last model only.


_last: Slot[weakref.WeakKeyDictionary[Any, tuple[weakref.ref[Any], Basis]]] = Slot(
    "each solver's last model and its basis", weakref.WeakKeyDictionary
)


def remember_basis(solver: Any, model: Any, basis: Basis | None) -> None:
    """Keep the basis of an answer, or forget the one before if there is none."""
    if basis is None:
        _last.value.pop(solver, None)
    else:
        _last.value[solver] = (weakref.ref(model), basis)


def recall_basis(solver: Any, model: Any, problem: Problem) -> Basis | None:
    """Return the basis that this solver ended with on this very model, if it still fits."""
    reference, basis = _last.value.get(solver, (None, None))
    if reference is None or basis is None or reference() is not model or problem.is_mip:
        return None
    fits = basis.shapes == ((problem.num_columns,), (problem.num_rows,))
    return basis if fits else None
