"""The dual simplex method on a dictionary, in the twin."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    AT_LIMIT,
    CHECK_EVERY,
    COST,
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
    PRIMAL_TOLERANCE,
    RATIO,
    REDUCED,
    SMALLEST_PIVOT,
    STALLED,
    VALUE,
    WANTED_PIVOT,
    WEIGHT,
    ZERO,
)
from solvers.simplex.batch.kernels.pivots_cpu import advance, flip, perturb_costs


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
            if not abs(reduced[j]) <= step * own:
                continue
            v = nonbasic[j]
            slope -= own * (work[HIGH, v] - work[LOW, v])
            if own > size or (own == size and j < q):
                q, size = j, own
            candidates[k], candidates[end] = candidates[end], j
            ratio[k], ratio[end] = ratio[end], ratio[k]
            end += 1
        if end == passed:  # only where numbers are not finite
            break
        if size >= parameters[WANTED_PIVOT] or size > best_size:
            best, best_size, flips = q, size, passed
        if slope <= limits[PRIMAL_TOLERANCE]:
            return best, flips
        outside, passed = slope, end
    return -1, 0


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
