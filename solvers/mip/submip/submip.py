"""What to search: a box within the model's, with whatever is added to it, and its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.core.rows import SparseRows
from solvers.highs.task import Model
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel


@dataclass(frozen=True, eq=False)
class ExtraRow:
    """A row ``lower <= values @ x[columns] <= upper``; columns are distinct, (k,) int32."""

    columns: IndexArray
    values: FloatArray
    lower: float
    upper: float


def _no_rows() -> IndexArray:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class SubMip:
    """A part of a model of m rows and n columns.

    Parameters
    ----------
    lower, upper : (n,) float64
        Bounds within the model's; columns where they are equal are fixed.
    extra : tuple of ExtraRow
        Rows beside the model's.
    cost : (n,) float64, optional
        Another objective than the model's, without constant.
    cutoff : float
        Points whose *model* objective, offset included, is above this are of no use.
    elastic : (k,) int32
        Rows that may be violated. Then the objective is the sum of their violations, each divided
        by the row's largest coefficient, in place of ``cost``.
    """

    lower: FloatArray
    upper: FloatArray
    extra: tuple[ExtraRow, ...] = ()
    cost: FloatArray | None = None
    cutoff: float = np.inf
    elastic: IndexArray = field(default_factory=_no_rows)

    @property
    def has_own_objective(self) -> bool:
        """Whether something else than the model's objective is minimised."""
        return self.cost is not None or self.elastic.size > 0


# How a sub-MIP ended, and what it found.


class SubMipStatus(Enum):
    """How the search of a box ended."""

    OPTIMAL = "the best point of the box was found"
    INFEASIBLE = "the box holds no point that is good enough"
    LIMIT = "a limit was reached"
    FAILED = "HiGHS gave no usable answer"

    @property
    def is_proven(self) -> bool:
        """Whether the box needs no more searching."""
        return self in (SubMipStatus.OPTIMAL, SubMipStatus.INFEASIBLE)


@dataclass(frozen=True, eq=False)
class SubMipResult:
    """What came of a sub-MIP.

    Parameters
    ----------
    improved : bool
        Whether any point that was submitted was the best of all at that time.
    x : (n,) float64, optional
        Best point by the sub-MIP's own objective, of the whole model; with elastic rows it may
        violate these. None without one below the cutoff.
    objective : float
        The model's objective there, offset included; inf without a point.
    violation : float
        Weighted violation of elastic rows at ``x``; 0 where there are none.
    seconds : float
        What it took, building included.
    nodes, work : int, float
        Branch-and-bound nodes, and work as :class:`~solvers.mip.budget.Budget` counts it.
    """

    status: SubMipStatus
    improved: bool = False
    x: FloatArray | None = None
    objective: float = np.inf
    violation: float = 0.0
    seconds: float = 0.0
    nodes: int = 0
    work: float = 0.0


# The arrays of a sub-MIP for HiGHS, and the way back to points of the model.


SMALLEST_ENTRY = 1e-12
"""Entries of at most this size are left out: HiGHS takes none, and every point is checked later."""

Entries = tuple[IndexArray, IndexArray, FloatArray]
"""Row, column and value of some entries of a matrix."""


@dataclass(frozen=True, eq=False)
class Restricted:
    """A sub-MIP without its fixed columns.

    Parameters
    ----------
    model : Model
        The f free columns, then the slack columns of elastic rows.
    columns : (f,) int32
        Their numbers in the full model.
    base : (n,) float64
        A point with the fixed columns at their values.
    """

    model: Model
    columns: IndexArray
    base: FloatArray

    def full(self, x: FloatArray) -> FloatArray:
        """Return the model's point (n,) for a point of the sub-MIP."""
        point = self.base.copy()
        point[self.columns] = x[: self.columns.size]
        return point


def restrict(model: MipModel, sub: SubMip) -> Restricted | None:
    """Leave out what is fixed; None where bounds cross or a row without free columns fails.

    Linear in the entries of the model.
    """
    if np.any(sub.lower > sub.upper):
        return None
    free = sub.upper > sub.lower
    base = np.where(free, 0.0, sub.lower)
    elastic = np.zeros(model.num_rows, dtype=bool)
    elastic[sub.elastic] = True
    extra = [_shortened(row, free, base) for row in _extra_rows(model, sub)]
    kept = free[model.rows.indices] & (np.abs(model.rows.data) > SMALLEST_ENTRY)
    lengths = model.rows.count(kept)
    decided = model.activity(base)
    low, high = model.row_lower - decided, model.row_upper - decided
    fails = _fails(low, high) & (lengths == 0) & ~elastic
    if fails.any() or any(not row.columns.size and _row_fails(row) for row in extra):
        return None
    keep = ((lengths > 0) | elastic) & (np.isfinite(low) | np.isfinite(high))
    entries = np.flatnonzero(kept & np.repeat(keep, model.rows.lengths))
    new_number = (np.cumsum(free) - 1).astype(np.int32)
    columns = np.flatnonzero(free).astype(np.int32)
    cost = model.cost if sub.cost is None else sub.cost
    parts = _Parts(
        cost=cost[columns],
        offset=float(np.dot(cost, base)) + (model.offset if sub.cost is None else 0.0),
        lower=sub.lower[columns],
        upper=sub.upper[columns],
        integer=model.is_integer[columns],
        row_lower=low[keep],
        row_upper=high[keep],
        entries=(
            np.repeat(np.arange(keep.sum(), dtype=np.int32), lengths[keep]),
            new_number[model.rows.indices[entries]],
            model.rows.data[entries],
        ),
    )
    parts = _with_rows(parts, [row for row in extra if row.columns.size], new_number)
    if sub.elastic.size:
        parts = _with_slacks(parts, np.flatnonzero(elastic[keep]).astype(np.int32))
    return Restricted(parts.to_model(), columns, base)


