"""Numba twins of ``iteration.cu``; a slot holds an even share of the rows or of B's blocks."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.linalg.kernels.layout import (
    ALPHA,
    BETA,
    BREAKDOWN,
    CONVERGED,
    FRESH,
    ITERATIONS,
    LIMIT,
    OUT_OF_ITERATIONS,
    RR,
    RUNNING,
    RZ,
    STOP,
    TARGET,
)


@compiled
def _judge(control, gamma, rr):
    """Return what the new residual means."""
    if not (np.isfinite(rr) and np.isfinite(gamma)):
        return BREAKDOWN
    if rr <= control[TARGET]:
        return CONVERGED
    if control[ITERATIONS] >= control[LIMIT]:
        return OUT_OF_ITERATIONS
    return RUNNING if gamma > 0.0 else BREAKDOWN


@compiled
def _block_product(i, rows, block_size, inverse, r):
    """Return element i of B's diagonal blocks times r."""
    first = i // block_size * block_size
    total = 0.0
    for k in range(min(block_size, rows - first)):
        total += inverse[(first + k) * block_size + i - first] * r[first + k]
    return total


@twin
def columns_step(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    weight, u, p, with_p, control, q,
):  # fmt: skip
    """Combine the rows of A with the new direction's multipliers."""
    if control[STOP] != 0.0:
        return
    beta = control[BETA]
    for j in prange(rows):
        total = 0.0
        for k in range(starts[j], starts[j + 1]):
            i = indices[k]
            total += values[k] * (u[i] + beta * p[i] if with_p else u[i])
        q[j] = weight[j] * total


@twin
def product_single(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    gathered, u, r, w, slots, partial, ticket, control,
):  # fmt: skip
    """Multiply, and find the step sizes."""
    if control[STOP] != 0.0:
        return
    for slot in prange(slots):
        ru, uw, rr = 0.0, 0.0, 0.0
        for i in range(slot * rows // slots, (slot + 1) * rows // slots):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * gathered[indices[k]]
            w[i] = total
            ru += r[i] * u[i]
            uw += u[i] * total
            rr += r[i] * r[i]
        partial[slot * 3], partial[slot * 3 + 1], partial[slot * 3 + 2] = ru, uw, rr
    gamma, delta, squared = 0.0, 0.0, 0.0
    for slot in range(slots):
        gamma += partial[slot * 3]
        delta += partial[slot * 3 + 1]
        squared += partial[slot * 3 + 2]
    stop = _judge(control, gamma, squared)
    control[RR] = squared
    if stop == RUNNING:
        fresh = control[FRESH] != 0.0
        beta = 0.0 if fresh else gamma / control[RZ]
        curvature = delta if fresh else delta - beta * gamma / control[ALPHA]
        if curvature > 0.0 and np.isfinite(curvature):
            control[BETA] = beta
            control[ALPHA] = gamma / curvature
            control[RZ] = gamma
            control[ITERATIONS] += 1.0
            control[FRESH] = 0.0
        else:
            stop = BREAKDOWN
    control[STOP] = stop


@twin
def update_single(rows, block_size, inverse, w, p, s, x, r, u, control):
    """Take the step and precondition the new residual."""
    if control[STOP] != 0.0:
        return
    alpha, beta = control[ALPHA], control[BETA]
    for block in prange((rows + block_size - 1) // block_size):
        first = block * block_size
        end = min(first + block_size, rows)
        for i in range(first, end):
            p[i] = u[i] + beta * p[i]
            s[i] = w[i] + beta * s[i]
            x[i] += alpha * p[i]
            r[i] -= alpha * s[i]
        for i in range(first, end):
            u[i] = _block_product(i, rows, block_size, inverse, r)


@twin
def product_classic(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    gathered, direct, u, p, p_next, s, slots, partial, ticket, control,
):  # fmt: skip
    """Make the new direction and its product, and find the step size."""
    if control[STOP] != 0.0:
        return
    beta = control[BETA]
    for slot in prange(slots):
        ps = 0.0
        for i in range(slot * rows // slots, (slot + 1) * rows // slots):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                j = indices[k]
                total += values[k] * (u[j] + beta * p[j] if direct else gathered[j])
            p_next[i] = u[i] + beta * p[i]
            s[i] = total
            ps += p_next[i] * total
        partial[slot] = ps
    curvature = 0.0
    for slot in range(slots):
        curvature += partial[slot]
    if curvature > 0.0 and np.isfinite(curvature):
        control[ALPHA] = control[RZ] / curvature
        control[ITERATIONS] += 1.0
    else:
        control[STOP] = BREAKDOWN


@twin
def update_classic(
    rows, block_size, inverse, p, s, x, r, u, slots, partial, ticket, control,
):  # fmt: skip
    """Take the step, precondition the new residual and find the next direction's share."""
    if control[STOP] != 0.0:
        return
    alpha = control[ALPHA]
    blocks = (rows + block_size - 1) // block_size
    for slot in prange(slots):
        ru, rr = 0.0, 0.0
        for block in range(slot * blocks // slots, (slot + 1) * blocks // slots):
            first = block * block_size
            end = min(first + block_size, rows)
            for i in range(first, end):
                x[i] += alpha * p[i]
                r[i] -= alpha * s[i]
            for i in range(first, end):
                u[i] = _block_product(i, rows, block_size, inverse, r)
                ru += r[i] * u[i]
                rr += r[i] * r[i]
        partial[slot * 2], partial[slot * 2 + 1] = ru, rr
    gamma, squared = 0.0, 0.0
    for slot in range(slots):
        gamma += partial[slot * 2]
        squared += partial[slot * 2 + 1]
    control[RR] = squared
    control[BETA] = gamma / control[RZ]
    control[RZ] = gamma
    control[STOP] = _judge(control, gamma, squared)


@twin
def precondition(rows, block_size, inverse, r, u):
    """Multiply by B's diagonal blocks."""
    for i in prange(rows):
        u[i] = _block_product(i, rows, block_size, inverse, r)


@twin
def polynomial_step(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    gathered, inverse, r, u, direction, a, b, direction_next, u_next, control,
):  # fmt: skip
    """Take one step towards M u = r."""
    if control[STOP] != 0.0:
        return
    for i in prange(rows):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * gathered[indices[k]]
        moved = a * direction[i] + b * inverse[i] * (r[i] - total)
        direction_next[i] = moved
        u_next[i] = u[i] + moved
