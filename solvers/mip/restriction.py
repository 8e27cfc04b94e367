"""A part of a model, and the arrays of what is left to decide there, with the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.highs.task import Model
from solvers.mip.model import FEASIBILITY_TOLERANCE, ROUNDING, IndexArray, MipModel


@dataclass(frozen=True, eq=False)
class SubMip:
    """A part of a model of m rows and n columns.

    Parameters
    ----------
    lower, upper : (n,) float64
        Bounds within the model's; columns where they are equal are fixed.
    cost : (n,) float64, optional
        Another objective than the model's, without constant; only where there is no cutoff.
    cutoff : float
        Points whose objective, offset included, is above this are of no use.
    """

    lower: FloatArray
    upper: FloatArray
    cost: FloatArray | None = None
    cutoff: float = np.inf


@dataclass(frozen=True, eq=False)
class Restricted:
    """A sub-MIP without its fixed columns.

    Parameters
    ----------
    model : Model
        The f free columns.
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
        point[self.columns] = x
        return point


def restrict(model: MipModel, sub: SubMip) -> Restricted | None:
    """Leave out what is fixed; None where bounds cross or a row without free columns fails.

    Linear in the entries of the model.
    """
    if np.any(sub.lower > sub.upper):
        return None
    free = sub.upper > sub.lower
    base = np.where(free, 0.0, sub.lower)
    kept = free[model.rows.indices] & (np.abs(model.rows.data) > ROUNDING)
    lengths = model.rows.count(kept)
    decided = model.activity(base)
    low, high = model.row_lower - decided, model.row_upper - decided
    fails = (low > FEASIBILITY_TOLERANCE) | (high < -FEASIBILITY_TOLERANCE)
    if (fails & (lengths == 0)).any():
        return None
    keep = (lengths > 0) & (np.isfinite(low) | np.isfinite(high))
    entries = np.flatnonzero(kept & np.repeat(keep, model.rows.lengths))
    new_number = (np.cumsum(free) - 1).astype(np.int32)
    columns = np.flatnonzero(free).astype(np.int32)
    cost = model.cost if sub.cost is None else sub.cost
    rows = SparseRows.of_entries(
        model.rows.data[entries],
        np.repeat(np.arange(keep.sum(), dtype=np.int32), lengths[keep]),
        new_number[model.rows.indices[entries]],
        (int(keep.sum()), columns.size),
    )
    small = Model(
        cost=cost[columns],
        offset=float(np.dot(cost, base)) + (model.offset if sub.cost is None else 0.0),
        lower=sub.lower[columns],
        upper=sub.upper[columns],
        row_lower=low[keep],
        row_upper=high[keep],
        start=rows.indptr,
        index=rows.indices.astype(np.int32, copy=False),
        value=rows.data,
        integer=model.is_integer[columns].astype(np.int8),
    )
    return Restricted(small, columns, base)