@dataclass(frozen=True, eq=False)
class _Parts:
    cost: FloatArray
    offset: float
    lower: FloatArray
    upper: FloatArray
    integer: np.ndarray
    row_lower: FloatArray
    row_upper: FloatArray
    entries: Entries

    def to_model(self) -> Model:
        row, column, value = self.entries
        rows = SparseRows.of_entries(value, row, column, (self.row_lower.size, self.cost.size))
        return Model(
            cost=self.cost,
            offset=self.offset,
            lower=self.lower,
            upper=self.upper,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            start=rows.indptr,
            index=rows.indices.astype(np.int32, copy=False),
            value=rows.data,
            integer=self.integer.astype(np.int8),
        )


def _extra_rows(model: MipModel, sub: SubMip) -> tuple[ExtraRow, ...]:
    """Return the rows to add: with an objective of its own the cutoff has to be one, too."""
    if not (np.isfinite(sub.cutoff) and sub.has_own_objective):
        return sub.extra
    return (*sub.extra, _cutoff_row(model, sub.cutoff))


def _cutoff_row(model: MipModel, cutoff: float) -> ExtraRow:
    columns = np.flatnonzero(model.cost).astype(np.int32)
    return ExtraRow(columns, model.cost[columns], -np.inf, cutoff - model.offset)


def _shortened(row: ExtraRow, free: BoolArray, base: FloatArray) -> ExtraRow:
    """Return a row without its fixed columns, whose share is taken off the sides."""
    decided = float(np.dot(row.values, base[row.columns]))
    stays = free[row.columns] & (np.abs(row.values) > SMALLEST_ENTRY)
    columns, values = row.columns[stays], row.values[stays]
    return ExtraRow(columns, values, row.lower - decided, row.upper - decided)


def _fails(low: FloatArray, high: FloatArray) -> BoolArray:
    fails: BoolArray = (low > FEASIBILITY_TOLERANCE) | (high < -FEASIBILITY_TOLERANCE)
    return fails


def _row_fails(row: ExtraRow) -> bool:
    return bool(_fails(np.array([row.lower]), np.array([row.upper]))[0])


def _with_rows(parts: _Parts, extra: list[ExtraRow], new_number: IndexArray) -> _Parts:
    """Append rows, given in the model's columns."""
    if not extra:
        return parts
    m = parts.row_lower.size
    row, column, value = parts.entries
    lengths = [one.columns.size for one in extra]
    more = np.repeat(np.arange(m, m + len(extra), dtype=np.int32), lengths)
    entries: Entries = (
        np.concatenate([row, more]),
        np.concatenate([column, *(new_number[one.columns] for one in extra)]),
        np.concatenate([value, *(one.values for one in extra)]),
    )
    return replace(
        parts,
        row_lower=np.append(parts.row_lower, [one.lower for one in extra]),
        row_upper=np.append(parts.row_upper, [one.upper for one in extra]),
        entries=entries,
    )


def _with_slacks(parts: _Parts, rows: IndexArray) -> _Parts:
    """Give rows a column for either direction of violation, and minimise the sum of these."""
    n, k = parts.cost.size, rows.size
    row, column, value = parts.entries
    size = np.zeros(parts.row_lower.size)
    np.maximum.at(size, row, np.abs(value))
    weight = 1.0 / np.where(size > 0, size, 1.0)[rows]
    entries: Entries = (
        np.concatenate([row, rows, rows]).astype(np.int32),
        np.concatenate([column, np.arange(n, n + 2 * k)]).astype(np.int32),
        np.concatenate([value, np.ones(k), -np.ones(k)]),
    )
    return replace(
        parts,
        cost=np.concatenate([np.zeros(n), weight, weight]),
        offset=0.0,
        lower=np.concatenate([parts.lower, np.zeros(2 * k)]),
        upper=np.concatenate([parts.upper, np.full(2 * k, np.inf)]),
        integer=np.concatenate([parts.integer, np.zeros(2 * k, dtype=parts.integer.dtype)]),
        entries=entries,
    )
