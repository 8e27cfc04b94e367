"""Numba twins of ``inspect.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
from numba import prange

from solvers.kernels.twin import twin
from solvers.linalg.dense.kernels.inspect import PART

SPLIT = 134217729.0
"""2^27 + 1, which halves a double's 53 digits (Dekker 1971)."""


@twin
def take_in(n, matrix, columns, sums):
    """Transpose a matrix and add up its columns, part by part."""
    for part in prange(sums.shape[0]):
        for j in range(n):
            total = 0.0
            for i in range(part * PART, min((part + 1) * PART, n)):
                value = matrix[i, j]
                columns[j, i] = value
                total += abs(value)
            sums[part, j] = total


@twin
def weigh(n, columns, sums):
    """Add up what rounding may have left of each pivot, part by part."""
    for part in prange(sums.shape[0]):
        for k in range(n):
            total = 0.0
            for i in range(part * PART, min((part + 1) * PART, k)):
                total += abs(columns[i, k] * columns[k, i])
            sums[part, k] = total


@twin
def conclude(n, parts, epsilon, columns, sums, weights, report):
    """Add up the parts."""
    for k in prange(n):
        total, weight = 0.0, 0.0
        for part in range(parts):
            total += sums[part, k]
            weight += weights[part, k]
        report[0, k] = total
        report[1, k] = k * epsilon * weight
        report[2, k] = columns[k, k]


@numba.njit(inline="always")
def _lost_by_product(a, b, product):
    """Return a b - product exactly, where product is a b rounded."""
    wide = SPLIT * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = SPLIT * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@twin
def residual(n, sides, matrix, x, b, r, scale):
    """Find b - A x in twice the precision, and |b| + |A| |x|."""
    for owner in prange(n * sides):
        side = owner // n
        i = owner % n
        high, low, total = b[side, i], 0.0, abs(b[side, i])
        for j in range(n):
            product = matrix[i, j] * x[side, j]
            lost = _lost_by_product(matrix[i, j], x[side, j], product)
            before = high
            high = before - product
            part = high - before
            low += ((before - (high - part)) - (product + part)) - lost
            total += abs(product)
        r[side, i] = high + low
        scale[side, i] = total
