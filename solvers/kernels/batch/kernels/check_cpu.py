"""Twin of check.cu, an LP after the other; also what checks batches where there is no GPU."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.batch.kernels.check import (
    DUAL,
    DUAL_OBJECTIVE,
    DUAL_RELATIVE,
    FIGURES,
    GAP_RELATIVE,
    INSIDE,
    OBJECTIVE,
    PRIMAL,
    PRIMAL_RELATIVE,
)
from solvers.kernels.twin import compiled, twin

WIDTH = len(FIGURES)


@compiled
def own(values, width, k, varying, bit):
    """Return the part of a flat array that belongs to LP k."""
    first = k * width if (varying >> bit) & 1 else 0
    return values[first : first + width]


@compiled
def product(line, x):
    """Return the product of two vectors, by four sums that a processor makes at once."""
    one = two = three = four = 0.0
    whole = line.size - line.size % 4
    for j in range(0, whole, 4):
        one += line[j] * x[j]
        two += line[j + 1] * x[j + 1]
        three += line[j + 2] * x[j + 2]
        four += line[j + 3] * x[j + 3]
    for j in range(whole, line.size):
        one += line[j] * x[j]
    return (one + two) + (three + four)


@compiled
def price_row(starts, indices, is_full, values, i, price, x, reduced):
    """Return the activity of row i, and take its part from the reduced costs.

    The matrix is read once for both.
    """
    total = 0.0
    if is_full:
        line = values[starts[i] : starts[i + 1]]
        total = product(line, x)
        if price != 0.0:
            for j in range(line.size):
                reduced[j] -= line[j] * price
    else:
        for entry in range(starts[i], starts[i + 1]):
            j = indices[entry]
            total += values[entry] * x[j]
            reduced[j] -= values[entry] * price
    return total


@compiled
def _check_rows(starts, indices, is_full, values, x, y, low, high, reduced, figures):
    """Clip the duals and price the columns; return the support of the rows."""
    support = squares = sides = largest = 0.0
    for i in range(y.size):
        if not np.isfinite(low[i] if y[i] > 0.0 else high[i]):
            y[i] = 0.0
        total = price_row(starts, indices, is_full, values, i, y[i], x, reduced)
        outside = max(0.0, low[i] - total, total - high[i])
        squares += outside * outside
        largest = max(largest, outside)
        size = abs(low[i]) if np.isfinite(low[i]) else 0.0
        size = max(size, abs(high[i])) if np.isfinite(high[i]) else size
        sides += size * size
        if y[i] != 0.0:
            support += y[i] * (low[i] if y[i] > 0.0 else high[i])
    figures[PRIMAL] = largest
    figures[PRIMAL_RELATIVE] = np.sqrt(squares) / (1.0 + np.sqrt(sides))
    return support


@compiled
def _check_columns(cost, reduced, lower, upper, x, offset, support, figures):
    """Grade reduced costs and gap."""
    value, squares, costs, largest = 0.0, 0.0, 0.0, 0.0
    inside = True
    for j in range(x.size):
        inside = inside and lower[j] <= x[j] <= upper[j]
        value += cost[j] * x[j]
        costs += cost[j] * cost[j]
        side = lower[j] if reduced[j] > 0.0 else upper[j]
        if np.isfinite(side):
            support += reduced[j] * side
        else:
            squares += reduced[j] * reduced[j]
            largest = max(largest, abs(reduced[j]))
    value += offset
    support += offset
    figures[OBJECTIVE], figures[DUAL_OBJECTIVE] = value, support
    figures[DUAL] = largest
    figures[DUAL_RELATIVE] = np.sqrt(squares) / (1.0 + np.sqrt(costs))
    figures[GAP_RELATIVE] = abs(value - support) / (1.0 + abs(value) + abs(support))
    figures[INSIDE] = 1.0 if inside else 0.0


@twin
def check(
    count, rows, columns, starts, indices, column_starts, column_rows, column_entries, is_full,
    varying, values, cost, lower, upper, row_lower, row_upper, offset, claims, ending, x, y,
    figures,
):  # fmt: skip
    """Check LP after LP."""
    for member in prange(count):
        k = np.int64(member)
        nonzeros = np.int64(indices.size)
        found = figures[k * WIDTH : (k + 1) * WIDTH]
        if ending[k] < 0 or not (claims >> ending[k]) & 1:
            found[:] = np.nan
            continue
        price = own(cost, columns, k, varying, 1)
        reduced = price.copy()
        point = x[k * columns : (k + 1) * columns]
        support = _check_rows(
            starts, indices, is_full != 0, own(values, nonzeros, k, varying, 0), point,
            y[k * rows : (k + 1) * rows], own(row_lower, rows, k, varying, 4),
            own(row_upper, rows, k, varying, 5), reduced, found,
        )  # fmt: skip
        _check_columns(
            price, reduced, own(lower, columns, k, varying, 2), own(upper, columns, k, varying, 3),
            point, own(offset, 1, k, varying, 6)[0], support, found,
        )  # fmt: skip
