"""Numba twins of ``primal.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    ALL_FLIPS,
    BLOCK,
    BOUND,
    DIRECTION,
    DONE,
    DUAL_STEP,
    DUAL_TOLERANCE,
    ENTERING,
    ENTERING_VALUE,
    ERROR,
    FLIP_ONLY,
    FOLD,
    HARRIS,
    INACCURATE,
    ITERATIONS,
    LARGEST_DEVEX_WEIGHT,
    LEAVING,
    LIMIT,
    NO_PIVOT,
    NONE,
    OUT_OF_PIVOTS,
    PIVOT,
    PIVOT_ERROR,
    PIVOTS,
    POSITION,
    PRIMAL_STEP,
    RUNNING,
    SMALL_PIVOT,
    STATUS,
    TO_UPPER,
    VALUE,
    WEIGHT,
)
from solvers.simplex.resident.kernels.sides_cpu import _make_sides
from solvers.simplex.state import BASIC, LOWER, UPPER


@numba.njit(inline="always")
def _merit(status, lower, upper, d, weight, tolerance):
    """Return d^2 / weight where a reduced cost has the wrong sign, else zero."""
    if status == BASIC or lower == upper:
        return 0.0
    wrong = -d if status == LOWER else (d if status == UPPER else abs(d))
    return d * d / weight if wrong > tolerance else 0.0


@twin
def price_costs(
    rows, structurals, status, lower, upper, reduced_cost, weights, scalars,
    partial_value, partial_index,
):  # fmt: skip
    """Leave the best variable of each block."""
    variables, tolerance = rows + structurals, scalars[DUAL_TOLERANCE]
    groups = max(1, min(BLOCK, (variables + BLOCK - 1) // BLOCK))
    for group in prange(groups):
        best, place = 0.0, NONE
        for first in range(group * BLOCK, variables, groups * BLOCK):
            for j in range(first, min(first + BLOCK, variables)):
                merit = _merit(
                    status[j], lower[j], upper[j], reduced_cost[j], weights[j], tolerance
                )
                if merit > best:
                    best, place = merit, j
        partial_value[group] = best
        partial_index[group] = place


@twin
def choose_entering(
    rows, structurals, most, full, groups, starts, indices, values, slot_of_row,
    x, reduced_cost, weights, alpha_rows, partial_value, partial_index, places, amounts,
    column, column_slots, flip_column, flip_slots, column_dots, control, scalars,
):  # fmt: skip
    """Choose the entering variable."""
    if control[STATUS] != RUNNING:
        return
    made = control[PIVOTS]
    if made >= most or control[ITERATIONS] >= control[LIMIT]:
        control[STATUS] = FOLD if made >= most else OUT_OF_PIVOTS
        return
    best, q = 0.0, NONE
    for g in range(groups):
        value, index = partial_value[g], partial_index[g]
        if value > best or (value == best and index < q):
            best, q = value, index
    if q == NONE:
        control[STATUS] = DONE
        return
    _make_sides(
        q, places, amounts, 0, False, rows, structurals, starts, indices, values, slot_of_row,
        places, amounts, column, column_slots, flip_column, flip_slots, control,
    )  # fmt: skip
    for e in range(made):
        column_dots[e] = alpha_rows[e, q]
    control[ENTERING] = q
    control[DIRECTION] = 1 if reduced_cost[q] < 0.0 else -1
    scalars[ENTERING_VALUE] = x[q]
    scalars[WEIGHT] = weights[q]


@numba.njit(inline="always")
def _room(rate, x, lower, upper):
    """Return how far a basic value is from the bound it moves to."""
    return x - lower if rate > 0.0 else upper - x


@twin
def choose_leaving(
    rows, basic, lower, upper, reduced_cost, alpha, x_basic, lower_basic, upper_basic,
    control, scalars,
):  # fmt: skip
    """Choose the leaving position by Harris's two passes."""
    if control[STATUS] != RUNNING:
        return
    q = control[ENTERING]
    direction = float(control[DIRECTION])
    smallest, relax = scalars[SMALL_PIVOT], scalars[HARRIS]
    bound = np.inf
    for p in range(rows):
        rate = direction * alpha[p]
        if abs(rate) > smallest:
            room = max(_room(rate, x_basic[p], lower_basic[p], upper_basic[p]), 0.0)
            bound = min(bound, (room + relax) / abs(rate))
    size, r = 0.0, NONE
    if bound < np.inf:
        for p in range(rows):
            rate = direction * alpha[p]
            if abs(rate) > smallest:
                room = max(_room(rate, x_basic[p], lower_basic[p], upper_basic[p]), 0.0)
                if room <= bound * abs(rate) and abs(rate) > size:
                    size, r = abs(rate), p
    span = upper[q] - lower[q]
    step = np.inf
    if r != NONE:
        rate = direction * alpha[r]
        room = _room(rate, x_basic[r], lower_basic[r], upper_basic[r])
        step = max(room, 0.0) / size
    control[FLIP_ONLY] = 0
    if span <= step:
        if span == np.inf:
            control[STATUS] = NO_PIVOT
            return
        control[FLIP_ONLY] = 1
        control[ALL_FLIPS] += 1
        scalars[PRIMAL_STEP] = span
    else:
        value = x_basic[r]
        limit = lower_basic[r] if rate > 0.0 else upper_basic[r]
        control[POSITION] = r
        control[LEAVING] = basic[r]
        control[TO_UPPER] = 0 if rate > 0.0 else 1
        control[PIVOTS] += 1
        scalars[VALUE] = value
        scalars[BOUND] = value if room < 0.0 else limit
        scalars[PRIMAL_STEP] = step
        scalars[PIVOT] = alpha[r]
        scalars[DUAL_STEP] = reduced_cost[q] / alpha[r]
    control[ITERATIONS] += 1


