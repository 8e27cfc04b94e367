"""Which models are knapsack problems, however they were written.

A single-row knapsack has whole-number columns and one row that limits a weighted sum on one side,
besides rows that limit a single column. Columns are shifted and mirrored so that they begin at
zero, and coefficients are made whole exactly; a model where that cannot be done is no knapsack
problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.knapsack.integral import floor_of, whole, whole_weights
from solvers.knapsack.items import LARGEST, IntArray, Knapsack

BOUND_SLACK = 1e-6
"""A bound of a whole-number column this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class KnapsackModel:
    """A model that is a knapsack problem, and how values of its columns follow from a packing.

    Parameters
    ----------
    knapsack : Knapsack
        One item for each column.
    start, sign : (n,) int64 arrays
        Value of a column = start + sign * copies packed.
    profit_scale : int
        Profits are the model's costs, turned round, times this.
    sentence : str
        What was recognised, for the log.
    """

    knapsack: Knapsack
    start: IntArray
    sign: IntArray
    profit_scale: int
    sentence: str

    def point(self, packed: IntArray) -> FloatArray:
        """Return the (n,) values of the columns for a packing."""
        return np.asarray(self.start + self.sign * packed, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Box:
    """Whole-number bounds of columns, (n,) each; infinite where there are none."""

    lower: FloatArray
    upper: FloatArray


def recognise(problem: Problem) -> KnapsackModel | None:
    """Return a model as a knapsack problem, or None if it is none."""
    if not problem.num_columns or not problem.integrality.all():
        return None
    row = _only_row(problem)
    if row is None:
        return None
    box = whole_box(problem)
    if box is None:
        return None
    weight = np.zeros(problem.num_columns)
    begin, end = problem.matrix.indptr[row : row + 2]
    weight[problem.matrix.indices[begin:end]] = problem.matrix.data[begin:end]
    side = problem.row_upper[row]
    if np.isfinite(problem.row_lower[row]):
        weight, side = -weight, -problem.row_lower[row]
    return _as_items(problem, weight, float(side), box)


def _only_row(problem: Problem) -> int | None:
    """Return the one row with several entries, if it is limited on one side only."""
    several = np.flatnonzero(np.diff(problem.matrix.indptr) > 1)
    if several.size != 1:
        return None
    row = int(several[0])
    limits = np.isfinite(problem.row_lower[row]), np.isfinite(problem.row_upper[row])
    return row if limits[0] != limits[1] else None


def whole_box(problem: Problem) -> Box | None:
    """Return whole-number bounds of the columns, those of rows with one entry included.

    None where nothing lies between some column's bounds, or a row without entries cannot hold.
    """
    matrix = problem.matrix
    count = np.diff(matrix.indptr)
    if ((count == 0) & ((problem.row_lower > 0.0) | (problem.row_upper < 0.0))).any():
        return None
    lower, upper = problem.lower.copy(), problem.upper.copy()
    single = np.flatnonzero(count == 1)
    column, value = matrix.indices[matrix.indptr[single]], matrix.data[matrix.indptr[single]]
    ends = np.stack([problem.row_lower[single], problem.row_upper[single]]) / value
    np.maximum.at(lower, column, ends.min(axis=0))
    np.minimum.at(upper, column, ends.max(axis=0))
    box = Box(np.ceil(lower - BOUND_SLACK), np.floor(upper + BOUND_SLACK))
    return box if (box.lower <= box.upper).all() else None


def _as_items(problem: Problem, weight: FloatArray, side: float, box: Box) -> KnapsackModel | None:
    """Turn columns into items that begin at zero copies."""
    profits, weights = whole(-problem.cost), whole_weights(weight)
    if profits is None or weights is None:
        return None
    mirrored = ~np.isfinite(box.lower)
    start = np.where(mirrored, box.upper, box.lower)
    if not np.isfinite(start).all() or np.abs(start).max() >= LARGEST:
        return None
    origin = start.astype(np.int64)
    sign = np.where(mirrored, -1, 1).astype(np.int64)
    if np.abs(weights.values.astype(np.float64)) @ np.abs(start) >= LARGEST:
        return None
    capacity = floor_of(side, weights.scale) - int((weights.values * origin).sum())
    copies = _copies(box, weights.values * sign, profits.values * sign, capacity)
    if copies is None:
        return None
    try:
        knapsack = Knapsack(profits.values * sign, weights.values * sign, copies, capacity)
    except ProblemError:
        return None
    sentence = _sentence(knapsack, weights.scale)
    return KnapsackModel(knapsack, origin, sign, profits.scale, sentence)


def _copies(box: Box, weight: IntArray, profit: IntArray, capacity: int) -> IntArray | None:
    """Return how many copies of each item there are; None where that has no limit.

    Without a bound of its own an item is limited by the capacity, if nothing can free any.
    """
    extent = box.upper - box.lower
    bounded: BoolArray = np.isfinite(extent)
    if bounded.all():
        return None if extent.max() >= float(LARGEST) else extent.astype(np.int64)
    if (weight < 0).any() or ((weight == 0) & (profit > 0) & ~bounded).any():
        return None
    limit = max(capacity, 0) // np.maximum(weight, 1)
    limit[weight == 0] = 0
    return np.asarray(np.where(bounded, np.where(bounded, extent, 0.0), limit), dtype=np.int64)


def _sentence(knapsack: Knapsack, scale: int) -> str:
    """Say what was recognised."""
    kind = "0/1 knapsack problem"
    if knapsack.copies.max(initial=0) > 1:
        kind = "bounded knapsack problem"
    elif np.array_equal(knapsack.profit, knapsack.weight):
        kind = "subset-sum problem"
    factor = "" if scale == 1 else f", weights times {scale}"
    return f"a {kind} of {knapsack.num_items} items{factor}"
