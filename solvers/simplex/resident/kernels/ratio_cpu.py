"""Numba twins of ``ratio.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    COST_SHIFT,
    DEVEX_ERROR,
    DUAL_STEP,
    ENTERING,
    ENTERING_VALUE,
    EXCESS,
    FIRST_SELECTION,
    FLIPS,
    LEAVING,
    MADE,
    MOST_FLIPS,
    MOST_GROUPS,
    NO_PIVOT,
    NONE,
    NORM,
    PIVOT,
    PIVOTS,
    PRIMAL_TOLERANCE,
    RELATIVE_PIVOT,
    RESET,
    RUNNING,
    SELECTION_GROWTH,
    STATUS,
    SUFFICIENT_PIVOT,
    WEIGHT,
)
from solvers.simplex.resident.kernels.row_cpu import _distance
from solvers.simplex.resident.kernels.sides_cpu import _make_sides
from solvers.simplex.state import LOWER


@numba.njit(inline="always")
def _first_group(variables, alpha, ratio, least, status, reduced_cost):
    """Return the largest pivot element among break points that equal the least one."""
    best, q = 0.0, NONE
    for j in range(variables):
        if ratio[j] == np.inf:
            continue
        size = abs(alpha[j])
        near = ratio[j] <= least or _distance(status[j], reduced_cost[j]) <= least * size
        if near and size > best:
            best, q = size, j
    return q


@twin
def choose_column(  # noqa: C901 - one kernel
    rows, structurals, most, lanes, full, steepest, starts, indices, values, slot_of_row,
    reference, lower, upper, alpha_rows, ratio, least, counts, squares, dots,
    status, x, reduced_cost, flips, flip_steps, places, amounts,
    column, column_slots, flip_column, flip_slots, column_dots, flip_dots, control, scalars,
):  # fmt: skip
    """Choose the entering variable and the flips before it."""
    if control[STATUS] != RUNNING:
        return
    made, variables = control[PIVOTS], rows + structurals
    alpha = alpha_rows[made]
    smallest, total = np.inf, 0
    for j in range(variables):
        if ratio[j] < np.inf:
            smallest = min(smallest, ratio[j])
            total += 1
    if smallest == np.inf:
        control[STATUS] = NO_PIVOT
        return
    slope = abs(scalars[EXCESS])
    chosen = np.empty(MOST_FLIPS, dtype=np.int64)
    select, before = max(SELECTION_GROWTH * smallest, FIRST_SELECTION), 0.0
    last, wide, length = False, False, 0
    while True:
        lost, length = 0.0, 0
        for j in range(variables):
            if ratio[j] <= select:
                if length < MOST_FLIPS:
                    chosen[length] = j
                    lost += abs(alpha[j]) * (upper[j] - lower[j])
                length += 1
        if length > MOST_FLIPS:
            if before == 0.0:
                wide = True
                break
            select, last = before, True
        elif last or lost >= slope or length == total:
            break
        else:
            before = select
            select *= SELECTION_GROWTH
    count = 0
    if wide:  # more than there is room for: the first group alone
        q = _first_group(variables, alpha, ratio, smallest, status, reduced_cost)
    else:
        group = np.full(length, -1)
        best_size, best_index = np.zeros(MOST_GROUPS), np.full(MOST_GROUPS, NONE)
        groups, passed, largest = 0, 0, 0.0
        while groups < MOST_GROUPS and passed < length and slope >= 0.0:
            bound = np.inf
            for place in range(length):
                if group[place] < 0:
                    bound = min(bound, ratio[chosen[place]])
            change = 0.0
            for place in range(length):
                j = chosen[place]
                size = abs(alpha[j])
                near = ratio[j] <= bound or _distance(status[j], reduced_cost[j]) <= bound * size
                if group[place] < 0 and near:
                    group[place] = groups
                    passed += 1
                    change += size * (upper[j] - lower[j])
                    if size > best_size[groups]:
                        best_size[groups], best_index[groups] = size, j
            slope -= change
            largest = max(largest, best_size[groups])
            groups += 1
        if slope > scalars[PRIMAL_TOLERANCE] and length == total and passed == length:
            control[STATUS] = NO_PIVOT
            return
        at = groups - 1
        while at > 0 and best_size[at] <= min(RELATIVE_PIVOT * largest, SUFFICIENT_PIVOT):
            at -= 1
        q = best_index[at]
        for place in range(length):
            if 0 <= group[place] < at:
                j = chosen[place]
                flips[count] = j
                flip_steps[count] = (
                    upper[j] - lower[j] if status[j] == LOWER else lower[j] - upper[j]
                )
                count += 1
    _make_sides(
        q, flips, flip_steps, count, steepest == 1, rows, structurals, starts, indices, values,
        slot_of_row, places, amounts, column, column_slots, flip_column, flip_slots, control,
    )  # fmt: skip
    for e in range(made):
        column_dots[e] = alpha_rows[e, q]
        dot = 0.0
        for f in range(count):
            dot += alpha_rows[e, flips[f]] * flip_steps[f]
        flip_dots[e] = dot
    pivot = alpha[q]
    step, shift = reduced_cost[q] / pivot, 0.0
    if (step < 0.0) != (scalars[EXCESS] < 0.0) and step != 0.0:
        step, shift = 0.0, reduced_cost[q]  # which makes the step zero
    devex = max(1.0, squares.sum() + reference[control[LEAVING]]) if steepest == 0 else 0.0
    norm = dots[most] if steepest == 1 else devex
    scalars[DUAL_STEP] = step
    scalars[COST_SHIFT] = shift
    scalars[PIVOT] = pivot
    scalars[ENTERING_VALUE] = x[q]
    scalars[NORM] = norm
    control[RESET] = 1 if steepest == 0 and scalars[WEIGHT] > DEVEX_ERROR * norm else 0
    control[ENTERING] = q
    control[FLIPS] = count
    control[MADE] = made