@twin
def update_primal(  # noqa: C901 - one kernel
    rows, structurals, most, alpha_rows, alpha,
    lower, upper, etas, x_basic, lower_basic, upper_basic, x, reduced_cost, weights,
    basic, status, pivot_log, partial_value, partial_index, control, scalars,
):  # fmt: skip
    """Make a primal pivot, or flip the entering variable to its other bound."""
    going = control[STATUS] == RUNNING
    flip = control[FLIP_ONLY] == 1
    made, r = control[PIVOTS] - 1, control[POSITION]
    q, leaving = control[ENTERING], control[LEAVING]
    pivot = 1.0
    if going and not flip:
        pivot = scalars[PIVOT]
        by_row = alpha_rows[made, q]
        error = abs(pivot - by_row)
        scalars[ERROR] = error
        if not (error <= scalars[PIVOT_ERROR] * min(abs(pivot), abs(by_row))):
            control[STATUS] = INACCURATE
            going = False
        else:
            pivot_log[made, 0], pivot_log[made, 1], pivot_log[made, 2] = r, leaving, q
    step = float(control[DIRECTION]) * scalars[PRIMAL_STEP]
    count = rows if going else 0
    for p in prange(count):
        if p == r and not flip:
            x_basic[p] = scalars[ENTERING_VALUE] + step
            lower_basic[p], upper_basic[p] = lower[q], upper[q]
            basic[p] = q
            etas[p, made] = 1.0 / pivot - 1.0
        else:
            x_basic[p] -= step * alpha[p]
            if not flip:
                etas[p, made] = -alpha[p] / pivot
    dual_step, weight, tolerance = scalars[DUAL_STEP], scalars[WEIGHT], scalars[DUAL_TOLERANCE]
    variables = rows + structurals
    groups = max(1, min(BLOCK, (variables + BLOCK - 1) // BLOCK)) if going else 0
    for group in prange(groups):
        best, place = 0.0, NONE
        for first in range(group * BLOCK, variables, groups * BLOCK):
            for j in range(first, min(first + BLOCK, variables)):
                if flip:
                    if j == q:
                        x[j] = upper[j] if status[j] == LOWER else lower[j]
                        status[j] = UPPER if status[j] == LOWER else LOWER
                elif j == q:
                    reduced_cost[j] = 0.0
                    status[j] = BASIC
                elif j == leaving:
                    reduced_cost[j] = -dual_step
                    x[j] = scalars[BOUND]
                    if control[TO_UPPER] == 1:
                        upper[j] = scalars[BOUND]
                    else:
                        lower[j] = scalars[BOUND]
                    fixed = lower[j] == upper[j]
                    status[j] = UPPER if control[TO_UPPER] == 1 and not fixed else LOWER
                    weights[j] = max(weight / (pivot * pivot), 1.0)
                elif status[j] != BASIC:
                    share = alpha_rows[made, j] / pivot
                    reduced_cost[j] -= dual_step * alpha_rows[made, j]
                    weights[j] = max(weights[j], share * share * weight)
                if weight > LARGEST_DEVEX_WEIGHT:
                    weights[j] = 1.0
                merit = _merit(
                    status[j], lower[j], upper[j], reduced_cost[j], weights[j], tolerance
                )
                if merit > best:
                    best, place = merit, j
        partial_value[group] = best
        partial_index[group] = place
