"""The twin of the batched simplex kernel: one LP after the other, or shared out over the cores.

The method is in ``dual_cpu`` and ``primal_cpu``, what they act on in ``dictionary_cpu``;
here is how an LP is brought in, which phase is whose turn, and what is said at the end.
"""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import numba
import numpy as np
from numba import prange

from solvers.kernels.batch.answer import NOT_REACHED
from solvers.kernels.twin import compiled, twin
from solvers.simplex.batch.kernels.answer_cpu import write_farkas, write_point, write_ray
from solvers.simplex.batch.kernels.arrays_cpu import (
    AT_LIMIT,
    BASIC,
    COST,
    COST_SIZE,
    DONE,
    DUAL_TOLERANCE,
    FRESH,
    HIGH,
    LOW,
    LOWER,
    MOST,
    NO_PIVOT,
    PAUSED,
    PIVOTS,
    POINT,
    PRICE,
    PRIMAL_TOLERANCE,
    REDUCED,
    ROUNDS,
    SMALLEST_PIVOT,
    TOLERANCE,
    UPPER,
    VALUE,
)
from solvers.simplex.batch.kernels.dictionary_cpu import (
    basic_values,
    build,
    is_accurate,
    reduced_costs,
    to_bounds,
    weigh_rows,
)
from solvers.simplex.batch.kernels.dual_cpu import dual
from solvers.simplex.batch.kernels.primal_cpu import is_attractive, primal
from solvers.simplex.batch.kernels.simplex import (
    DICTIONARY,
    INFEASIBLE,
    LIMIT,
    MOST_SIZE,
    OPTIMAL,
    ROUNDING,
    SLACK,
    TROUBLE,
    UNBOUNDED,
)

inlined = numba.njit(inline="always")


@compiled
def own(values, width, k, varying, bit):
    """Return the part of a flat array that belongs to LP k."""
    first = k * width if (varying >> bit) & 1 else 0
    return values[first : first + width]


@compiled
def restore(data, A, work, limits, parameters):
    """Give ``work`` the scaled cost and bounds of the LP, and find what to measure them by.

    Costs are measured by their geometric mean, as a power of two: a few that are meant as
    penalties must not make all others small. What rounding leaves of the largest is tolerated.
    """
    cost, lower, upper, row_lower, row_upper = data
    row_scale, column_scale = A[3], A[4]
    n, m = cost.size, row_lower.size
    bound_size = largest = exponents = costs = 0.0
    for j in range(n):
        work[COST, j] = cost[j] * column_scale[j]
        work[LOW, j] = lower[j] / column_scale[j]
        work[HIGH, j] = upper[j] / column_scale[j]
        size = abs(work[COST, j])
        largest = max(largest, size)
        if size > 0.0:
            exponents += math.frexp(size)[1] - 1
            costs += 1.0
    for i in range(m):
        work[COST, n + i] = 0.0
        work[LOW, n + i] = row_lower[i] * row_scale[i]
        work[HIGH, n + i] = row_upper[i] * row_scale[i]
    for v in range(n + m):
        for bound in (work[LOW, v], work[HIGH, v]):
            if abs(bound) < np.inf:
                bound_size = max(bound_size, abs(bound))
    limits[COST_SIZE] = math.ldexp(1.0, math.floor(exponents / max(costs, 1.0)))
    limits[DUAL_TOLERANCE] = max(parameters[TOLERANCE] * limits[COST_SIZE], ROUNDING * largest)
    limits[PRIMAL_TOLERANCE] = parameters[TOLERANCE] * min(max(bound_size, 1.0), MOST_SIZE)


@compiled
def is_primal_feasible(by_row, work, basic, limits):
    """Whether all basic variables are within their bounds."""
    for i in range(basic.size):
        v, value = basic[i], by_row[VALUE, i]
        outside = max(work[LOW, v] - value, value - work[HIGH, v])
        if not outside <= limits[PRIMAL_TOLERANCE]:
            return False
    return True


@compiled
def is_dual_feasible(by_column, work, nonbasic, status, limits):
    """Whether no nonbasic variable prices out."""
    for j in range(nonbasic.size):
        v, price = nonbasic[j], by_column[REDUCED, j]
        if is_attractive(price, status[v], work[LOW, v], work[HIGH, v], limits[DUAL_TOLERANCE]):
            return False
    return True


@compiled
def make_dual_feasible(by_column, work, nonbasic, status, limits):
    """Flip what has two bounds to the right one, and shift the costs of what has not."""
    for j in range(nonbasic.size):
        v, price = nonbasic[j], by_column[REDUCED, j]
        low, high = work[LOW, v], work[HIGH, v]
        if not is_attractive(price, status[v], low, high, limits[DUAL_TOLERANCE]):
            continue
        if low > -np.inf and high < np.inf:
            status[v] = UPPER if price < 0.0 else LOWER
            by_column[POINT, j] = high if price < 0.0 else low
        else:
            work[COST, v] -= price
            by_column[REDUCED, j] = 0.0


@inlined
def pivot_on(
    A, D, by_row, by_column, work, basic, nonbasic, status, candidates, limits, counts, parameters,
    use_dual, queue,
):  # fmt: skip
    """Make pivots of one kind, with a look at accuracy and caller from time to time."""
    by_column[PRICE, :] = 1.0
    while True:
        if use_dual:
            weigh_rows(D, by_row)
            ending, at = dual(
                D, by_row, by_column, work, basic, nonbasic, status, candidates, limits, counts,
                parameters,
            )  # fmt: skip
        else:
            ending, at = primal(
                D, by_row, by_column, work, basic, nonbasic, status, limits, counts, parameters
            )
        if ending != PAUSED:
            return ending, at
        if queue[0] < 0:
            return AT_LIMIT, at
        basic_values(D, by_row, by_column)
        if not is_accurate(A, D, by_row, by_column, basic, nonbasic, parameters):
            build(A, D, by_row, by_column, basic, nonbasic, status, parameters, counts)
            to_bounds(by_column, work, nonbasic, status)
            basic_values(D, by_row, by_column)
            by_column[PRICE, :] = 1.0
        reduced_costs(D, by_column, work, basic, nonbasic)


