"""The rows of a model one side at a time, with bounds of columns that only ever rise.

Column j has two codes: 2 j for its lower bound and 2 j + 1 for the negative of its upper bound. A
bound is tightened by raising ``bound[code]``, and every finite side of a row reads

    sum over entries of  c * bound[code]  <=  side      with all c > 0,

the sum being the smallest activity that the bounds allow. One rule then does for both directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.problem import BoolArray, FloatArray

ROUNDING_OF_SUMS = 1e-9
"""Room that the side which cuts points off leaves, relative to it: that much sums may err."""


class Sides(NamedTuple):
    """What never changes: r sides with all their entries, by sides and by codes.

    The last side is the objective's, which is infinite until there is a point to beat.

    Attributes
    ----------
    start, code, coefficient : (r+1,) int32, (e,) int32, (e,) float64
        Entries of each side.
    code_start, code_side, code_coefficient : (2n+1,) int32, (e,) int32, (e,) float64
        The same entries by codes.
    widest : (r,) float64
        Largest ``c * (upper - lower)`` at the root: with more slack a side tightens nothing.
    is_exact : (r,) uint8
        Whether all its numbers are whole and of integer columns, so that sums have no errors.
    is_integer : (n,) uint8
    """

    start: IndexArray
    code: IndexArray
    coefficient: FloatArray
    code_start: IndexArray
    code_side: IndexArray
    code_coefficient: FloatArray
    widest: FloatArray
    is_exact: ByteArray
    is_integer: ByteArray


def bounds_of(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the bounds (2n,) by codes."""
    bound = np.empty(2 * lower.size)
    bound[0::2], bound[1::2] = lower, -upper
    return bound


def sides_of(model: MipModel, bound: FloatArray) -> tuple[Sides, FloatArray]:
    """Return the finite sides of a model's rows, and their right-hand sides (r,).

    ``bound`` (2n,) is the box at the root.
    """
    matrix = model.problem.matrix
    has_upper, has_lower = np.isfinite(model.row_upper), np.isfinite(model.row_lower)
    objective = sp.csr_array(model.cost[None, :])
    stacked = sp.vstack([matrix[has_upper], -matrix[has_lower], objective], format="csr")
    stacked.eliminate_zeros()
    right = np.concatenate(
        [model.row_upper[has_upper], -model.row_lower[has_lower], np.array([np.inf])]
    )
    value = np.asarray(stacked.data, dtype=np.float64)
    code = (2 * stacked.indices.astype(np.int64) + (value < 0.0)).astype(np.int32)
    start = stacked.indptr.astype(np.int32)
    side = np.repeat(np.arange(right.size, dtype=np.int32), np.diff(start))
    by_code = np.argsort(code, kind="stable")
    counts = np.bincount(code, minlength=2 * model.num_columns)
    size = np.abs(value)
    exact = (size == np.round(size)) & (model.is_integer[code >> 1] == 1)
    inexact = np.bincount(side[~exact], minlength=right.size) > 0
    sides = Sides(
        start=start,
        code=code,
        coefficient=size,
        code_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        code_side=np.ascontiguousarray(side[by_code]),
        code_coefficient=np.ascontiguousarray(size[by_code]),
        widest=_widest(side, size, code, bound, right.size),
        is_exact=(~inexact).astype(np.uint8),
        is_integer=np.ascontiguousarray(model.is_integer),
    )
    return sides, right


def _widest(
    side: IndexArray, size: FloatArray, code: IndexArray, bound: FloatArray, count: int
) -> FloatArray:
    widest = np.zeros(count)
    np.maximum.at(widest, side, size * (-bound[code ^ 1] - bound[code]))
    return widest


def whole_costs(model: MipModel) -> bool:
    """Whether objectives of feasible points differ by whole numbers."""
    columns = np.flatnonzero(model.cost)
    whole: BoolArray = model.cost[columns] == np.round(model.cost[columns])
    return bool(whole.all() and np.all(model.is_integer[columns] == 1))
