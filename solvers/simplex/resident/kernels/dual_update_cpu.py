"""Numba twins of ``dual_update.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import (
    ALL_FLIPS,
    BLOCK,
    BOUND,
    COST_SHIFT,
    DUAL_STEP,
    ENTERING,
    ENTERING_VALUE,
    ERROR,
    EXCESS,
    FLIPS,
    INACCURATE,
    ITERATIONS,
    LEAST_WEIGHT,
    LEAVING,
    MADE,
    NONE,
    NORM,
    PIVOT,
    PIVOT_ERROR,
    PIVOTS,
    POSITION,
    PRIMAL_TOLERANCE,
    RESET,
    RUNNING,
    STATUS,
    VALUE,
)
from solvers.simplex.resident.kernels.row_cpu import _excess
from solvers.simplex.state import BASIC, LOWER, UPPER


@twin
def update_dual(  # noqa: C901 - one kernel
    rows, structurals, most, steepest, lower, upper, alpha_rows, alpha, beta, tau,
    flips, flip_steps, etas, x_basic, lower_basic, upper_basic, weights, x, cost, reduced_cost,
    basic, status, reference, pivot_log, partial_value, partial_index, control, scalars,
):  # fmt: skip
    """Make a dual pivot."""
    going = control[STATUS] == RUNNING
    made, r = control[MADE], control[POSITION]
    q, leaving = control[ENTERING], control[LEAVING]
    groups = max(1, min(BLOCK, (rows + BLOCK - 1) // BLOCK)) if going else 0
    pivot, by_row = alpha[r], scalars[PIVOT]
    if going:
        smaller = min(abs(pivot), abs(by_row))
        error = abs(pivot - by_row)
        scalars[ERROR] = error
        if not (error <= scalars[PIVOT_ERROR] * smaller):
            control[STATUS] = INACCURATE
            groups = 0
        else:
            pivot_log[made, 0], pivot_log[made, 1], pivot_log[made, 2] = r, leaving, q
            control[PIVOTS] = made + 1
            control[ITERATIONS] += 1
            control[ALL_FLIPS] += control[FLIPS]
            cost[q] -= scalars[COST_SHIFT]
            for f in range(control[FLIPS]):
                j, up = flips[f], flip_steps[f] > 0.0
                x[j] = upper[j] if up else lower[j]
                status[j] = UPPER if up else LOWER
    step = (scalars[VALUE] - beta[r] - scalars[BOUND]) / pivot if groups > 0 else 0.0
    dual_step, norm = scalars[DUAL_STEP], scalars[NORM]
    reset = control[RESET] == 1
    for group in prange(groups):
        best, place = 0.0, NONE
        for first in range(group * BLOCK, rows, groups * BLOCK):
            for p in range(first, min(first + BLOCK, rows)):
                share = alpha[p] / pivot
                if p == r:
                    x_basic[p] = scalars[ENTERING_VALUE] + step
                    lower_basic[p], upper_basic[p] = lower[q], upper[q]
                    basic[p] = q
                    etas[p, made] = 1.0 / pivot - 1.0
                    weight = norm / (pivot * pivot)
                    weight = max(weight, LEAST_WEIGHT if steepest == 1 else 1.0)
                else:
                    x_basic[p] = x_basic[p] - beta[p] - step * alpha[p]
                    etas[p, made] = -share
                    if steepest == 1:
                        weight = weights[p] + share * (share * norm - 2.0 * tau[p])
                        weight = max(weight, LEAST_WEIGHT)
                    else:
                        weight = max(weights[p], share * share * norm)
                weights[p] = 1.0 if reset else weight
                excess = _excess(
                    x_basic[p], lower_basic[p], upper_basic[p], scalars[PRIMAL_TOLERANCE]
                )
                merit = excess * excess / weights[p]
                if merit > best:
                    best, place = merit, p
        partial_value[group] = best
        partial_index[group] = place
    count = rows + structurals if groups > 0 else 0
    for j in prange(count):
        if j == q:
            reduced_cost[j] = 0.0
            status[j] = BASIC
        elif j == leaving:
            reduced_cost[j] = -dual_step
            below = scalars[EXCESS] < 0.0 or lower[j] == upper[j]
            status[j] = LOWER if below else UPPER
            x[j] = scalars[BOUND]
        elif status[j] != BASIC:
            reduced_cost[j] -= dual_step * alpha_rows[made, j]
        if reset:
            reference[j] = 1 if status[j] == BASIC else 0