@inlined
def run(
    data, A, D, by_row, by_column, work, basic, nonbasic, status, candidates, limits, counts,
    parameters, queue,
):  # fmt: skip
    """Take turns of the two methods on true cost and bounds; return the ending, and where."""
    for _ in range(int(parameters[ROUNDS])):
        restore(data, A, work, limits, parameters)
        to_bounds(by_column, work, nonbasic, status)
        basic_values(D, by_row, by_column)
        reduced_costs(D, by_column, work, basic, nonbasic)
        feasible = is_primal_feasible(by_row, work, basic, limits)
        ending, at = DONE, -1
        if not feasible:
            make_dual_feasible(by_column, work, nonbasic, status, limits)
            basic_values(D, by_row, by_column)
        if not (feasible and is_dual_feasible(by_column, work, nonbasic, status, limits)):
            ending, at = pivot_on(
                A, D, by_row, by_column, work, basic, nonbasic, status, candidates, limits,
                counts, parameters, not feasible, queue,
            )  # fmt: skip
            if ending == AT_LIMIT:
                return LIMIT, at
            if ending == DONE:
                continue
        basic_values(D, by_row, by_column)
        accurate = is_accurate(A, D, by_row, by_column, basic, nonbasic, parameters)
        if ending == DONE and (accurate or counts[FRESH] == 0):
            return OPTIMAL, at
        if ending == NO_PIVOT and (accurate or counts[FRESH] == 0):
            return UNBOUNDED if feasible else INFEASIBLE, at
        build(A, D, by_row, by_column, basic, nonbasic, status, parameters, counts)
    return TROUBLE, -1


@compiled
def solve_one(data, A, first, start, given, parameters, limit, queue, x, y, ray, basis):
    """Solve one LP; return its ending and how many pivots it took."""
    n, m = x.size, y.size
    D = np.zeros((m, n))
    by_row, by_column = np.zeros((3, m)), np.zeros((5, n))
    work, status = np.zeros((3, n + m)), np.zeros(n + m, dtype=np.int32)
    basic, nonbasic = np.zeros(m, dtype=np.int32), np.zeros(n, dtype=np.int32)
    candidates = np.zeros(n, dtype=np.int32)
    limits, counts = np.zeros(3), np.zeros(4, dtype=np.int64)
    counts[MOST] = limit
    for v in range(n + m):
        status[v] = given[v]
    if start == DICTIONARY:
        dictionary, heads = first
        for i in range(m):
            basic[i] = heads[i]
            for j in range(n):
                D[i, j] = dictionary[j * m + i]
        for j in range(n):
            nonbasic[j] = heads[m + j]
    else:
        if start == SLACK:
            for v in range(n, n + m):
                status[v] = BASIC
        build(A, D, by_row, by_column, basic, nonbasic, status, parameters, counts)
    ending, at = run(
        data, A, D, by_row, by_column, work, basic, nonbasic, status, candidates, limits, counts,
        parameters, queue,
    )  # fmt: skip
    write_point(data, A, by_row, by_column, basic, nonbasic, status, x, y)
    smallest = parameters[SMALLEST_PIVOT]
    if ending == INFEASIBLE:
        write_farkas(A, D, by_row, work, basic, nonbasic, at, n, smallest, y)
    elif ending == UNBOUNDED:
        write_ray(A, D, by_column, basic, nonbasic, at, smallest, ray)
    for v in range(n + m):
        basis[v] = status[v]
    return ending, counts[PIVOTS]


@twin
def simplex(
    count, rows, columns, starts, indices, varying, values, cost, lower, upper, row_lower,
    row_upper, given, row_scale, column_scale, dictionary, heads, start, parameters, limit,
    leading, place, block, blocks, shared, scratch_step, scratch, queue, x, y, ray, basis,
    ending, iterations,
):  # fmt: skip
    """Solve LP after LP."""
    for member in prange(count):
        k = np.int64(member)
        if queue[0] < 0:
            ending[k], iterations[k] = NOT_REACHED, 0
            x[k * columns : (k + 1) * columns] = 0.0
            y[k * rows : (k + 1) * rows] = 0.0
            basis[k * (rows + columns) : (k + 1) * (rows + columns)] = 0
            continue
        nonzeros = np.int64(indices.size)
        A = (
            starts, indices, own(values, nonzeros, k, varying, 0), row_scale, column_scale
        )  # fmt: skip
        data = (
            own(cost, columns, k, varying, 1), own(lower, columns, k, varying, 2),
            own(upper, columns, k, varying, 3), own(row_lower, rows, k, varying, 4),
            own(row_upper, rows, k, varying, 5),
        )  # fmt: skip
        how, made = solve_one(
            data, A, (dictionary, heads), start, own(given, rows + columns, k, varying, 6),
            parameters, limit, queue, x[k * columns : (k + 1) * columns],
            y[k * rows : (k + 1) * rows], ray[k * columns : (k + 1) * columns],
            basis[k * (rows + columns) : (k + 1) * (rows + columns)],
        )  # fmt: skip
        ending[k] = how
        iterations[k] = made


simplex_held = simplex
"""Where a dictionary is held makes no difference here."""
