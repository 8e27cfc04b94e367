"""Numba twins of ``ratio.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    ALL_FLIPS,
    BLOCK,
    DEVEX_ERROR,
    DUAL_STEP,
    ENTERING,
    ENTERING_VALUE,
    EXCESS,
    FIRST_SELECTION,
    FLIPS,
    HARRIS,
    ITERATIONS,
    LEAVING,
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
from solvers.simplex.state import LOWER, UPPER


@numba.njit(inline="always")
def _load_column(
    j, step, structurals, starts, indices, values, slot_of_row, column, column_slots
):  # fmt: skip
    """Add step times a column of [A -I] to a right side."""
    if j >= structurals:
        i = j - structurals
        column[i] -= step
        if slot_of_row[i] >= 0:
            column_slots[slot_of_row[i]] = column[i]
    else:
        for k in range(starts[j], starts[j + 1]):
            i = indices[k]
            column[i] += step * values[k]
            if slot_of_row[i] >= 0:
                column_slots[slot_of_row[i]] = column[i]


@twin
def choose_column(  # noqa: C901 - one kernel
    rows, structurals, most, lanes, steepest, starts, indices, values, slot_of_row, reference,
    lower, upper, alpha_rows, candidates, counts, ratios, squares, dots,
    status, x, cost, reduced_cost, selected, group, flips, flip_steps,
    column, column_slots, flip_column, flip_slots, column_dots, flip_dots, control, scalars,
):  # fmt: skip
    """Choose the entering variable and the flips before it."""
    if control[STATUS] != RUNNING:
        return
    made = control[PIVOTS]
    per_block = BLOCK // lanes
    spread = (structurals + per_block - 1) // per_block
    segments = spread + (rows + BLOCK - 1) // BLOCK
    least, square, count = np.inf, 0.0, 0
    for segment in range(segments):
        least = min(least, ratios[segment])
        square += squares[segment]
    if least == np.inf:
        control[STATUS] = NO_PIVOT
        return
    slope = abs(scalars[EXCESS])
    select = max(SELECTION_GROWTH * least, FIRST_SELECTION)
    while True:
        total, length, rest = 0.0, 0, 0
        for segment in range(segments):
            first = (
                segment * per_block
                if segment < spread
                else structurals + (segment - spread) * BLOCK
            )
            for place in range(first, first + counts[segment]):
                j = candidates[place]
                size = abs(alpha_rows[made, j])
                if _distance(status[j], reduced_cost[j]) + scalars[HARRIS] <= select * size:
                    total += size * (upper[j] - lower[j])
                    selected[length] = j
                    group[length] = -1
                    length += 1
                else:
                    rest += 1
        if total >= slope or rest == 0 or length > MOST_FLIPS:
            break
        select *= SELECTION_GROWTH
    best_size, best_index = np.zeros(MOST_GROUPS), np.full(MOST_GROUPS, NONE)
    groups, passed, largest, enough = 0, 0, 0.0, False
    while groups < MOST_GROUPS and passed < length and not enough:
        bound = np.inf
        for place in range(length):
            if group[place] < 0:
                j = selected[place]
                bound = min(
                    bound,
                    (_distance(status[j], reduced_cost[j]) + scalars[HARRIS])
                    / abs(alpha_rows[made, j]),
                )
        change = 0.0
        for place in range(length):
            j = selected[place]
            size = abs(alpha_rows[made, j])
            if group[place] < 0 and _distance(status[j], reduced_cost[j]) <= bound * size:
                group[place] = groups
                passed += 1
                change += size * (upper[j] - lower[j])
                if size > best_size[groups] or (
                    size == best_size[groups] and j < best_index[groups]
                ):
                    best_size[groups], best_index[groups] = size, j
        slope -= change
        largest = max(largest, best_size[groups])
        enough = slope < 0.0 or passed > MOST_FLIPS
        groups += 1
    if not enough and rest == 0 and passed == length and slope > scalars[PRIMAL_TOLERANCE]:
        control[STATUS] = NO_PIVOT
        return
    chosen = groups - 1
    while chosen > 0 and best_size[chosen] <= min(RELATIVE_PIVOT * largest, SUFFICIENT_PIVOT):
        chosen -= 1
    q = best_index[chosen]
    for place in range(length):
        if 0 <= group[place] < chosen:
            j = selected[place]
            step = upper[j] - lower[j] if status[j] == LOWER else lower[j] - upper[j]
            flips[count], flip_steps[count] = j, step
            count += 1
            x[j] = upper[j] if status[j] == LOWER else lower[j]
            status[j] = UPPER if status[j] == LOWER else LOWER
            _load_column(
                j, step, structurals, starts, indices, values, slot_of_row, flip_column, flip_slots
            )
    _load_column(q, 1.0, structurals, starts, indices, values, slot_of_row, column, column_slots)
    for e in range(made):
        column_dots[e] = alpha_rows[e, q]
        total = 0.0
        for f in range(count):
            total += alpha_rows[e, flips[f]] * flip_steps[f]
        flip_dots[e] = total
    pivot = alpha_rows[made, q]
    step = reduced_cost[q] / pivot
    if (step < 0.0) != (scalars[EXCESS] < 0.0) and step != 0.0:  # a cost shift makes it zero
        cost[q] -= reduced_cost[q]
        reduced_cost[q] = 0.0
        step = 0.0
    scalars[DUAL_STEP] = step
    scalars[PIVOT] = pivot
    scalars[ENTERING_VALUE] = x[q]
    norm = dots[most] if steepest == 1 else max(1.0, square + reference[control[LEAVING]])
    scalars[NORM] = norm
    control[RESET] = 1 if steepest == 0 and scalars[WEIGHT] > DEVEX_ERROR * norm else 0
    control[ENTERING] = q
    control[FLIPS] = count
    control[ALL_FLIPS] += count
    control[PIVOTS] = made + 1
    control[ITERATIONS] += 1
