"""Steps that the dual and the primal method share, in the twin: flips, pivots, perturbations."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    BASIC,
    COST,
    COST_SIZE,
    HIGH,
    LOW,
    LOWER,
    PERTURBATION,
    PERTURBED,
    POINT,
    REDUCED,
    UPPER,
    VALUE,
    ZERO,
)
from solvers.simplex.batch.kernels.dictionary_cpu import exchange

inlined = numba.njit(inline="always")


@compiled
def spread(v, turn):
    """Return a number from [0.5, 1) that belongs to a variable, another one at each turn."""
    mixed = (np.uint32(v) + np.uint32(1)) * np.uint32(2654435761)
    mixed = np.uint32(mixed ^ (np.uint32(turn) * np.uint32(2246822519)))
    mixed = np.uint32(mixed ^ (mixed >> np.uint32(15)))
    mixed = np.uint32(mixed * np.uint32(3266489917))
    return 0.5 + 0.5 * (np.uint32(mixed) / 4294967296.0)


@compiled
def flip(D, by_row, by_column, work, nonbasic, status, j):
    """Move a nonbasic variable to its other bound."""
    v = nonbasic[j]
    to_high = status[v] == LOWER
    target = work[HIGH, v] if to_high else work[LOW, v]
    change = target - by_column[POINT, j]
    status[v] = UPPER if to_high else LOWER
    by_column[POINT, j] = target
    for i in range(D.shape[0]):
        by_row[VALUE, i] += D[i, j] * change


@inlined
def advance(D, by_row, by_column, basic, nonbasic, status, p, q, step, target, to_low, weigh):
    """Move along column q by ``step`` until the basic variable at p is at ``target``; pivot."""
    for i in range(D.shape[0]):
        by_row[VALUE, i] += D[i, q] * step
    by_row[VALUE, p] = by_column[POINT, q] + step
    by_column[POINT, q] = target
    status[nonbasic[q]] = BASIC
    status[basic[p]] = LOWER if to_low else UPPER
    exchange(D, by_row, by_column, basic, nonbasic, p, q, weigh)


@compiled
def perturb_costs(by_column, work, nonbasic, status, limits, counts, parameters):
    """Move reduced costs away from zero, into the side where they are dual feasible."""
    counts[PERTURBED] += 1
    size = parameters[PERTURBATION] * limits[COST_SIZE] * counts[PERTURBED]
    for j in range(nonbasic.size):
        v = nonbasic[j]
        if work[LOW, v] == work[HIGH, v] or status[v] == ZERO:
            continue
        change = size * spread(v, counts[PERTURBED])
        if status[v] == UPPER:
            change = -change
        by_column[REDUCED, j] += change
        work[COST, v] += change


@compiled
def perturb_bounds(by_row, work, basic, limits, counts, parameters):
    """Move the bounds of basic variables outwards."""
    counts[PERTURBED] += 1
    size = parameters[PERTURBATION] * counts[PERTURBED]
    for i in range(basic.size):
        v = basic[i]
        change = size * spread(v, counts[PERTURBED])
        work[LOW, v] -= change * (1.0 + abs(by_row[VALUE, i]))
        work[HIGH, v] += change * (1.0 + abs(by_row[VALUE, i]))
