"""Numba twins of ``iterate.cu``: what a pivot computes, as plain loops.

``iterations_fast`` strings whole iterations together without coming back to Python in between.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.simplex.paper.kernels.common_cpu import (
    best_of_parts,
    better,
    infeasibility_cost,
    ratio_of,
)
from solvers.simplex.paper.kernels.layout import (
    BATCH_DONE,
    BLAND,
    COSTS_MOVED,
    DEGENERATE,
    DUAL_ERROR,
    DUAL_TOLERANCE,
    ENTERING,
    ENTERING_COST,
    ENTERING_WEIGHT,
    ERROR_ALLOWED,
    INACCURATE,
    ITERATION,
    LEAVING,
    LIMIT,
    NO_CANDIDATE,
    NO_RATIO,
    PHASE,
    PIVOT,
    PRIMAL_TOLERANCE,
    RUNNING,
    SAFE_PIVOT,
    SINCE_INVERSE,
    SLOTS,
    SMALL_PIVOT,
    STEP,
    STOP,
)


@twin
def price(
    columns, lanes, parts, starts, rows, values, cost, y, pivot_row, position, basic_cost, weight,
    reduced, offers, control,
):  # fmt: skip
    """Reduced costs, Devex weights, and the best candidate of each part."""
    if control[STOP] == RUNNING and control[ITERATION] >= control[LIMIT]:
        control[STOP] = BATCH_DONE
    work = parts if control[STOP] == RUNNING else 0
    if work:
        control[COSTS_MOVED] = 0.0
    share = (columns + parts - 1) // parts
    for part in prange(work):
        best_key, best_index, error = 0.0, -1, 0.0
        for j in range(part * share, min(columns, (part + 1) * share)):
            with_y = 0.0
            with_row = 0.0
            for k in range(starts[j], starts[j + 1]):
                with_y += values[k] * y[rows[k]]
                with_row += values[k] * pivot_row[rows[k]]
            place = position[j]
            own_cost = cost[j] if control[PHASE] == 2.0 else 0.0
            if place >= 0:
                own_cost = basic_cost[place]
            s = own_cost - with_y
            reduced[j] = s
            if place >= 0:
                weight[j] = 1.0
                error = max(error, abs(s))
            else:
                weight[j] = max(weight[j], with_row * with_row * control[ENTERING_WEIGHT])
                key = 1.0 if control[BLAND] != 0.0 else s * s / weight[j]
                if s < -control[DUAL_TOLERANCE] and better(key, j, best_key, best_index):
                    best_key, best_index = key, j
        offers[SLOTS * part] = best_key
        offers[SLOTS * part + 1] = best_index
        offers[SLOTS * part + 2] = error


@twin
def direction(
    size, stride, columns, offered, parts, starts, rows, values, inverse, x, basic, reduced,
    weight, offers, d, nearest, control,
):  # fmt: skip
    """Compute d = B^-1 a_q, and the smallest relaxed ratio of each part."""
    work = parts if control[STOP] == RUNNING else 0
    q = -1
    if work:
        place = best_of_parts(offers, offered)
        error = 0.0
        for part in range(offered):
            error = max(error, offers[SLOTS * part + 2])
        control[DUAL_ERROR] = error
        q = int(offers[SLOTS * place + 1]) if place >= 0 else -1
        control[ENTERING] = q
        if q >= 0:
            control[ENTERING_COST] = reduced[q]
            control[ENTERING_WEIGHT] = weight[q]
        if error > control[ERROR_ALLOWED] and control[SINCE_INVERSE] > 0.0:
            control[STOP] = INACCURATE
            work = 0
        elif q < 0:
            control[STOP] = NO_CANDIDATE
            work = 0
    share = (size + parts - 1) // parts
    for part in prange(work):
        low, high = part * share, min(size, (part + 1) * share)
        for i in range(low, high):
            d[i] = 0.0
        for k in range(starts[q], starts[q + 1]):
            column, value = rows[k] * stride, values[k]
            for i in range(low, high):
                d[i] += value * inverse[column + i]
        best_key, best_index = 0.0, -1
        for i in range(low, high):
            _, relaxed = ratio_of(x[i], d[i], basic[i] >= columns, control)
            if relaxed < 1e300 and better(-relaxed, i, best_key, best_index):
                best_key, best_index = -relaxed, i
        nearest[SLOTS * part] = best_key
        nearest[SLOTS * part + 1] = best_index


@twin
def choose(size, columns, parts, x, basic, d, nearest, chosen, control):
    """Choose the leaving position of each part."""
    work = parts if control[STOP] == RUNNING else 0
    farthest = 0.0
    if work:
        place = best_of_parts(nearest, parts)
        if place < 0:
            control[STOP] = NO_RATIO
            work = 0
        else:
            farthest = -nearest[SLOTS * place]
    share = (size + parts - 1) // parts
    for part in prange(work):
        best_key, best_index, best_ratio = 0.0, -1, 0.0
        for i in range(part * share, min(size, (part + 1) * share)):
            exact, _ = ratio_of(x[i], d[i], basic[i] >= columns, control)
            key = float(-basic[i]) if control[BLAND] != 0.0 else abs(d[i])
            if exact <= farthest and better(key, i, best_key, best_index):
                best_key, best_index, best_ratio = key, i, exact
        chosen[SLOTS * part] = best_key
        chosen[SLOTS * part + 1] = best_index
        chosen[SLOTS * part + 2] = best_ratio


@twin
def make_pivot(
    size, stride, columns, parts, inverse, d, cost, chosen, x, basic, position, basic_cost,
    pivot_row, control,
):  # fmt: skip
    """Make the pivot, except for the inverse."""
    work = parts if control[STOP] == RUNNING else 0
    r, theta, pivot = -1, 0.0, 1.0
    if work:
        place = best_of_parts(chosen, parts)
        r, theta = int(chosen[SLOTS * place + 1]), chosen[SLOTS * place + 2]
        pivot = d[r]
        if abs(pivot) < control[SAFE_PIVOT]:
            control[STOP] = SMALL_PIVOT if control[SINCE_INVERSE] == 0.0 else INACCURATE
            work = 0
    q = int(control[ENTERING])
    if work:
        position[basic[r]] = -1
        position[q] = r
        basic[r] = q
        control[LEAVING] = r
        control[STEP] = theta
        control[PIVOT] = pivot
        control[ITERATION] += 1.0
        control[SINCE_INVERSE] += 1.0
        if theta * -control[ENTERING_COST] <= 0.0:
            control[DEGENERATE] += 1.0
    share = (size + parts - 1) // parts
    for part in prange(work):
        for i in range(part * share, min(size, (part + 1) * share)):
            pivot_row[i] = inverse[i * stride + r] / pivot
            if i == r:
                x[i] = theta
                basic_cost[i] = cost[q] if control[PHASE] == 2.0 else 0.0
            else:
                x[i] -= theta * d[i]
                if control[PHASE] != 2.0:
                    c = infeasibility_cost(x[i], basic[i] >= columns, control[PRIMAL_TOLERANCE])
                    if c != basic_cost[i]:
                        control[COSTS_MOVED] = 1.0
                        basic_cost[i] = c


@twin
def update(size, stride, team, d, pivot_row, basic_cost, inverse, y, control):
    """Stream over the inverse, and take y along."""
    work = size if control[STOP] == RUNNING else 0
    r = int(control[LEAVING])
    moved = control[COSTS_MOVED] != 0.0
    for k in prange(work):
        rho = pivot_row[k]
        if rho != 0.0 or moved:
            column = k * stride
            total = 0.0
            for i in range(size):
                element = rho if i == r else inverse[column + i] - rho * d[i]
                inverse[column + i] = element
                total += basic_cost[i] * element
            y[k] = total


_price, _direction, _choose = price.serial, direction.serial, choose.serial
_make_pivot, _update = make_pivot.serial, update.serial


@compiled
def iterations_fast(
    count, size, stride, columns, column_parts, row_parts, starts, rows, values, cost, inverse, x,
    basic, position, basic_cost, y, pivot_row, weight, reduced, d, offers, nearest, chosen, control,
):  # fmt: skip
    """Run up to ``count`` iterations, until control says to stop."""
    for _ in range(count):
        _price(columns, 1, column_parts, starts, rows, values, cost, y, pivot_row, position,
               basic_cost, weight, reduced, offers, control)  # fmt: skip
        _direction(size, stride, columns, column_parts, row_parts, starts, rows, values, inverse, x,
                   basic, reduced, weight, offers, d, nearest, control)  # fmt: skip
        _choose(size, columns, row_parts, x, basic, d, nearest, chosen, control)
        _make_pivot(size, stride, columns, row_parts, inverse, d, cost, chosen, x, basic, position,
              basic_cost, pivot_row, control)  # fmt: skip
        _update(size, stride, 32, d, pivot_row, basic_cost, inverse, y, control)
        if control[STOP] != RUNNING:
            break
