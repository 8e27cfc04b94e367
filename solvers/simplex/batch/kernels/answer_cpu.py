"""What the twin says of an LP at its end: the point, or what proves that there is no optimum."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    LOW,
    LOWER,
    REDUCED,
    UPPER,
    VALUE,
)


@compiled
def write_point(data, A, by_row, by_column, basic, nonbasic, status, x, y):
    """Write the point, on or within its bounds, and the row duals."""
    n = x.size
    lower, upper, row_scale, column_scale = data[1], data[2], A[3], A[4]
    y[:] = 0.0
    for j in range(nonbasic.size):
        v = nonbasic[j]
        if v >= n:
            y[v - n] = by_column[REDUCED, j] * row_scale[v - n]
        elif status[v] == LOWER:
            x[v] = lower[v]
        elif status[v] == UPPER:
            x[v] = upper[v]
        else:
            x[v] = 0.0
    for i in range(basic.size):
        v = basic[i]
        if v < n:
            x[v] = min(max(by_row[VALUE, i] * column_scale[v], lower[v]), upper[v])


@compiled
def write_farkas(A, D, by_row, work, basic, nonbasic, p, n, smallest, y):
    """Write the multipliers of the rows that prove row p of the dictionary infeasible.

    What no ratio test looks at is rounding, here and in a ray.
    """
    row_scale, leaving = A[3], basic[p]
    sign = 1.0 if by_row[VALUE, p] < work[LOW, leaving] else -1.0
    y[:] = 0.0
    for j in range(nonbasic.size):
        v = nonbasic[j]
        if v >= n and abs(D[p, j]) > smallest:
            y[v - n] = -sign * D[p, j] * row_scale[v - n]
    if leaving >= n:
        y[leaving - n] = sign * row_scale[leaving - n]


@compiled
def write_ray(A, D, by_column, basic, nonbasic, q, smallest, ray):
    """Write the direction in which column q of the dictionary improves without end."""
    n, column_scale = ray.size, A[4]
    direction = -1.0 if by_column[REDUCED, q] > 0.0 else 1.0
    ray[:] = 0.0
    if nonbasic[q] < n:
        ray[nonbasic[q]] = direction * column_scale[nonbasic[q]]
    for i in range(basic.size):
        v = basic[i]
        if v < n and abs(D[i, q]) > smallest:
            ray[v] = direction * D[i, q] * column_scale[v]
