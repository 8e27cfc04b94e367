"""What ``bounds.cuh`` does, for Numba: what one row implies for the bounds of its columns.

Products are rounded before they are added, as there.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numba
import numpy as np

from solvers.kernels.twin import Twin, compiled
from solvers.mip.propagation.tolerances import (
    CANCELLED,
    CANCELLING,
    CROSSING,
    LARGEST_BOUND,
    RELAXATION,
    ROUNDING,
    ROW_RELATIVE,
    ROW_TOLERANCE,
    SIGNIFICANT,
    SMALLEST_ENTRY,
    SUM_ERROR,
)


def inlined(function):
    """Mark a function to be copied into its callers (a decorator)."""
    return numba.njit(inline="always")(function)


def sequential(function):
    """Compile a twin whose iterations share what they write, so that threads may not (a decorator).

    Bounds are tightened by several rows; a launch on a GPU does that with atomic operations.
    """
    loop = compiled(function)
    return Twin(loop, loop)


@compiled
def room_below_side(side, activity, infinite):
    """Return what is left below an upper side: inf without one, else not negative if finite.

    The second value says whether the row is infeasible. A lower side is an upper side of the
    negated row, with its largest activity negated.
    """
    if side == np.inf:
        return np.inf, False
    room = side - activity
    tolerance = max(ROW_TOLERANCE, ROW_RELATIVE * abs(side))
    infeasible = infinite == 0 and room < -tolerance
    if infinite == 0:
        room = max(room, 0.0)
    return room + SUM_ERROR * max(abs(side), abs(activity)), infeasible


@compiled
def is_redundant(lower, upper, low, high, low_infinite, high_infinite):
    """Whether a row with these sides and activities holds whatever the columns do."""
    above_kept = upper == np.inf or (high_infinite == 0 and high <= upper)
    below_kept = lower == -np.inf or (low_infinite == 0 and low >= lower)
    return above_kept and below_kept


@compiled
def tightened(base, bound, room, infinite, weight, is_integer):
    """Return the upper bound that a row implies for a column with bounds [base, bound].

    ``room`` is for a term of this weight, ``infinite`` the number of infinite terms of the row;
    the bound comes back where it is no news.
    """
    if infinite > 1 or not room < np.inf or weight < SMALLEST_ENTRY:
        return bound
    if infinite == 0:
        if not room < weight * (bound - base):
            return bound
        found = base + room / weight
        if abs(base) > CANCELLING and abs(base) > CANCELLED * abs(found):
            return bound
    elif base > -np.inf:
        return bound
    else:
        found = room / weight
    if not found < bound or abs(found) > LARGEST_BOUND:
        return bound
    if is_integer != 0:
        found = np.floor(found + ROUNDING)
        return min(found, bound)
    found += RELAXATION * max(1.0, abs(found))
    if bound == np.inf:
        return found
    least = SIGNIFICANT * max(1.0, abs(bound))
    if base > -np.inf:
        least = max(least, SIGNIFICANT * (bound - base))
    if bound - found > least:
        return found
    return bound


@compiled
def settled(lower, upper):
    """Return the bounds after a crossing by rounding is mended, and whether they contradict."""
    if lower > upper:
        if lower - upper > CROSSING:
            return lower, upper, True
        middle = 0.5 * (lower + upper)
        return middle, middle, False
    return lower, upper, False
