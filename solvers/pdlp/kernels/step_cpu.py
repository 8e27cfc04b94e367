"""Numba twins of ``step.cu``: what an iteration computes, as plain loops.

``steps_fast`` strings whole iterations together without coming back to Python in between, which
for small problems would cost more than the iterations.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import Twin, compiled, twin


@twin
def primal_step(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    y, x, anchor, cost, lower, upper, reflected, projection, difference, control, offset, keep,
):  # fmt: skip
    """Advance x (n,) by its half of an iteration."""
    tau, gamma = control[0], control[2]
    k = control[3] + offset
    weight = (k + 1.0) / (k + 2.0)
    for j in prange(rows):
        product = 0.0
        for entry in range(starts[j], starts[j + 1]):
            product += values[entry] * y[indices[entry]]
        current = x[j]
        projected = min(max(current - tau * (cost[j] - product), lower[j]), upper[j])
        mirrored = 2.0 * projected - current
        reflected[j] = mirrored
        relaxed = gamma * mirrored + (1.0 - gamma) * current
        x[j] = weight * relaxed + (1.0 - weight) * anchor[j]
        if keep:
            projection[j] = projected
            difference[j] = mirrored - current


@twin
def dual_step(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    reflected, y, anchor, row_lower, row_upper, projection, difference, control, offset, keep,
):  # fmt: skip
    """Advance y (m,) by its half of an iteration."""
    sigma, gamma = control[1], control[2]
    k = control[3] + offset
    weight = (k + 1.0) / (k + 2.0)
    for i in prange(rows):
        product = 0.0
        for entry in range(starts[i], starts[i + 1]):
            product += values[entry] * reflected[indices[entry]]
        current = y[i]
        free_step = current - sigma * product
        projected = free_step - min(max(free_step, -sigma * row_upper[i]), -sigma * row_lower[i])
        mirrored = 2.0 * projected - current
        relaxed = gamma * mirrored + (1.0 - gamma) * current
        y[i] = weight * relaxed + (1.0 - weight) * anchor[i]
        if keep:
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
