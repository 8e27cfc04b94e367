"""Numba twins of ``refresh.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import DUAL_TOLERANCE
from solvers.simplex.state import BASIC, LOWER, UPPER


@twin
def row_residual(rows, structurals, lanes, starts, indices, values, x, residual):
    """Compute r = A x - s."""
    for i in prange(rows):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[indices[k]]
        residual[i] = total - x[structurals + i]


@twin
def apply_inverse(rows, capacity, slots, inverse, unit_row, row_of_slot, right, result):
    """Compute v = B^-1 r."""
    for p in prange(rows):
        total = 0.0
        for s in range(slots):
            total += inverse[p, s] * right[row_of_slot[s]]
        if unit_row[p] >= 0:
            total -= right[unit_row[p]]
        result[p] = total


@twin
def correct_basics(rows, basic, lower, upper, change, x, x_basic, lower_basic, upper_basic):
    """Take a change off the basic values."""
    for p in prange(rows):
        j = basic[p]
        x[j] -= change[p]
        x_basic[p] = x[j]
        lower_basic[p] = lower[j]
        upper_basic[p] = upper[j]


@twin
def spread_basics(rows, basic, x_basic, x):
    """Copy basic values to where all variables are."""
    for p in prange(rows):
        x[basic[p]] = x_basic[p]


@twin
def gather_basics(rows, basic, vector, by_position):
    """Copy the elements of basic variables."""
    for p in prange(rows):
        by_position[p] = vector[basic[p]]


@twin
def place_dual(rows, slot_of_row, unit_position, product, by_position, dual):
    """Add B^-T v to a dual vector."""
    for i in prange(rows):
        slot = slot_of_row[i]
        dual[i] += product[slot] if slot >= 0 else -by_position[unit_position[i]]


@twin
def reduced_costs(
    rows, structurals, lanes, starts, indices, values, cost, dual, reduced_cost
):  # fmt: skip
    """Compute d = c - [A -I]'y."""
    variables = rows + structurals
    for j in prange(variables):
        if j < structurals:
            total = 0.0
            for k in range(starts[j], starts[j + 1]):
                total += values[k] * dual[indices[k]]
            reduced_cost[j] = cost[j] - total
        else:
            reduced_cost[j] = cost[j] + dual[j - structurals]


@twin
def settle_duals(variables, repair, status, lower, upper, x, cost, reduced_cost, scalars):
    """Make reduced costs have the signs that statuses ask for."""
    tolerance = scalars[DUAL_TOLERANCE]
    for j in prange(variables):
        kind, d = status[j], reduced_cost[j]
        if kind == BASIC:
            reduced_cost[j] = 0.0
        elif repair == 1 and lower[j] < upper[j]:
            too_low = d < -tolerance and kind != UPPER
            too_high = d > tolerance and kind != LOWER
            if too_low and kind == LOWER and upper[j] < np.inf:
                status[j] = UPPER
                x[j] = upper[j]
            elif too_high and kind == UPPER and lower[j] > -np.inf:
                status[j] = LOWER
                x[j] = lower[j]
            elif too_low or too_high:
                cost[j] -= d
                reduced_cost[j] = 0.0


@twin
def largest(count, place, vector, scalars):
    """Find the largest magnitude of a vector."""
    best = 0.0
    for i in range(count):
        size = abs(vector[i])
        if not (size <= best):
            best = size if size == size else np.inf
    scalars[place] = best
