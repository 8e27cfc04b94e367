"""The primal simplex method on a dictionary, in the twin."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    AT_LIMIT,
    CHECK_EVERY,
    DONE,
    DUAL_TOLERANCE,
    FRESH,
    HIGH,
    INACCURATE,
    LOW,
    LOWER,
    MOST,
    NO_PIVOT,
    PAUSED,
    PIVOTS,
    PRICE,
    PRIMAL_TOLERANCE,
    REDUCED,
    ROW,
    SMALLEST_PIVOT,
    STALLED,
    UPPER,
    VALUE,
    WANTED_PIVOT,
)
from solvers.simplex.batch.kernels.pivots_cpu import advance, flip, perturb_bounds

NO_STEP = 1e-12
"""Primal steps below this count as none."""


@compiled
def weigh_columns(by_row, by_column, p, q):
    """Update Devex weights of the columns after a pivot in column q."""
    weight, row = by_column[PRICE], by_column[ROW]
    own = weight[q]
    for j in range(weight.size):
        weight[j] = max(weight[j], row[j] * row[j] * own)
    weight[q] = max(own * row[q] * row[q], 1.0)


@compiled
def is_attractive(price, status, low, high, tolerance):
    """Whether a nonbasic variable of this reduced cost improves the objective by moving."""
    if low == high:
        return False
    if status == LOWER:
        return price < -tolerance
    if status == UPPER:
        return price > tolerance
    return abs(price) > tolerance


@compiled
def priced_column(by_column, work, nonbasic, status, limits):
    """Return the column of the largest weighted dual infeasibility, or -1."""
    q, best = -1, 0.0
    for j in range(nonbasic.size):
        v, price = nonbasic[j], by_column[REDUCED, j]
        if is_attractive(price, status[v], work[LOW, v], work[HIGH, v], limits[DUAL_TOLERANCE]):
            merit = price * price / by_column[PRICE, j]
            if merit > best:
                q, best = j, merit
    return q


@compiled
def blocking_row(D, by_row, work, basic, q, direction, limits, parameters):
    """Return the row that stops column q by Harris' test, or -1."""
    longest = np.inf
    for i in range(basic.size):
        rate, v = direction * D[i, q], basic[i]
        if abs(rate) > parameters[SMALLEST_PIVOT]:
            value = by_row[VALUE, i]
            room = work[HIGH, v] - value if rate > 0.0 else value - work[LOW, v]
            longest = min(longest, (max(room, 0.0) + limits[PRIMAL_TOLERANCE]) / abs(rate))
    p, size = -1, 0.0
    for i in range(basic.size):
        rate, v = direction * D[i, q], basic[i]
        if abs(rate) > max(size, parameters[SMALLEST_PIVOT]):
            room = (
                work[HIGH, v] - by_row[VALUE, i] if rate > 0.0 else by_row[VALUE, i] - work[LOW, v]
            )
            if room <= longest * abs(rate) and room < np.inf:
                p, size = i, abs(rate)
    return p


@compiled
def primal(D, by_row, by_column, work, basic, nonbasic, status, limits, counts, parameters):
    """Make primal pivots from a feasible point; return how they ended, and the column."""
    stalled, checked = 0, 0
    while True:
        q = priced_column(by_column, work, nonbasic, status, limits)
        if q < 0:
            return DONE, q
        if counts[PIVOTS] >= counts[MOST]:
            return AT_LIMIT, q
        entering = nonbasic[q]
        direction = -1.0 if by_column[REDUCED, q] > 0.0 else 1.0
        p = blocking_row(D, by_row, work, basic, q, direction, limits, parameters)
        span = work[HIGH, entering] - work[LOW, entering]
        if p < 0 and span == np.inf:
            return NO_PIVOT, q
        counts[PIVOTS] += 1
        length, to_low, target = np.inf, False, 0.0
        if p >= 0:
            v = basic[p]
            to_low = direction * D[p, q] < 0.0
            target = work[LOW, v] if to_low else work[HIGH, v]
            length = (target - by_row[VALUE, p]) / (direction * D[p, q])
        if span <= length:
            flip(D, by_row, by_column, work, nonbasic, status, q)
            continue
        if abs(D[p, q]) < parameters[WANTED_PIVOT] and counts[FRESH] > 0:
            return INACCURATE, q
        if length < 0.0:  # beyond its bound within the tolerance: the bound gives way
            length, target = 0.0, by_row[VALUE, p]
            work[LOW if to_low else HIGH, basic[p]] = target
        stalled = stalled + 1 if length <= NO_STEP else 0
        advance(
            D, by_row, by_column, basic, nonbasic, status, p, q, direction * length, target, to_low,
            False,
        )  # fmt: skip
        weigh_columns(by_row, by_column, p, q)
        counts[FRESH] += 1
        checked += 1
        if stalled > parameters[STALLED]:
            perturb_bounds(by_row, work, basic, limits, counts, parameters)
            stalled = 0
        if checked >= parameters[CHECK_EVERY]:
            return PAUSED, q
