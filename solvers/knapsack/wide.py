"""Products of two whole numbers compared exactly: 64 bits are not enough for them.

An efficiency is a ratio of two numbers of up to 62 bits, so that comparing two takes products of
124 bits. In double precision nearly every comparison is decided by far more than its rounding, and
only the rest is computed in two words.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled, inlined

RELATIVE_ERROR = 1e-15
"""Bound on the relative rounding error of a product of two converted whole numbers: each conversion
and the product add 1.1e-16."""

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined
def product_words(a: int, b: int) -> tuple[np.uint64, np.uint64]:
    """Return the high and low 64 bits of a * b for non-negative a and b."""
    ua, ub = np.uint64(a), np.uint64(b)
    a_low, a_high = ua & _LOW, ua >> _HALF
    b_low, b_high = ub & _LOW, ub >> _HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF), ua * ub


@compiled
def exceeds(a: int, b: int, c: int, d: int) -> bool:
    """Whether a * b > c * d, for whole numbers below 2^63 in size and of any sign."""
    left, right = float(a) * float(b), float(c) * float(d)
    if abs(left - right) > RELATIVE_ERROR * (abs(left) + abs(right)):
        return left > right
    left_negative = (a < 0) != (b < 0) and a != 0 and b != 0
    right_negative = (c < 0) != (d < 0) and c != 0 and d != 0
    if left_negative != right_negative:
        return right_negative
    high, low = product_words(abs(a), abs(b))
    other_high, other_low = product_words(abs(c), abs(d))
    if left_negative:
        return bool(high < other_high or (high == other_high and low < other_low))
    return bool(high > other_high or (high == other_high and low > other_low))
