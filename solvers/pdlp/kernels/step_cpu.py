"""Numba twins of ``step.cu``: what an iteration computes, as plain loops.

``steps_fast`` strings whole iterations together without coming back to Python in between, which
for small problems would cost more than the iterations.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import Twin, compiled, twin
from solvers.pdlp.kernels.products_cpu import row_product, slice_product, slice_rows

TAU, SIGMA, REFLECTION, EPOCH_ITERATIONS, STOP = 0, 1, 2, 3, 4


@twin
def primal_step(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    y, x, anchor, cost, lower, upper, metric, reflected, projection, difference, first_difference,
    control, offset, keep,
):  # fmt: skip
    """Advance x (n,) by its half of an iteration."""
    tau, gamma = control[TAU], control[REFLECTION]
    k = control[EPOCH_ITERATIONS] + offset
    weight = (k + 1.0) / (k + 2.0)
    work = slices if control[STOP] == 0.0 else 0
    for at in prange(work):  # an expression here would keep Numba from using threads
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            if height == 1:  # the layout of a CPU, twice as fast when read as what it is
                product = row_product(meta, indices, values, table, at, y)
            else:
                product = slice_product(height, meta, indices, values, table, at, which, y)
            j = first + which
            current = x[j]
            moved = current - tau * metric[j] * (cost[j] - product)
            projected = min(max(moved, lower[j]), upper[j])
            mirrored = 2.0 * projected - current
            reflected[j] = mirrored
            relaxed = gamma * mirrored + (1.0 - gamma) * current
            x[j] = weight * relaxed + (1.0 - weight) * anchor[j]
            if keep & 1:
                first_difference[j] = mirrored - current
            if keep & 2:
                projection[j] = projected
                difference[j] = mirrored - current


@twin
def dual_step(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    reflected, y, anchor, row_lower, row_upper, metric, projection, difference, first_difference,
    control, offset, keep,
):  # fmt: skip
    """Advance y (m,) by its half of an iteration."""
    sigma, gamma = control[SIGMA], control[REFLECTION]
    k = control[EPOCH_ITERATIONS] + offset
    weight = (k + 1.0) / (k + 2.0)
    work = slices if control[STOP] == 0.0 else 0
    for at in prange(work):  # an expression here would keep Numba from using threads
        rows, first = slice_rows(meta, at)
        for which in range(rows):
            if height == 1:
                product = row_product(meta, indices, values, table, at, reflected)
            else:
                product = slice_product(height, meta, indices, values, table, at, which, reflected)
            i = first + which
            current = y[i]
            step = sigma * metric[i]
            moved = current - step * product
            projected = moved - min(max(moved, -step * row_upper[i]), -step * row_lower[i])
            mirrored = 2.0 * projected - current
            relaxed = gamma * mirrored + (1.0 - gamma) * current
            y[i] = weight * relaxed + (1.0 - weight) * anchor[i]
            if keep & 1:
                first_difference[i] = mirrored - current
            if keep & 2:
                projection[i] = projected
                difference[i] = mirrored - current


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
