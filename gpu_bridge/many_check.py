"""The gate of :mod:`gpu_bridge.verify` for the LPs of a batch, one plain loop for each of them.

The criteria are the same, and so is what they are computed on: the original data, in float64, on
the CPU. Only the easiest and most frequent case is decided here, a point exactly within its
bounds that earns "optimal"; whatever is less than that goes to ``verify.py`` itself.
"""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin

FIGURES = (
    "objective",
    "dual_objective",
    "primal",
    "primal_relative",
    "dual",
    "dual_relative",
    "gap_relative",
)
"""What is found out about each member, in the columns of ``figures``."""

OBJECTIVE, DUAL_OBJECTIVE, PRIMAL, PRIMAL_RELATIVE, DUAL, DUAL_RELATIVE, GAP_RELATIVE = range(7)


@compiled
def _row(values, k):
    """Return the member's own row, or the one that all share."""
    return values[k] if values.shape[0] > 1 else values[0]


@compiled
def _is_full(indptr, indices, columns):
    """Whether every row has all columns, in their order: what follows is quicker then."""
    for i in range(indptr.size - 1):
        if indptr[i + 1] - indptr[i] != columns:
            return False
        for j in range(columns):
            if indices[indptr[i] + j] != j:
                return False
    return True


@compiled
def _product(line, x):
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
def _check_rows(
    indptr, indices, is_full, values, x, y, low, high, activity, reduced, figures
):  # fmt: skip
    """Clip the duals, fill in activities and reduced costs; return the support of the rows.

    The matrix is read once for both.
    """
    support = squares = sides = largest = 0.0
    for i in range(y.size):
        if not np.isfinite(low[i] if y[i] > 0.0 else high[i]):
            y[i] = 0.0
        price = y[i]
        if is_full:
            line = values[indptr[i] : indptr[i + 1]]
            total = _product(line, x)
            if price != 0.0:
                for j in range(line.size):
                    reduced[j] -= line[j] * price
        else:
            total = 0.0
            for entry in range(indptr[i], indptr[i + 1]):
                j = indices[entry]
                total += values[entry] * x[j]
                reduced[j] -= values[entry] * price
        activity[i] = total
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
    return inside


@twin
def check(
    indptr, indices, values, cost, lower, upper, row_lower, row_upper, offset, tolerance, claimed,
    x, row_dual, row_activity, reduced_cost, figures, optimal,
):  # fmt: skip
    """Check each claimed member: fill in its rows and whether it is optimal.

    ``row_dual`` is clipped to the allowed signs; ``figures`` (K, 7) are those of
    :data:`FIGURES`.
    """
    is_full = _is_full(indptr, indices, x.shape[1])
    for member in prange(claimed.size):
        k = np.int64(member)
        if not claimed[k]:
            continue
        reduced, price = reduced_cost[k], _row(cost, k)
        for j in range(reduced.size):
            reduced[j] = price[j]
        support = _check_rows(
            indptr, indices, is_full, _row(values, k), x[k], row_dual[k], _row(row_lower, k),
            _row(row_upper, k), row_activity[k], reduced, figures[k],
        )  # fmt: skip
        inside = _check_columns(
            price, reduced, _row(lower, k), _row(upper, k), x[k], _row(offset, k)[0], support,
            figures[k],
        )  # fmt: skip
        worst = max(figures[k, PRIMAL_RELATIVE], figures[k, DUAL_RELATIVE])
        # a comparison with NaN is false
        optimal[k] = inside and worst <= tolerance and figures[k, GAP_RELATIVE] <= tolerance
