"""Numba twins of ``check.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.pdlp.control import Stop
from solvers.pdlp.together.control import Field
from solvers.pdlp.together.kernels.step_cpu import add_products, unit_rows

# Numba takes plain integers for constants.
(
    TAU, SIGMA, EPOCH_ITERATIONS, STOP, STEP, WEIGHT, ITERATIONS, RESTARTS, CHECKS, FIRST_METRIC,
    PREVIOUS_METRIC, BEST_WEIGHT, BEST_IMBALANCE, BEST_ERROR, RESTART, KEEP_BEST, PRIMAL_RESIDUAL,
    DUAL_RESIDUAL, PRIMAL_OBJECTIVE, DUAL_OBJECTIVE, PRIMAL_DISTANCE, DUAL_DISTANCE, TOLERANCE,
    SIDE_NORM, COST_NORM, SUFFICIENT, NECESSARY, ARTIFICIAL, PROPORTIONAL,
) = (int(field) for field in Field)  # fmt: skip
STOP_OPTIMAL, STOP_BROKEN = float(Stop.OPTIMAL), float(Stop.BROKEN)

SHORTEST_DISTANCE, LONGEST_DISTANCE, LARGEST_IMBALANCE = 1e-16, 1e12, 8.0


@compiled
def _support(multiplier, low, high):
    if multiplier > 0.0:
        return multiplier * low
    if multiplier < 0.0:
        return multiplier * high
    return 0.0


@twin
def measure_rows(
    units, unit_table, starts, indices, values, width,
    x_projection, projection, difference, first_difference, anchor, row_lower, row_upper,
    metric, control, slots, partial,
):  # fmt: skip
    """Add the terms of all rows up, problem by problem."""
    for slot in prange(slots):
        products = np.empty(width)
        sums = np.zeros((6, width))
        for unit in range(slot, units, slots):
            first, end = unit_rows(unit_table, unit)
            for row in range(first, end):
                add_products(starts, indices, values, width, row, x_projection, products)
                scale = metric[row]
                for problem in range(width):
                    at = row * width + problem
                    activity = products[problem]
                    low, high = row_lower[at], row_upper[at]
                    residual = activity - min(max(activity, low), high)
                    distance = projection[at] - anchor[at]
                    sums[0, problem] += residual * residual
                    sums[1, problem] += _support(projection[at], low, high)
                    sums[2, problem] += distance * distance / scale
                    sums[3, problem] += difference[at] * difference[at] / scale
                    sums[4, problem] += first_difference[at] * first_difference[at] / scale
        for s in range(6):
            for problem in range(width):
                partial[slot, s, problem] = sums[s, problem]


@twin
def measure_columns(
    units, unit_table, starts, indices, values, width,
    y_projection, projection, difference, first_difference, anchor, cost, lower, upper,
    metric, control, slots, partial,
):  # fmt: skip
    """Add the terms of all columns up, problem by problem."""
    for slot in prange(slots):
        products = np.empty(width)
        sums = np.zeros((6, width))
        for unit in range(slot, units, slots):
            first, end = unit_rows(unit_table, unit)
            for row in range(first, end):
                add_products(starts, indices, values, width, row, y_projection, products)
                scale = metric[row]
                for problem in range(width):
                    at = row * width + problem
                    reduced = cost[at] - products[problem]
                    side = lower[at] if reduced > 0.0 else upper[at]
                    supported = reduced if math.isfinite(side) else 0.0
                    residual = reduced - supported
                    distance = projection[at] - anchor[at]
                    sums[0, problem] += residual * residual
                    sums[1, problem] += _support(supported, lower[at], upper[at])
                    sums[2, problem] += distance * distance / scale
                    sums[3, problem] += difference[at] * difference[at] / scale
                    sums[4, problem] += first_difference[at] * first_difference[at] / scale
                    sums[5, problem] += cost[at] * projection[at]
        for s in range(6):
            for problem in range(width):
                partial[slot, s, problem] = sums[s, problem]


@compiled
def _imbalance(primal, dual):
    if primal <= 0.0 or dual <= 0.0:
        return -1.0
    return abs(math.log10(dual / primal))


@compiled
def _update_weight(control, problem, primal, dual):
    from_x, from_y = control[PRIMAL_DISTANCE, problem], control[DUAL_DISTANCE, problem]
    telling = SHORTEST_DISTANCE < from_x < LONGEST_DISTANCE
    telling = telling and SHORTEST_DISTANCE < from_y < LONGEST_DISTANCE
    if not telling or _imbalance(primal, dual) > LARGEST_IMBALANCE:
        control[WEIGHT, problem] = control[BEST_WEIGHT, problem]
        return
    error = math.log(from_y) - math.log(from_x) - math.log(control[WEIGHT, problem])
    control[WEIGHT, problem] *= math.exp(control[PROPORTIONAL, problem] * error)


@compiled
def _restart_is_due(control, problem, metric, iterations):
    first = control[FIRST_METRIC, problem]
    if control[CHECKS, problem] == 1.0 or metric <= control[SUFFICIENT, problem] * first:
        return True
    grows = metric > control[PREVIOUS_METRIC, problem]
    if metric <= control[NECESSARY, problem] * first and grows:
        return True
    return iterations >= control[ARTIFICIAL, problem] * control[ITERATIONS, problem]


@compiled
def _measure_into(control, problem, rows, columns):
    """Put the statistics of the check into place; return its relative errors."""
    primal_objective, dual_objective = columns[5], rows[1] + columns[1]
    control[PRIMAL_RESIDUAL, problem] = math.sqrt(rows[0])
    control[DUAL_RESIDUAL, problem] = math.sqrt(columns[0])
    control[PRIMAL_OBJECTIVE, problem] = primal_objective
    control[DUAL_OBJECTIVE, problem] = dual_objective
    control[PRIMAL_DISTANCE, problem] = math.sqrt(columns[2])
    control[DUAL_DISTANCE, problem] = math.sqrt(rows[2])
    gap = abs(primal_objective - dual_objective)
    return (
        control[PRIMAL_RESIDUAL, problem] / (1.0 + control[SIDE_NORM, problem]),
        control[DUAL_RESIDUAL, problem] / (1.0 + control[COST_NORM, problem]),
        gap / (1.0 + abs(primal_objective) + abs(dual_objective)),
    )


@compiled
def _conclude(rows, columns, count, problem, control):
    iterations = control[EPOCH_ITERATIONS, problem] + count
    weight = control[WEIGHT, problem]
    control[ITERATIONS, problem] += count
    control[CHECKS, problem] += 1.0
    if control[EPOCH_ITERATIONS, problem] == 0.0:
        control[FIRST_METRIC, problem] = math.sqrt(weight * columns[4] + rows[4] / weight)
        control[PREVIOUS_METRIC, problem] = np.inf
    metric = math.sqrt(weight * columns[3] + rows[3] / weight)
    primal, dual, gap = _measure_into(control, problem, rows, columns)
    control[EPOCH_ITERATIONS, problem] = iterations
    if not math.isfinite(primal + dual + gap + metric):
        control[STOP, problem] = STOP_BROKEN
        return
    worst = max(primal, max(dual, gap))
    optimal = worst <= control[TOLERANCE, problem]
    if optimal or worst < control[BEST_ERROR, problem]:
        control[BEST_ERROR, problem] = worst
        control[KEEP_BEST, problem] = 1.0
    found = _imbalance(primal, dual)
    if 0.0 <= found < control[BEST_IMBALANCE, problem]:
        control[BEST_IMBALANCE, problem] = found
        control[BEST_WEIGHT, problem] = weight
    if optimal:
        control[STOP, problem] = STOP_OPTIMAL
        return
    restart = _restart_is_due(control, problem, metric, iterations)
    control[PREVIOUS_METRIC, problem] = metric
    if restart:
        _update_weight(control, problem, primal, dual)
        control[EPOCH_ITERATIONS, problem] = 0.0
        control[RESTARTS, problem] += 1.0
        control[RESTART, problem] = 1.0
    control[TAU, problem] = control[STEP, problem] / control[WEIGHT, problem]
    control[SIGMA, problem] = control[STEP, problem] * control[WEIGHT, problem]


@twin
def decide(row_slots, row_partial, column_slots, column_partial, width, count, control):
    """Draw every problem's conclusions."""
    for problem in prange(width):
        control[RESTART, problem] = 0.0
        control[KEEP_BEST, problem] = 0.0
        if control[STOP, problem] == 0.0:
            rows, columns = np.zeros(6), np.zeros(6)
            for slot in range(row_slots):
                for s in range(6):
                    rows[s] += row_partial[slot, s, problem]
            for slot in range(column_slots):
                for s in range(6):
                    columns[s] += column_partial[slot, s, problem]
            _conclude(rows, columns, count, problem, control)


@twin
def settle(
    width, columns, x, x_anchor, x_projection, best_x,
    rows, y, y_anchor, y_projection, best_y, control,
):  # fmt: skip
    """Move to the projected points on restarts, and keep the best ones."""
    for j in prange(columns):
        for problem in range(width):
            at = j * width + problem
            if control[RESTART, problem] != 0.0:
                x[at] = x_projection[at]
                x_anchor[at] = x_projection[at]
            if control[KEEP_BEST, problem] != 0.0:
                best_x[at] = x_projection[at]
    for i in prange(rows):
        for problem in range(width):
            at = i * width + problem
            if control[RESTART, problem] != 0.0:
                y[at] = y_projection[at]
                y_anchor[at] = y_projection[at]
            if control[KEEP_BEST, problem] != 0.0:
                best_y[at] = y_projection[at]
