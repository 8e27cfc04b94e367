"""The rows of a model one side at a time, with bounds of columns that only ever rise.

Column j has two codes: 2 j for its lower bound and 2 j + 1 for the negative of its upper bound. A
bound is tightened by raising ``bound[code]``, and every finite side of a row reads

    sum over entries of  c * bound[code]  <=  side      with all c > 0,

the sum being the smallest activity that the bounds allow. One rule then does for both directions.

After the model's columns comes one for the objective, counted in steps (``grid``). It stands in the
last side only, ``cost of the columns - count <= 0``, which bounds the other columns by it and never
the other way round: what columns say about the objective is learned as clauses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.mip.heuristics.lazy_clause.grid import LARGEST_SUM, WHOLE, Grid
from solvers.mip.model import FEASIBILITY_TOLERANCE, ByteArray, IndexArray, MipModel

DECIMALS = 4
"""Decimals that a row may have and still be summed in whole numbers: then it is violated by 1e-4 or
not at all, and tolerances make no difference."""

ROOM = 1e-4
"""Room for what decimal fractions in doubles make of a whole sum: ``WHOLE`` of the largest one."""

LARGEST_SIDE = 4e5
"""Sides up to this are kept by whole sums or violated by more than a relative tolerance of 1e-6."""


class Sides(NamedTuple):
    """What never changes: r sides with all their entries, by sides and by codes.

    The last side is the objective's, which is infinite until there is a point to beat; its last
    entry is that of the count.

    Attributes
    ----------
    by_side, by_code : SparseRows
        Coefficients of each side (r, 2n), and their transpose.
    widest : (r,) float64
        Largest ``c * (upper - lower)`` at the root: with more slack a side tightens nothing.
    is_exact : (r,) uint8
        Whether all its numbers are whole and of integer columns, so that sums have no errors.
    is_integer : (n+1,) uint8
        The last is the count of the objective.
    """

    by_side: SparseRows
    by_code: SparseRows
    widest: FloatArray
    is_exact: ByteArray
    is_integer: ByteArray


def bounds_of(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the bounds (2n+2,) by codes; the count's stay as they are until there is a point."""
    bound = np.zeros(2 * lower.size + 2)
    bound[0:-2:2], bound[1:-2:2] = lower, -upper
    bound[-2] = -np.inf
    return bound


def sides_of(model: MipModel, bound: FloatArray, grid: Grid) -> tuple[Sides, FloatArray]:
    """Return the finite sides of a model's rows, and their right-hand sides (r,).

    ``bound`` (2n+2,) is the box at the root.
    """
    matrix = model.problem.matrix
    has_upper, has_lower = np.isfinite(model.row_upper), np.isfinite(model.row_lower)
    objective = sp.csr_array(grid.coefficient[None, :])
    stacked = sp.vstack([matrix[has_upper], -matrix[has_lower], objective], format="csr")
    stacked.eliminate_zeros()
    stacked.sort_indices()
    right = np.concatenate(
        [model.row_upper[has_upper], -model.row_lower[has_lower], np.array([np.inf])]
    )
    # the entry of the count, which is to be the last of all
    value = np.append(np.asarray(stacked.data, dtype=np.float64), -1.0)
    column = np.append(stacked.indices.astype(np.int64), model.num_columns)
    start = stacked.indptr.astype(np.int32)
    start[-1] += 1
    side = np.repeat(np.arange(right.size, dtype=np.int32), np.diff(start))
    code = (2 * column + (value < 0.0)).astype(np.int32)
    is_integer = np.append(model.is_integer, 1).astype(np.uint8)
    size, right, exact = _in_whole_numbers(side, np.abs(value), is_integer[column], right)
    shape = right.size, bound.size
    sides = Sides(
        by_side=SparseRows(size, code, start, shape),
        by_code=SparseRows.of_entries(size, code, side, shape[::-1]),
        widest=_widest(side[:-1], size[:-1], code[:-1], bound, right.size),
        is_exact=exact,
        is_integer=is_integer,
    )
    return sides, right


def _in_whole_numbers(
    side: IndexArray, size: FloatArray, is_integer: ByteArray, right: FloatArray
) -> tuple[FloatArray, FloatArray, ByteArray]:
    """Scale sides of integer columns whose numbers are decimal fractions, and tell which are whole.

    Their right-hand sides are rounded down to what a point may reach within the tolerance.
    """
    size, right = size.copy(), right.copy()
    exact = np.zeros(right.size, dtype=bool)
    mixed = np.bincount(side, weights=is_integer == 0, minlength=right.size) > 0
    for decimals in range(DECIMALS + 1):
        scale = 10.0**decimals
        left = ~(exact | mixed)
        open_ = np.flatnonzero(left[side])
        scaled = size[open_] * scale
        whole = np.round(scaled)
        broken = (np.abs(scaled - whole) > WHOLE * whole) | (whole > LARGEST_SUM)
        bad = np.bincount(side[open_[broken]], minlength=right.size) > 0
        good = left & ~bad
        chosen = good[side[open_]]
        size[open_[chosen]] = whole[chosen]
        right[good] = np.floor(scale * (right[good] + FEASIBILITY_TOLERANCE) + ROOM)
        exact |= good
    return size, right, exact.astype(np.uint8)


def _widest(
    side: IndexArray, size: FloatArray, code: IndexArray, bound: FloatArray, count: int
) -> FloatArray:
    widest = np.zeros(count)
    np.maximum.at(widest, side, size * (-bound[code ^ 1] - bound[code]))
    return widest


def is_safe(sides: Sides, right: FloatArray, bound: FloatArray) -> bool:
    """Whether all that the search concludes holds without rounding errors.

    All columns are integers within finite bounds, and all sums are of whole numbers small enough
    that neither doubles nor tolerances blur them. ``bound`` (2n+2,) is the box at the root.
    """
    columns = bound[:-2]
    if not (sides.is_integer.all() and sides.is_exact.all() and np.isfinite(columns).all()):
        return False
    most = np.append(np.maximum(np.abs(columns[0::2]), np.abs(columns[1::2])), 0.0)
    total = sides.by_side.times(most[np.arange(bound.size) >> 1])
    small = np.abs(right[:-1]).max(initial=0.0) <= LARGEST_SIDE
    return bool(small and total.max(initial=0.0) <= LARGEST_SUM)
