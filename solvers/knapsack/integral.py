"""Numbers of a model made whole, exactly.

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

from solvers.core.problem import FloatArray
from solvers.knapsack.items import LARGEST, IntArray

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
