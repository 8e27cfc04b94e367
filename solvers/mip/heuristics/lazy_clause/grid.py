"""The rows of a model one side at a time, and the objective counted in whole steps beside them.

Bounds only ever rise: column j has two codes, 2 j for its lower bound and 2 j + 1 for the negative
of its upper bound. A bound is tightened by raising ``bound[code]``, and every finite side of a row
reads

    sum over entries of  c * bound[code]  <=  side      with all c > 0,

the sum being the smallest activity that the bounds allow. One rule then does for both directions.

A column more, the last one, stands for the objective, so that "at most k steps" can be a literal
like any other: ``c'x <= step (k + shift)`` holds for every point with the value k or less there.
Where costs of integer columns are multiples of a common step the count is the objective itself.
Other costs of integer columns are rounded down to whole numbers of a fine step, for which ``shift``
makes up, so that a point counts at most as many steps as its objective has. Only costs of
continuous columns stay as they are. The column stands in the last side only, ``cost of the columns
- count <= 0``, which bounds the other columns by it and never the other way round: what columns say
about the objective is learned as clauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray
from solvers.mip.model import FEASIBILITY_TOLERANCE, SAME, ByteArray, IndexArray, MipModel

LARGEST_SUM = 1e9
"""Sums of whole numbers up to this leave a double six digits for halves and tolerances."""

LARGEST_SCALE = 6
"""Decimals that costs may have to be counted exactly."""

WHOLE = 1e-13
"""How far a scaled number may be from a whole one, relative to it, if it is a decimal fraction."""

GAIN = 1e-5
"""Least improvement that is looked for where costs have no common step, relative to the objective:
a tenth of the gap at which a solve ends unless it is told otherwise."""

WIDEST = 1e4
"""Width of a column that counts where a step is chosen without knowing what values it takes."""


@dataclass(frozen=True, eq=False)
class Grid:
    """How objectives are counted."""

    step: float
    coefficient: FloatArray
    """(n,) float64: steps that each column costs."""
    shift: float
    """Steps between the count of a point and its objective: at most the true difference."""
    offset: float
    """Constant term of the objective."""
    is_whole: bool
    """Whether every point counts whole steps."""
    is_common: bool
    """Whether costs are multiples of the step, so that counts and objectives agree."""
    error: float = 0.0
    """How much less than its count says the objective of a point may be for rounding errors."""

    def below(self, objective: float) -> float:
        """Return the largest count of points that are better than ``objective`` by enough."""
        value = (objective - self.offset) / self.step - self.shift
        if self.is_common:
            return float(np.ceil(value - 1e-3)) - 1.0
        gain = max(SAME, GAIN * abs(objective - self.offset))
        return float(np.floor(value - gain / self.step))

    def below_point(self, x: FloatArray) -> float:
        """Return the largest count that is less than that of ``x`` (n,).

        Where costs are rounded down, a point may count less than its objective says: without this
        the search would come to it again.
        """
        return float(np.ceil(self.coefficient @ x - 1e-3)) - 1.0

    def nearest(self, objective: float) -> float:
        """Return the count that an objective comes closest to."""
        return float(np.round((objective - self.offset) / self.step - self.shift))

    def objective_of(self, count: float) -> float:
        """Return an objective that no point with at least this count is below, offset included."""
        value = self.step * (count + self.shift)
        room = SAME * max(1.0, abs(value), abs(self.offset))
        return float(self.offset + value - room - self.error)


def grid_of(model: MipModel, lower: FloatArray, upper: FloatArray) -> Grid:
    """Return the grid of a model's objective; ``lower`` and ``upper`` (n,) are its box."""
    cost, offset = model.cost, model.offset
    used = np.flatnonzero(cost)
    is_whole = bool(np.all(model.is_integer[used] == 1))
    size = np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))
    if is_whole:
        common = _common_step(cost[used])
        if common is not None:
            coefficient = np.round(cost / common)
            if float(np.abs(coefficient[used]) @ size[used]) <= LARGEST_SUM:
                error = float(np.abs(cost - common * coefficient)[used] @ size[used])
                return Grid(common, coefficient, 0.0, offset, True, True, error)
        total = float(np.abs(cost[used]) @ size[used])
        if np.isfinite(total):
            return _rounded_down(cost, lower, total, offset)
    width = np.clip(upper[used] - lower[used], 0.0, WIDEST)
    step = float(np.abs(cost[used]) @ width) / LARGEST_SUM
    step = step if step > 0.0 else 1.0
    return Grid(step, cost / step, 0.0, offset, False, False)


def _common_step(cost: FloatArray) -> float | None:
    """Return the largest step that all costs are multiples of, or None."""
    if not cost.size:
        return 1.0
    for decimals in range(LARGEST_SCALE + 1):
        scale = 10.0**decimals
        whole = np.round(cost * scale)
        if np.abs(whole).max() > LARGEST_SUM:
            return None
        if np.all(np.abs(cost * scale - whole) <= WHOLE * np.abs(whole)):
            return float(np.gcd.reduce(np.abs(whole).astype(np.int64))) / scale
    return None


def _rounded_down(cost: FloatArray, lower: FloatArray, total: float, offset: float) -> Grid:
    """Return a grid whose counts are at most the objective's: rounded down from lower bounds on.

    Parameters
    ----------
    cost, lower : (n,) float64
    total : float
        Sum of ``|cost|`` times the largest absolute values of the columns, or 1 where that is less.
    """
    step = total / (0.5 * LARGEST_SUM)
    used = np.flatnonzero(cost)
    coefficient = np.floor(cost / step)
    rest = cost[used] / step - coefficient[used]
    shift = float(rest @ lower[used])
    error = 1e-3 * step  # quotients and products err by 2^-52 of the total, 1e-7 steps
    return Grid(step, coefficient, shift, offset, True, False, error)


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
    """

    by_side: SparseRows
    by_code: SparseRows
    """Coefficients of each side (r, 2n), and their transpose."""
    widest: FloatArray
    """(r,) float64: largest ``c * (upper - lower)`` at the root: with more slack a side tightens
    nothing."""
    is_exact: ByteArray
    """(r,) uint8: whether all its numbers are whole and of integer columns, so that sums have no
    errors."""
    is_integer: ByteArray
    """(n+1,) uint8: the last is the count of the objective."""


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
