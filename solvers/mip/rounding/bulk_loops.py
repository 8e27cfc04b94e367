"""The compiled loops of bulk rounding."""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.changes import conflict, set_bound
from solvers.mip.domain.internal import as_index
from solvers.mip.domain.propagate import propagate
from solvers.mip.domain.state import INFINITE, LOWER, UPPER, Box, Matrix
from solvers.mip.model import IndexArray
from solvers.mip.rounding.choose import round_randomly
from solvers.mip.rounding.random import RandomState
from solvers.problem import FloatArray

SMALLEST_SLACK = 1e-6
"""Slacks count as at least this much (the feasibility tolerance)."""


@compiled
def slack_consumption(matrix: Matrix, box: Box, columns: IndexArray) -> FloatArray:
    """Return how much of the rows' slack a unit change of each column takes (section 2.3).

    It is the root of the sum of ``(a / slack)^2`` over the column's rows, with the smaller of the
    two slacks of a row; sides that are not in reach count nothing.
    """
    rows, column_start = box.rows, matrix.column_start
    column_row, column_value = matrix.column_row, matrix.column_value
    consumption = np.zeros(columns.size)
    for place in range(columns.size):
        j = columns[place]
        total = 0.0
        for p in range(column_start[j], column_start[j + 1]):
            i = column_row[p]
            slack = np.inf
            if rows[i, INFINITE] == 0.0:
                slack = rows[i, UPPER] - rows[i, 0]
            if rows[i, INFINITE + 1] == 0.0:
                slack = min(slack, rows[i, 1] - rows[i, LOWER])
            total += (column_value[p] / max(SMALLEST_SLACK, slack)) ** 2
        consumption[place] = np.sqrt(total)
    return consumption


@compiled
def draw(x: FloatArray, columns: IndexArray, bounds: FloatArray, random: RandomState) -> FloatArray:
    """Round columns of a point by chance, within their bounds."""
    values = np.zeros(columns.size)
    for place in range(columns.size):
        j = columns[place]
        value = round_randomly(x[j], random)
        values[place] = min(max(value, bounds[0, j]), bounds[1, j])
    return values


@compiled
def fix_bulk(
    matrix: Matrix,
    box: Box,
    columns: IndexArray,
    values: FloatArray,
    low: FloatArray,
    high: FloatArray,
    cap: int,
    lenient: bool,
) -> bool:
    """Fix columns, narrow integers to the hints ``low`` and ``high``, if any, and propagate."""
    bounds = box.bounds
    for place in range(columns.size):
        j = columns[place]
        for side in range(2):
            if bounds[side, j] != values[place]:
                set_bound(matrix, box, as_index(j), side, values[place])
    for j in range(low.size):
        if matrix.is_integer[j] == 0 or not bounds[0, j] < bounds[1, j]:
            continue
        if max(low[j], bounds[0, j]) > min(high[j], bounds[1, j]):
            conflict(box, -1, lenient)
            if not lenient:
                break
            continue
        if low[j] > bounds[0, j]:
            set_bound(matrix, box, j, 0, low[j])
        if high[j] < bounds[1, j]:
            set_bound(matrix, box, j, 1, high[j])
    return bool(propagate(matrix, box, cap, lenient))


@compiled
def next_open(
    order: IndexArray, cursor: int, bounds: FloatArray, columns: IndexArray
) -> tuple[int, int]:
    """Fill ``columns`` with the next open ones of the order; return how many, and the cursor."""
    count = 0
    while cursor < order.size and count < columns.size:
        j = order[cursor]
        cursor += 1
        if bounds[0, j] < bounds[1, j]:
            columns[count] = j
            count += 1
    return count, cursor
