"""Columns that only take up what rows are short of, at a price: their values follow from the rest.

A column is a slack where raising it never violates a row (after a change of sign, lowering it) and
does not pay. Whatever the others are, its best value is then the largest that any of its rows asks
for: deviations from a target, overtime, the makespan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import IndexArray, MipModel

LOWER, UPPER = 0, 1
"""Sides of a row."""


@dataclass(frozen=True, eq=False)
class Slacks:
    """Slack columns, measured from where they cost nothing; k of them, in e sides of rows.

    Parameters
    ----------
    column : (k,) int32
    home : (k,) float64
        The end of the bounds from which a slack is measured, or 0 where it has none.
    sign : (k,) float64
        1 where raising the column helps, -1 where lowering it does.
    cost : (k,) float64
        For each unit, never negative.
    least, most : (k,) float64
        Between which units it may be; -inf and inf where there is no end.
    is_whole : (k,) bool
    start : (k+1,) int32
    row, side : (e,) int32
        The rows that ask for it, and which side of each.
    scale : (e,) float64
        What a unit is there.
    of_side : (m, 2) int32
        The slack of each side of each row, -1 where there is none.
    """

    column: IndexArray
    home: FloatArray
    sign: FloatArray
    cost: FloatArray
    least: FloatArray
    most: FloatArray
    is_whole: BoolArray
    start: IndexArray
    row: IndexArray
    side: IndexArray
    scale: FloatArray
    of_side: IndexArray


def find_slacks(model: MipModel, outside: BoolArray) -> Slacks:
    """Return which of the columns ``outside`` (n,) are slacks, no two of one side of a row."""
    of_side = np.full((model.num_rows, 2), -1, dtype=np.int32)
    found: list[tuple[int, float, IndexArray, IndexArray, FloatArray]] = []
    up, down = may_be_slack(model, 1.0), may_be_slack(model, -1.0)
    for j in np.flatnonzero(outside & (up | down)).tolist():
        rows, values = model.columns[j]
        for sign, may_be in ((1.0, up[j]), (-1.0, down[j])):
            sides = np.where(sign * values > 0.0, LOWER, UPPER).astype(np.int32)
            if may_be and (of_side[rows, sides] < 0).all():
                of_side[rows, sides] = len(found)
                found.append((j, sign, rows, sides, np.abs(values)))
                break
    return _slacks(model, found, of_side)


def may_be_slack(model: MipModel, sign: float) -> BoolArray:
    """Return which columns (n,) never hurt a row, nor the objective's bound, where they go up.

    Down for a ``sign`` of -1. In a row of its own a slack never goes beyond what is asked for, so
    there the other side may be anywhere.
    """
    row, size = model.columns.indices, model.columns.lengths
    raises = sign * model.columns.data > 0.0
    mine = np.where(raises, model.row_lower[row], -model.row_upper[row])
    other = np.where(raises, model.row_upper[row], -model.row_lower[row])
    hurt = model.columns.count(np.isfinite(other))
    asks = model.columns.count(np.isfinite(mine))
    floor = model.lower if sign > 0.0 else -model.upper
    has_floor = np.isfinite(floor) | (asks > 0)
    harmless = (hurt == 0) | (size == 1)
    may_be: BoolArray = (size > 0) & harmless & has_floor & (sign * model.cost >= 0.0)
    return may_be


def _slacks(
    model: MipModel,
    found: list[tuple[int, float, IndexArray, IndexArray, FloatArray]],
    of_side: IndexArray,
) -> Slacks:
    column = np.array([one[0] for one in found], dtype=np.int32)
    sign = np.array([one[1] for one in found], dtype=np.float64)
    floor = np.where(sign > 0.0, model.lower[column], -model.upper[column])
    ceiling = np.where(sign > 0.0, model.upper[column], -model.lower[column])
    units = np.where(np.isfinite(floor), floor, 0.0)
    sizes = [one[2].size for one in found]
    joined = [np.concatenate([[], *(one[k] for one in found)]) for k in (2, 3, 4)]
    return Slacks(
        column=column,
        home=sign * units,
        sign=sign,
        cost=sign * model.cost[column],
        least=floor - units,
        most=ceiling - units,
        is_whole=model.is_integer[column] == 1,
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        row=joined[0].astype(np.int32),
        side=joined[1].astype(np.int32),
        scale=joined[2],
        of_side=of_side,
    )
