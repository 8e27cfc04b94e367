"""Numba twins of ``step.cu``.

``steps_fast`` strings whole iterations together without coming back to Python in between.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange, types

from solvers.kernels.twin import Twin, compiled, twin
from solvers.pdlp.together.control import Field

TAU, SIGMA, STOP = int(Field.TAU), int(Field.SIGMA), int(Field.STOP)
EPOCH_ITERATIONS = int(Field.EPOCH_ITERATIONS)

# Numba tests signed indices for wrap-around, which makes a product twice as slow.
_unsigned = types.uint64


@compiled
def add_products(starts, indices, values, width, row, vector, products):
    """Leave the products of a row with all problems' vectors in ``products`` (width,)."""
    for problem in range(_unsigned(width)):
        products[problem] = 0.0
    for entry in range(_unsigned(starts[row]), _unsigned(starts[row + 1])):
        value = values[entry]
        first = _unsigned(indices[entry]) * _unsigned(width)
        for problem in range(_unsigned(width)):
            products[problem] += value * vector[first + problem]


@compiled
def unit_rows(unit_table, unit):
    """Return the first row of a unit and the one behind its last; a row in parts is the first's."""
    first = unit_table[unit, 0]
    if unit_table[unit, 2] > 0:
        return first, first
    return first, first + max(unit_table[unit, 1], 1)


@twin
def primal_step(
    units, unit_table, starts, indices, values, width, partials, tickets,
    y, x, anchor, cost, lower, upper, metric, reflected, projection, difference, first_difference,
    control, offset, keep,
):  # fmt: skip
    """Advance every x (n, width) by its half of an iteration."""
    for unit in prange(units):
        products = np.empty(width)
        first, end = unit_rows(unit_table, unit)
        for row in range(first, end):
            add_products(starts, indices, values, width, row, y, products)
            for problem in range(width):
                if control[STOP, problem] != 0.0:
                    continue
                k = control[EPOCH_ITERATIONS, problem] + offset
                weight = (k + 1.0) / (k + 2.0)
                at = _unsigned(row * width + problem)
                current = x[at]
                step = control[TAU, problem] * metric[row]
                moved = current - step * (cost[at] - products[problem])
                projected = min(max(moved, lower[at]), upper[at])
                mirrored = 2.0 * projected - current
                reflected[at] = mirrored
                x[at] = weight * mirrored + (1.0 - weight) * anchor[at]
                if keep & 1:
                    first_difference[at] = mirrored - current
                if keep & 2:
                    projection[at] = projected
                    difference[at] = mirrored - current


@twin
def dual_step(
    units, unit_table, starts, indices, values, width, partials, tickets,
    reflected, y, anchor, row_lower, row_upper, metric, projection, difference, first_difference,
    control, offset, keep,
):  # fmt: skip
    """Advance every y (m, width) by its half of an iteration."""
    for unit in prange(units):
        products = np.empty(width)
        first, end = unit_rows(unit_table, unit)
        for row in range(first, end):
            add_products(starts, indices, values, width, row, reflected, products)
            for problem in range(width):
                if control[STOP, problem] != 0.0:
                    continue
                k = control[EPOCH_ITERATIONS, problem] + offset
                weight = (k + 1.0) / (k + 2.0)
                at = _unsigned(row * width + problem)
                current = y[at]
                step = control[SIGMA, problem] * metric[row]
                moved = current - step * products[problem]
                low, high = -step * row_upper[at], -step * row_lower[at]
                projected = moved - min(max(moved, low), high)
                mirrored = 2.0 * projected - current
                y[at] = weight * mirrored + (1.0 - weight) * anchor[at]
                if keep & 1:
                    first_difference[at] = mirrored - current
                if keep & 2:
                    projection[at] = projected
                    difference[at] = mirrored - current


_primal_serial, _primal_parallel = primal_step.serial, primal_step.parallel
_dual_serial, _dual_parallel = dual_step.serial, dual_step.parallel


@compiled
def _steps_serial(first, count, primal, dual):
    for offset in range(first, first + count):
        _primal_serial(*primal, offset, 0)
        _dual_serial(*dual, offset, 0)


@compiled
def _steps_parallel(first, count, primal, dual):
    for offset in range(first, first + count):
        _primal_parallel(*primal, offset, 0)
        _dual_parallel(*dual, offset, 0)


steps_fast = Twin(_steps_serial, _steps_parallel)
"""``steps_fast(first, count, primal, dual)``: iterations ``first`` to ``first + count`` of a
window, from the arguments of both steps up to ``control``."""
