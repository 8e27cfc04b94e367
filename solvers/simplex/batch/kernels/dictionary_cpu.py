"""The dictionary of a basis in the twin: x_B = D x_N, and the pivots that exchange two variables.

With the slack basis D is A itself. After e pivots, D = -B^-1 N for N the nonbasic columns of
[A -I], and the reduced costs are d_N = c_N + D'c_B.
"""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.simplex.batch.kernels.arrays_cpu import (
    ACCURACY,
    BASIC,
    COLUMN,
    COST,
    FRESH,
    HIGH,
    LOW,
    LOWER,
    POINT,
    REDUCED,
    ROW,
    SMALLEST_PIVOT,
    UPPER,
    VALUE,
    WEIGHT,
    ZERO,
)


@compiled
def squares(line):
    """Return the sum of the squares of a row, by four sums that a processor makes at once."""
    n = line.size
    one = two = three = four = 0.0
    whole = n - n % 4
    for j in range(0, whole, 4):
        one += line[j] * line[j]
        two += line[j + 1] * line[j + 1]
        three += line[j + 2] * line[j + 2]
        four += line[j + 3] * line[j + 3]
    for j in range(whole, n):
        one += line[j] * line[j]
    return (one + two) + (three + four)


@compiled
def weigh_rows(D, by_row):
    """Compute the dual pricing weights of all rows, from their squares."""
    for i in range(D.shape[0]):
        by_row[WEIGHT, i] = 1.0 + squares(D[i])


@compiled
def exchange(D, by_row, by_column, basic, nonbasic, p, q, weigh):
    """Let the nonbasic variable at q and the basic one at p change places."""
    m, n = D.shape
    row, reduced = by_column[ROW], by_column[REDUCED]
    inverse = 1.0 / D[p, q]
    for j in range(n):
        row[j] = -inverse * D[p, j]
    row[q] = inverse
    for i in range(m):
        line = D[i]
        factor = line[q]
        by_row[COLUMN, i] = factor
        if i == p:
            for j in range(n):
                line[j] = row[j]
        elif factor != 0.0:
            line[q] = 0.0
            for j in range(n):
                line[j] += factor * row[j]
        else:
            continue
        if weigh:
            by_row[WEIGHT, i] = 1.0 + squares(line)
    factor = reduced[q]
    reduced[q] = 0.0
    for j in range(n):
        reduced[j] += factor * row[j]
    basic[p], nonbasic[q] = nonbasic[q], basic[p]


@compiled
def build(A, D, by_row, by_column, basic, nonbasic, status, parameters, counts):
    """Make the dictionary of the basis that ``status`` names, from the matrix as it is given.

    Structurals enter in their order, each in the row of its largest entry among those whose
    logicals are to leave. One without such an entry stays nonbasic, and the logicals that are
    left over stay basic: a singular basis is repaired.
    """
    m, n = D.shape
    starts, indices, values, row_scale, column_scale = A
    D[:, :] = 0.0
    for i in range(m):
        for entry in range(starts[i], starts[i + 1]):
            j = indices[entry]
            D[i, j] = values[entry] * row_scale[i] * column_scale[j]
        basic[i] = n + i
    for j in range(n):
        nonbasic[j] = j
    for q in range(n):
        if status[q] != BASIC:
            continue
        p, largest = -1, parameters[SMALLEST_PIVOT]
        for i in range(m):
            size = abs(D[i, q])
            if size > largest and basic[i] == n + i and status[n + i] != BASIC:
                p, largest = i, size
        if p >= 0:
            exchange(D, by_row, by_column, basic, nonbasic, p, q, False)
        else:
            status[q] = LOWER
    for i in range(m):
        status[basic[i]] = BASIC
    counts[FRESH] = 0


@compiled
def to_bounds(by_column, work, nonbasic, status):
    """Put each nonbasic variable on the bound of its status, or on one that it has."""
    point = by_column[POINT]
    for j in range(nonbasic.size):
        v = nonbasic[j]
        low, high = work[LOW, v], work[HIGH, v]
        point[j] = 0.0
        if low > -float("inf") and (status[v] != UPPER or high == float("inf")):
            status[v] = LOWER
            point[j] = low
        elif high < float("inf"):
            status[v] = UPPER
            point[j] = high
        else:
            status[v] = ZERO


@compiled
def basic_values(D, by_row, by_column):
    """Compute x_B = D x_N."""
    point = by_column[POINT]
    for i in range(D.shape[0]):
        total, line = 0.0, D[i]
        for j in range(point.size):
            total += line[j] * point[j]
        by_row[VALUE, i] = total


@compiled
def reduced_costs(D, by_column, work, basic, nonbasic):
    """Compute d_N = c_N + D'c_B."""
    reduced = by_column[REDUCED]
    for j in range(nonbasic.size):
        reduced[j] = work[COST, nonbasic[j]]
    for i in range(basic.size):
        cost, line = work[COST, basic[i]], D[i]
        if cost != 0.0:
            for j in range(reduced.size):
                reduced[j] += cost * line[j]


@compiled
def is_accurate(A, D, by_row, by_column, basic, nonbasic, parameters):
    """Whether the point obeys [A -I] x = 0, up to a part of the terms of each row."""
    m, n = D.shape
    starts, indices, values, row_scale, column_scale = A
    x = by_column[ROW]  # structurals
    for j in range(n):
        if nonbasic[j] < n:
            x[nonbasic[j]] = by_column[POINT, j]
        else:
            by_row[COLUMN, nonbasic[j] - n] = by_column[POINT, j]
    for i in range(m):
        if basic[i] < n:
            x[basic[i]] = by_row[VALUE, i]
        else:
            by_row[COLUMN, basic[i] - n] = by_row[VALUE, i]
    for i in range(m):
        activity = size = 0.0
        for entry in range(starts[i], starts[i + 1]):
            j = indices[entry]
            term = values[entry] * row_scale[i] * column_scale[j] * x[j]
            activity += term
            size += abs(term)
        # a comparison with NaN is false
        if not abs(activity - by_row[COLUMN, i]) <= parameters[ACCURACY] * (1.0 + size):
            return False
    return True
