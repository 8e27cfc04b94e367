"""Which models are knapsack problems, however they were written, and their numbers made whole.

A single-row knapsack has whole-number columns and one row that limits a weighted sum on one side,
besides rows that limit a single column. Columns are shifted and mirrored so that they begin at
zero, and coefficients are made whole exactly; a model where that cannot be done is no knapsack
problem.

A model is written in decimals or fractions, and what arrives is a double near them. Coefficients
are taken for decimals, or for fractions of small denominator, if the double nearest to that is what
arrived, or another within the rounding of a sum or product; anything else is not a number that a
person meant, and is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.knapsack.items import LARGEST, IntArray, Knapsack, Model

DECIMALS = 12
"""Most digits behind the point."""

LARGEST_DENOMINATOR = 10_000
"""Denominators up to which a number is taken for a fraction."""

LARGEST_SCALE = 10**12
"""Least common multiple of denominators up to which numbers are made whole."""

EXACT = 2.0**53
"""Whole numbers below this are exact as doubles."""

ROUNDING = 4.5e-16
"""Relative error of a number that comes of a computation such as 3 * 0.1: two units in the last
place."""

CUT_OFF = 1e11
"""Whole numbers of this size made of broken ones have twelve digits, as many as most writers of
model files keep: they were cut off there."""

SIDE_SLACK, UNIT_SLACK = 1e-10, 1e-3
"""By how much a side may be missed: this part of it (at least of one), and of a unit of its row. It
is computed, by a - b or in a file by rounding, and what it was meant to allow must be allowed;
points are verified with tolerances no smaller than this."""

FEW_DIGITS = 1e12
"""Scaled numbers below this have few digits: hardly any number is within that error by chance."""

BOUND_SLACK = 1e-6
"""A bound of a whole-number column this close to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Whole:
    """(n,) whole numbers that are ``scale`` times the given ones."""

    values: IntArray
    scale: int


def whole(values: FloatArray) -> Whole | None:
    """Return numbers scaled to whole ones by the smallest factor found, or None."""
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) >= EXACT:
        return None
    for digits in range(DECIMALS + 1):
        scale = 10**digits
        rounded = np.round(values * scale)
        if np.abs(rounded).max(initial=0.0) >= EXACT:
            break
        error = np.abs(rounded / scale - values)
        few = np.abs(rounded).max(initial=0.0) < FEW_DIGITS
        if (error <= (ROUNDING * np.abs(values) if few else 0.0)).all():
            return _in_lowest_terms(rounded.astype(np.int64), scale)
    return _from_fractions(values)


def whole_weights(values: FloatArray) -> Whole | None:
    """Return weights scaled to whole ones; None also where their digits were cut off.

    Sums of such numbers miss a side that they were meant to meet, by less than any tolerance, and
    only an engine with tolerances does them justice.
    """
    found = whole(values)
    if found is None or (found.scale > 1 and np.abs(found.values).max(initial=0) >= CUT_OFF):
        return None
    return found


def whole_row(
    weight: FloatArray, side: float, start: IntArray, largest: int = LARGEST
) -> tuple[Whole, int] | None:
    """Return a row's weights made whole, and what columns at ``start`` leave of its side.

    None where their weights there may come to ``largest``, too.
    """
    found = whole_weights(weight)
    if found is None or np.abs(found.values.astype(np.float64)) @ np.abs(start) >= largest:
        return None
    return found, floor_of(float(side), found.scale) - int((found.values * start).sum())


def floor_of(value: float, scale: int | Fraction) -> int:
    """Return the whole part of ``scale`` times a side, which is read in the same way.

    One that misses a whole number by rounding is that number.
    """
    found = whole(np.array([value]))
    exact = Fraction(value) if found is None else Fraction(int(found.values[0]), found.scale)
    slack = min(SIDE_SLACK * max(1.0, abs(value)) * float(scale), UNIT_SLACK)
    return math.floor(exact * scale + Fraction(slack))


def _from_fractions(values: FloatArray) -> Whole | None:
    distinct, place = np.unique(values, return_inverse=True)
    scale = 1
    fractions = []
    for value in distinct:
        near = Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR)
        scale = math.lcm(scale, near.denominator)
        if float(near) != value or scale > LARGEST_SCALE:
            return None
        fractions.append(near)
    exact = [int(fraction * scale) for fraction in fractions]
    if max(map(abs, exact), default=0) >= LARGEST:
        return None
    return Whole(np.array(exact, dtype=np.int64)[place], scale)


def _in_lowest_terms(values: IntArray, scale: int) -> Whole:
    divisor = math.gcd(int(np.gcd.reduce(values)) if values.size else scale, scale)
    return Whole(values // divisor, scale // divisor)


@dataclass(frozen=True, eq=False)
class KnapsackModel(Model[Knapsack]):
    """A model with one item for each column; its value = start + sign (n,) * copies packed."""

    sign: IntArray

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
    limited, box = upper_side(problem, row), whole_box(problem)
    return None if limited is None or box is None else _as_items(problem, *limited, box)


def _only_row(problem: Problem) -> int | None:
    """Return the one row with several entries, if there is one."""
    several = np.flatnonzero(problem.entries.lengths > 1)
    return int(several[0]) if several.size == 1 else None


def upper_side(problem: Problem, row: int) -> tuple[FloatArray, float] | None:
    """Return a row as coefficients of all columns and an upper side.

    None unless it is limited on one side only.
    """
    weight = np.zeros(problem.num_columns)
    columns, coefficients = problem.entries[row]
    weight[columns] = coefficients
    lower, upper = float(problem.row_lower[row]), float(problem.row_upper[row])
    if np.isfinite(lower) == np.isfinite(upper):
        return None
    return (weight, upper) if np.isfinite(upper) else (-weight, -lower)


def whole_box(problem: Problem) -> Box | None:
    """Return whole-number bounds of the columns, those of rows with one entry included.

    None where nothing lies between some column's bounds, or a row without entries cannot hold.
    """
    matrix = problem.entries
    count = matrix.lengths
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
    mirrored = ~np.isfinite(box.lower)
    start = np.where(mirrored, box.upper, box.lower)
    if not np.isfinite(start).all() or np.abs(start).max() >= LARGEST:
        return None
    origin = start.astype(np.int64)
    sign = np.where(mirrored, -1, 1).astype(np.int64)
    profits, row = whole(-problem.cost), whole_row(weight, side, origin)
    if profits is None or row is None:
        return None
    weights, capacity = row
    copies = _copies(box, weights.values * sign, profits.values * sign, capacity)
    if copies is None:
        return None
    try:
        knapsack = Knapsack(profits.values * sign, weights.values * sign, copies, capacity)
    except ProblemError:
        return None
    sentence = _sentence(knapsack, weights.scale)
    return KnapsackModel(knapsack, profits.scale, sentence, origin, sign)


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
