"""Numba twins of ``decide.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import math

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.pdlp.control import Control, Stop

# Numba takes plain integers for constants.
(
    TAU, SIGMA, REFLECTION, EPOCH_ITERATIONS, STOP, STEP, WEIGHT, ITERATIONS, RESTARTS, CHECKS,
    FIRST_METRIC, PREVIOUS_METRIC, ERROR_SUM, LAST_ERROR, BEST_WEIGHT, BEST_IMBALANCE, BEST_ERROR,
    BEST_OBJECTIVE, RESTART, KEEP_BEST, KEEP_FEASIBLE, PRIMAL_RESIDUAL, DUAL_RESIDUAL,
    PRIMAL_OBJECTIVE, DUAL_OBJECTIVE, PRIMAL_DISTANCE, DUAL_DISTANCE, METRIC_SQUARED,
    PRIMAL_TOLERANCE, DUAL_TOLERANCE, GAP_TOLERANCE, SIDE_NORM, COST_NORM, OFFSET, SUFFICIENT,
    NECESSARY, ARTIFICIAL, PROPORTIONAL, INTEGRAL, DERIVATIVE, INTEGRAL_MEMORY, SHORTEST_DISTANCE,
    LONGEST_DISTANCE, LARGEST_IMBALANCE, STEP_SHRINK,
) = (int(place) for place in Control)  # fmt: skip
STOP_OPTIMAL, STOP_BROKEN = float(Stop.OPTIMAL), float(Stop.BROKEN)


@compiled
def _imbalance(primal, dual):
    """Return the decades between the relative residuals, or -1 when one is exactly zero."""
    if primal <= 0.0 or dual <= 0.0:
        return -1.0
    return abs(math.log10(dual / primal))


@compiled
def _update_weight(control, primal, dual):
    low, high = control[SHORTEST_DISTANCE], control[LONGEST_DISTANCE]
    from_x, from_y = control[PRIMAL_DISTANCE], control[DUAL_DISTANCE]
    telling = low < from_x < high and low < from_y < high
    if not telling or _imbalance(primal, dual) > control[LARGEST_IMBALANCE]:
        control[WEIGHT] = control[BEST_WEIGHT]
        control[ERROR_SUM] = 0.0
        control[LAST_ERROR] = 0.0
        return
    error = math.log(from_y) - math.log(from_x) - math.log(control[WEIGHT])
    control[ERROR_SUM] = control[INTEGRAL_MEMORY] * control[ERROR_SUM] + error
    control[WEIGHT] *= math.exp(
        control[PROPORTIONAL] * error
        + control[INTEGRAL] * control[ERROR_SUM]
        + control[DERIVATIVE] * (error - control[LAST_ERROR])
    )
    control[LAST_ERROR] = error


@compiled
def _restart_is_due(control, metric, iterations):
    first = control[FIRST_METRIC]
    if control[CHECKS] == 1.0 or metric <= control[SUFFICIENT] * first:
        return True
    if metric <= control[NECESSARY] * first and metric > control[PREVIOUS_METRIC]:
        return True
    return iterations >= control[ARTIFICIAL] * control[ITERATIONS]


@compiled
def _metric_squared(control, dx, dy, cross):
    omega = control[WEIGHT]
    return omega * dx + dy / omega + 2.0 * control[STEP] * cross


@compiled
def _measure_into(control, rows, columns):
    """Put the statistics of the check into place; return its relative errors."""
    primal_objective = columns[4] + control[OFFSET]
    dual_objective = rows[1] + columns[1] + control[OFFSET]
    control[PRIMAL_RESIDUAL] = math.sqrt(rows[0])
    control[DUAL_RESIDUAL] = math.sqrt(columns[0])
    control[PRIMAL_OBJECTIVE] = primal_objective
    control[DUAL_OBJECTIVE] = dual_objective
    control[PRIMAL_DISTANCE] = math.sqrt(columns[2])
    control[DUAL_DISTANCE] = math.sqrt(rows[2])
    control[METRIC_SQUARED] = _metric_squared(control, columns[3], rows[3], rows[4])
    gap = abs(primal_objective - dual_objective)
    return (
        control[PRIMAL_RESIDUAL] / (1.0 + control[SIDE_NORM]),
        control[DUAL_RESIDUAL] / (1.0 + control[COST_NORM]),
        gap / (1.0 + abs(primal_objective) + abs(dual_objective)),
    )


@compiled
def _note_best(control, primal, dual, gap):
    worst = max(primal, max(dual, gap))
    if worst < control[BEST_ERROR]:
        control[BEST_ERROR] = worst
        control[KEEP_BEST] = 1.0
    feasible = primal <= control[PRIMAL_TOLERANCE]
    if feasible and control[PRIMAL_OBJECTIVE] < control[BEST_OBJECTIVE]:
        control[BEST_OBJECTIVE] = control[PRIMAL_OBJECTIVE]
        control[KEEP_FEASIBLE] = 1.0
    found = _imbalance(primal, dual)
    if 0.0 <= found < control[BEST_IMBALANCE]:
        control[BEST_IMBALANCE] = found
        control[BEST_WEIGHT] = control[WEIGHT]


@compiled
def _conclude(rows, columns, count, control):
    new_epoch = control[EPOCH_ITERATIONS] == 0.0
    iterations = control[EPOCH_ITERATIONS] + count
    control[ITERATIONS] += count
    control[CHECKS] += 1.0
    if new_epoch:
        square = _metric_squared(control, columns[5], rows[5], rows[6])
        control[FIRST_METRIC] = math.sqrt(square) if square > 0.0 else 0.0
        control[PREVIOUS_METRIC] = np.inf
    primal, dual, gap = _measure_into(control, rows, columns)
    square = control[METRIC_SQUARED]
    control[EPOCH_ITERATIONS] = iterations
    if not math.isfinite(primal + dual + gap + square):
        control[STOP] = STOP_BROKEN
        return
    _note_best(control, primal, dual, gap)
    within = primal <= control[PRIMAL_TOLERANCE] and dual <= control[DUAL_TOLERANCE]
    if within and gap <= control[GAP_TOLERANCE]:
        control[STOP] = STOP_OPTIMAL
        return
    if square < 0.0:
        control[STEP] *= control[STEP_SHRINK]
    metric = math.sqrt(square) if square > 0.0 else 0.0
    restart = _restart_is_due(control, metric, iterations)
    control[PREVIOUS_METRIC] = metric
    if restart:
        _update_weight(control, primal, dual)
        control[EPOCH_ITERATIONS] = 0.0
        control[RESTARTS] += 1.0
        control[RESTART] = 1.0
    control[TAU] = control[STEP] / control[WEIGHT]
    control[SIGMA] = control[STEP] * control[WEIGHT]


@twin
def decide(row_slots, row_partial, column_slots, column_partial, count, control):
    """Draw the conclusions of a check."""
    control[RESTART] = 0.0
    control[KEEP_BEST] = 0.0
    control[KEEP_FEASIBLE] = 0.0
    if control[STOP] == 0.0:
        rows, columns = np.zeros(7), np.zeros(7)
        for slot in range(row_slots):
            rows += row_partial[slot]
        for slot in range(column_slots):
            columns += column_partial[slot]
        _conclude(rows, columns, count, control)


@twin
def settle(
    columns, x, x_anchor, x_projection, best_x, feasible_x,
    rows, y, y_anchor, y_projection, best_y, control,
):  # fmt: skip
    """Move to the projected point on a restart, and keep the best points."""
    restart = control[RESTART] != 0.0
    best = control[KEEP_BEST] != 0.0
    feasible = control[KEEP_FEASIBLE] != 0.0
    if restart or best or feasible:
        for j in prange(columns):
            if restart:
                x[j] = x_projection[j]
                x_anchor[j] = x_projection[j]
            if best:
                best_x[j] = x_projection[j]
            if feasible:
                feasible_x[j] = x_projection[j]
        for i in prange(rows):
            if restart:
                y[i] = y_projection[i]
                y_anchor[i] = y_projection[i]
            if best:
                best_y[i] = y_projection[i]
