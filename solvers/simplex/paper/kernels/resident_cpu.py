"""Numba twins of ``resident.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin
from solvers.simplex.paper.kernels.common_cpu import better, infeasibility_cost, ratio_of
from solvers.simplex.paper.kernels.layout import (
    BLAND,
    DEGENERATE,
    ENTERING,
    ENTERING_COST,
    INACCURATE,
    ITERATION,
    LEAVING,
    NO_RATIO,
    PHASE,
    PIVOT,
    PRIMAL_TOLERANCE,
    RUNNING,
    SAFE_PIVOT,
    SINCE_INVERSE,
    SMALL_PIVOT,
    STEP,
    STOP,
)


@twin
def ratio_test(size, columns, x, basic, d, chosen, control):
    """Both passes of Harris's ratio test."""
    work = size if control[STOP] == RUNNING else 0
    farthest = 1e300
    for i in range(work):
        _, relaxed = ratio_of(x[i], d[i], basic[i] >= columns, control)
        farthest = min(farthest, relaxed)
    if work and farthest >= 1e300:
        control[STOP] = NO_RATIO
        work = 0
    best_key, best_index = 0.0, -1
    for i in range(work):
        exact, _ = ratio_of(x[i], d[i], basic[i] >= columns, control)
        key = float(-basic[i]) if control[BLAND] != 0.0 else abs(d[i])
        if exact <= farthest and better(key, i, best_key, best_index):
            best_key, best_index = key, i
            chosen[0], chosen[1], chosen[2] = key, i, exact


@twin
def exchange(d, chosen, basic, position, control):
    """Exchange the variables of a pivot."""
    if control[STOP] == RUNNING:
        r, q = int(chosen[1]), int(control[ENTERING])
        if abs(d[r]) < control[SAFE_PIVOT]:
            control[STOP] = SMALL_PIVOT if control[SINCE_INVERSE] == 0.0 else INACCURATE
        else:
            position[basic[r]] = -1
            position[q] = r
            basic[r] = q
            control[LEAVING] = r
            control[STEP] = chosen[2]
            control[PIVOT] = d[r]
            control[ITERATION] += 1.0
            control[SINCE_INVERSE] += 1.0
            if chosen[2] * -control[ENTERING_COST] <= 0.0:
                control[DEGENERATE] += 1.0


@twin
def update_in_place(size, stride, team, d, inverse, pivot_row, control):
    """Rank-one update of the inverse."""
    work = size if control[STOP] == RUNNING else 0
    r, pivot = int(control[LEAVING]), control[PIVOT]
    for k in prange(work):
        column = k * stride
        rho = inverse[column + r] / pivot
        pivot_row[k] = rho
        for i in range(size):
            inverse[column + i] = rho if i == r else inverse[column + i] - rho * d[i]


@twin
def solution(size, stride, columns, inverse, rhs, cost, basic, x, basic_cost, control):
    """Compute x = B^-1 b, and the costs of the basic variables."""
    work = size if control[STOP] == RUNNING else 0
    for i in range(work):
        x[i] = 0.0
    for k in range(work):
        side = rhs[k]
        if side != 0.0:
            for i in range(size):
                x[i] += inverse[k * stride + i] * side
    for i in range(work):
        artificial = basic[i] >= columns
        if control[PHASE] == 2.0:
            basic_cost[i] = 0.0 if artificial else cost[basic[i]]
        else:
            basic_cost[i] = infeasibility_cost(x[i], artificial, control[PRIMAL_TOLERANCE])


@twin
def basis_rows(size, columns, starts, rows, values, basic, transposed, control):
    """Write the basis into a dense matrix."""
    for i in prange(size):
        j = basic[i]
        if j >= columns:
            transposed[i * size + j - columns] = 1.0
        else:
            for k in range(starts[j], starts[j + 1]):
                transposed[i * size + rows[k]] = values[k]


@twin
def dual(size, stride, team, inverse, basic_cost, y, control):
    """Compute y = B^-T c_B."""
    work = size if control[STOP] == RUNNING else 0
    for k in prange(work):
        total = 0.0
        for i in range(size):
            total += inverse[k * stride + i] * basic_cost[i]
        y[k] = total
