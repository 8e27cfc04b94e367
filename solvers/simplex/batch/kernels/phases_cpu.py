"""The dual and the primal simplex method on a dictionary, in the twin."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    AT_LIMIT,
    BASIC,
    CHECK_EVERY,
    COST,
    COST_SIZE,
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
    PERTURBATION,
    PERTURBED,
    PIVOTS,
    POINT,
    PRICE,
    PRIMAL_TOLERANCE,
    RATIO,
    REDUCED,
    ROW,
    SMALLEST_PIVOT,
    STALLED,
    UPPER,
    VALUE,
    WANTED_PIVOT,
    WEIGHT,
    ZERO,
)
from solvers.simplex.batch.kernels.dictionary_cpu import exchange

NO_STEP = 1e-12
"""Primal steps below this count as none."""


@compiled
def spread(v, turn):
    """Return a number from [0.5, 1) that belongs to a variable, another one at each turn."""
    mixed = (np.uint32(v) + np.uint32(1)) * np.uint32(2654435761)
    mixed = np.uint32(mixed ^ (np.uint32(turn) * np.uint32(2246822519)))
    mixed = np.uint32(mixed ^ (mixed >> np.uint32(15)))
    mixed = np.uint32(mixed * np.uint32(3266489917))
    return 0.5 + 0.5 * (np.uint32(mixed) / 4294967296.0)


@compiled
def perturb_costs(by_column, work, nonbasic, status, limits, counts, parameters):
    """Move reduced costs away from zero, into the side where they are dual feasible."""
    counts[PERTURBED] += 1
    size = parameters[PERTURBATION] * limits[COST_SIZE] * counts[PERTURBED]
    for j in range(nonbasic.size):
        v = nonbasic[j]
        if work[LOW, v] == work[HIGH, v] or status[v] == ZERO:
            continue
        change = size * spread(v, counts[PERTURBED])
        if status[v] == UPPER:
            change = -change
        by_column[REDUCED, j] += change
        work[COST, v] += change


@compiled
def perturb_bounds(by_row, work, basic, limits, counts, parameters):
    """Move the bounds of basic variables outwards."""
    counts[PERTURBED] += 1
    size = parameters[PERTURBATION] * counts[PERTURBED]
    for i in range(basic.size):
        v = basic[i]
        change = size * spread(v, counts[PERTURBED])
        work[LOW, v] -= change * (1.0 + abs(by_row[VALUE, i]))
        work[HIGH, v] += change * (1.0 + abs(by_row[VALUE, i]))


@compiled
def leaving_row(by_row, work, basic, limits):
    """Return the row of the largest weighted primal infeasibility, or -1."""
    p, best = -1, 0.0
    for i in range(basic.size):
        v, value = basic[i], by_row[VALUE, i]
        outside = max(work[LOW, v] - value, value - work[HIGH, v])
        if outside > limits[PRIMAL_TOLERANCE]:
            merit = outside * outside / by_row[WEIGHT, i]
            if merit > best:
                p, best = i, merit
    return p


@compiled
def entering_column(
    line, by_column, work, nonbasic, status, candidates, sign, outside, limits, parameters
):
    """Return the column that enters (-1: none) and how many ``candidates`` are to be flipped.

    Candidates are passed in groups of equal ratio, by Harris' tolerance, as long as the row stays
    infeasible with all of a group on their other bounds (the bound-flipping ratio test); from the
    last group the largest pivot is taken, or from an earlier one if that is too small.
    """
    reduced, ratio = by_column[REDUCED], by_column[RATIO]
    count = 0
    for j in range(nonbasic.size):
        alpha, v = sign * line[j], nonbasic[j]
        fits = abs(alpha) > parameters[SMALLEST_PIVOT] and work[LOW, v] < work[HIGH, v]
        if fits and (status[v] == ZERO or (alpha > 0.0) == (status[v] == LOWER)):
            candidates[count] = j
            ratio[count] = (abs(reduced[j]) + limits[DUAL_TOLERANCE]) / abs(alpha)
            count += 1
    best, best_size, flips, passed = -1, 0.0, 0, 0
    while passed < count:
        step = ratio[passed]
        for k in range(passed + 1, count):
            step = min(step, ratio[k])
        q, size, end = -1, 0.0, passed
        slope = outside
        for k in range(passed, count):
            j = candidates[k]
            own = abs(line[j])
            if abs(reduced[j]) > step * own:
                continue
            v = nonbasic[j]
            slope -= own * (work[HIGH, v] - work[LOW, v])
            if own > size or (own == size and j < q):
                q, size = j, own
            candidates[k], candidates[end] = candidates[end], j
            ratio[k], ratio[end] = ratio[end], ratio[k]
            end += 1
        if size >= parameters[WANTED_PIVOT] or size > best_size:
            best, best_size, flips = q, size, passed
        if slope <= limits[PRIMAL_TOLERANCE]:
            return best, flips
        outside, passed = slope, end
    return -1, 0


@compiled
def flip(D, by_row, by_column, work, nonbasic, status, j):
    """Move a nonbasic variable to its other bound."""
    v = nonbasic[j]
    to_high = status[v] == LOWER
    target = work[HIGH, v] if to_high else work[LOW, v]
    change = target - by_column[POINT, j]
    status[v] = UPPER if to_high else LOWER
    by_column[POINT, j] = target
    for i in range(D.shape[0]):
        by_row[VALUE, i] += D[i, j] * change


@compiled
def dual(
    D, by_row, by_column, work, basic, nonbasic, status, candidates, limits, counts, parameters
):
    """Make dual pivots from a dual feasible dictionary; return how they ended, and the row."""
    stalled, checked = 0, 0
    while True:
        p = leaving_row(by_row, work, basic, limits)
        if p < 0:
            return DONE, p
        if counts[PIVOTS] >= counts[MOST]:
            return AT_LIMIT, p
        leaving = basic[p]
        below = by_row[VALUE, p] < work[LOW, leaving]
        target = work[LOW, leaving] if below else work[HIGH, leaving]
        q, flips = entering_column(
            D[p], by_column, work, nonbasic, status, candidates, 1.0 if below else -1.0,
            abs(target - by_row[VALUE, p]), limits, parameters,
        )  # fmt: skip
        if q < 0:
            return NO_PIVOT, p
        if abs(D[p, q]) < parameters[WANTED_PIVOT] and counts[FRESH] > 0:
            return INACCURATE, p
        for k in range(flips):
            flip(D, by_row, by_column, work, nonbasic, status, candidates[k])
        price = by_column[REDUCED, q] if below else -by_column[REDUCED, q]
        if price * D[p, q] < 0.0:
            work[COST, nonbasic[q]] -= by_column[REDUCED, q]
            by_column[REDUCED, q] = 0.0
        stalled = stalled + 1 if abs(price) <= limits[DUAL_TOLERANCE] else 0
        step = (target - by_row[VALUE, p]) / D[p, q]
        advance(D, by_row, by_column, basic, nonbasic, status, p, q, step, target, below, True)
        counts[PIVOTS] += 1
        counts[FRESH] += 1
        checked += 1
        if stalled > parameters[STALLED]:
            perturb_costs(by_column, work, nonbasic, status, limits, counts, parameters)
            stalled = 0
        if checked >= parameters[CHECK_EVERY]:
            return PAUSED, p


@compiled
def advance(D, by_row, by_column, basic, nonbasic, status, p, q, step, target, to_low, weigh):
    """Move along column q by ``step`` until the basic variable at p is at ``target``; pivot."""
    for i in range(D.shape[0]):
        by_row[VALUE, i] += D[i, q] * step
    by_row[VALUE, p] = by_column[POINT, q] + step
    by_column[POINT, q] = target
    status[nonbasic[q]] = BASIC
    status[basic[p]] = LOWER if to_low else UPPER
    exchange(D, by_row, by_column, basic, nonbasic, p, q, weigh)


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
