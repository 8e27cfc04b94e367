"""Numba twins of ``row.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    BLOCK,
    BOUND,
    DONE,
    EXCESS,
    FLIP_ONLY,
    FOLD,
    HARRIS,
    ITERATIONS,
    LEAVING,
    LIMIT,
    NONE,
    OUT_OF_PIVOTS,
    PIVOTS,
    POSITION,
    PRIMAL_TOLERANCE,
    RUNNING,
    SEGMENT,
    SMALL_PIVOT,
    STATUS,
    VALUE,
    WEIGHT,
)
from solvers.simplex.state import BASIC, LOWER, UPPER


@numba.njit(inline="always")
def _excess(x, lower, upper, tolerance):
    """Return how far a value is beyond its bounds: negative below, zero within the tolerance."""
    if x < lower - tolerance:
        return x - lower
    if x > upper + tolerance:
        return x - upper
    return 0.0


@twin
def choose_row(
    rows, x_basic, lower_basic, upper_basic, weights, scalars, partial_value, partial_index
):
    """Leave the best position of each block."""
    tolerance = scalars[PRIMAL_TOLERANCE]
    groups = max(1, min(BLOCK, (rows + BLOCK - 1) // BLOCK))
    for group in prange(groups):
        best, place = 0.0, NONE
        for first in range(group * BLOCK, rows, groups * BLOCK):
            for p in range(first, min(first + BLOCK, rows)):
                excess = _excess(x_basic[p], lower_basic[p], upper_basic[p], tolerance)
                merit = excess * excess / weights[p]
                if merit > best:
                    best, place = merit, p
        partial_value[group] = best
        partial_index[group] = place


@twin
def pivot_row(
    rows, capacity, most, groups, inverse, unit_row, slot_of_row, basic, etas,
    x_basic, lower_basic, upper_basic, weights, partial_value, partial_index,
    eta_rows, row_slots, control, scalars,
):  # fmt: skip
    """Find the leaving position and its row of the inverse."""
    going = control[STATUS] == RUNNING and (groups > 0 or control[FLIP_ONLY] == 0)
    made = control[PIVOTS] - (1 if groups == 0 else 0)
    if going and groups > 0:
        if made >= most or control[ITERATIONS] >= control[LIMIT]:
            control[STATUS] = FOLD if made >= most else OUT_OF_PIVOTS
            going = False
        else:
            best, place = 0.0, NONE
            for group in range(groups):
                value, index = partial_value[group], partial_index[group]
                if value > best or (value == best and index < place):
                    best, place = value, index
            going = place != NONE
            if going:
                x = x_basic[place]
                excess = _excess(
                    x, lower_basic[place], upper_basic[place], scalars[PRIMAL_TOLERANCE]
                )
                control[POSITION] = place
                control[LEAVING] = basic[place]
                scalars[VALUE] = x
                scalars[EXCESS] = excess
                scalars[BOUND] = lower_basic[place] if excess < 0.0 else upper_basic[place]
                scalars[WEIGHT] = weights[place]
            else:
                control[STATUS] = DONE
    position = control[POSITION]
    count = rows if going else 0
    for i in prange(count):
        slot = slot_of_row[i]
        unit = -1.0 if unit_row[position] == i else 0.0
        value = inverse[position, slot] if slot >= 0 else unit
        for j in range(made):
            value += etas[position, j] * eta_rows[j, i]
        eta_rows[made, i] = value
        if slot >= 0:
            row_slots[slot] = value


@numba.njit(inline="always")
def _distance(status, reduced_cost):
    """Return how far a reduced cost is from the sign it must not take."""
    if status == LOWER:
        return max(reduced_cost, 0.0)
    if status == UPPER:
        return max(-reduced_cost, 0.0)
    return abs(reduced_cost)


@twin
def price_row(  # noqa: C901 - one kernel
    rows, structurals, most, lanes, full, dual, steepest, starts, indices, values, eta_rows,
    status, reference, lower, upper, reduced_cost, control, scalars,
    alpha_rows, ratios, least, counts, squares, dots,
):  # fmt: skip
    """Multiply the pivot row with every column; find the candidates for entering."""
    going = control[STATUS] == RUNNING and (dual == 1 or control[FLIP_ONLY] == 0)
    made = control[PIVOTS] - (1 if dual == 0 else 0)
    leaving = control[LEAVING]
    side = -1.0 if scalars[EXCESS] < 0.0 else 1.0
    smallest, relax = scalars[SMALL_PIVOT], scalars[HARRIS]
    per_block, width = BLOCK // lanes, min(SEGMENT, BLOCK // lanes)
    spread = (structurals + per_block - 1) // per_block
    blocks = spread + (rows + BLOCK - 1) // BLOCK if going else 0
    for block in prange(blocks):
        if block < spread:
            first = block * per_block
            end, segment = min(first + per_block, structurals), first // width
            whole = per_block
        else:
            first = structurals + (block - spread) * BLOCK
            end = min(first + BLOCK, structurals + rows)
            segment = (spread * per_block + (block - spread) * BLOCK) // width
            whole = BLOCK
        if dual == 1:
            for s in range(segment, segment + whole // width):
                least[s], counts[s] = np.inf, 0
        square = 0.0
        for j in range(first, end):
            kind = status[j]
            alpha = 0.0
            if kind == BASIC:
                alpha = 1.0 if j == leaving else 0.0
            elif j < structurals:
                for k in range(starts[j], starts[j + 1]):
                    alpha += values[k] * eta_rows[made, indices[k]]
            else:
                alpha = -eta_rows[made, j - structurals]
            alpha_rows[made, j] = alpha
            if dual == 0:
                continue
            ratios[j] = np.inf
            if kind == BASIC:
                continue
            if reference[j] != 0:
                square += alpha * alpha
            signed = side * alpha
            right = signed > 0.0 if kind == LOWER else (signed < 0.0 if kind == UPPER else True)
            if abs(alpha) > smallest and lower[j] < upper[j] and right:
                ratio = (_distance(kind, reduced_cost[j]) + relax) / abs(alpha)
                s = segment + (j - first) // width
                ratios[j] = ratio
                least[s] = min(least[s], ratio)
                counts[s] += 1
        if dual == 1 and steepest == 0:
            squares[block] = square
    if going and steepest == 1:
        for e in range(made + 1):
            total = 0.0
            for i in range(rows):
                total += eta_rows[e, i] * eta_rows[made, i]
            dots[e if e < made else most] = total
