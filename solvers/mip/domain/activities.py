"""The activities of rows: what each can be at least and at most, and whether a side is missed.

Infinite terms are counted and never added (Sofranac, Gleixner, Pokutta 2022, section 2), which lets
a row tighten its only unbounded column. Tuples of arrays are taken apart before a loop, as each
access inside would count references.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.internal import internal
from solvers.mip.domain.state import INFINITE, NOISE, UPPER, WIDEST, WORK, Box, Matrix
from solvers.problem import FloatArray

ROW_TOLERANCE = 1e-6
"""Absolute excess at which a row is contradicted (the feasibility tolerance of the model)."""

RELATIVE_ROW_TOLERANCE = 1e-9
"""The same relative to the side, for sides so large that sums carry larger rounding errors."""


@internal
def excess_of(rows: FloatArray, i: int, which: int) -> float:
    """Return by how much a side is missed wherever the columns are, beyond its tolerance; or 0."""
    if rows[i, INFINITE + which] > 0.0:
        return 0.0
    side = rows[i, UPPER + which]
    excess = rows[i, which] - side if which == 0 else side - rows[i, which]
    least = max(ROW_TOLERANCE, RELATIVE_ROW_TOLERANCE * abs(side))
    return float(excess) if excess > least else 0.0


@internal
def may_act(rows: FloatArray, i: int, which: int) -> bool:
    """Whether a side of a row may tighten something or be contradicted."""
    count = rows[i, INFINITE + which]
    slack = abs(rows[i, UPPER + which])
    if count > 1.0 or slack == np.inf:
        return False
    slack = rows[i, UPPER + which] - rows[i, which]
    if which == 1:
        slack = -slack
    return bool(count == 1.0 or slack < rows[i, WIDEST] + max(0.0, rows[i, NOISE]))


@compiled
def sum_row(matrix: Matrix, box: Box, i: int) -> None:
    """Sum a row's activities from the bounds."""
    bounds, rows = box.bounds, box.rows
    row_column, row_value = matrix.row_column, matrix.row_value
    for place in range(INFINITE + 2):
        rows[i, place] = 0.0
    rows[i, NOISE] = min(rows[i, NOISE], 0.0)
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        j, a = row_column[p], row_value[p]
        for side in range(2):
            which = side if a > 0.0 else 1 - side
            if np.isfinite(bounds[side, j]):
                rows[i, which] += a * bounds[side, j]
            else:
                rows[i, INFINITE + which] += 1.0
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]


@compiled
def sum_all(matrix: Matrix, box: Box) -> None:
    """Sum all activities and find the widest term of each row."""
    bounds, rows = box.bounds, box.rows
    row_start, row_column, row_value = matrix.row_start, matrix.row_column, matrix.row_value
    for i in range(rows.shape[0]):
        sum_row(matrix, box, i)
        widest = 0.0
        for p in range(row_start[i], row_start[i + 1]):
            width = bounds[1, row_column[p]] - bounds[0, row_column[p]]
            if width > 0.0 and row_value[p] != 0.0:
                widest = max(widest, abs(row_value[p]) * width)
        rows[i, WIDEST] = widest


@internal
def rest_of_row(matrix: Matrix, box: Box, i: int, without: int, which: int) -> float:
    """Sum a row's smallest (0) or largest (1) activity without one place; the rest is finite."""
    bounds, row_column, row_value = box.bounds, matrix.row_column, matrix.row_value
    total = 0.0
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        if p != without:
            a = row_value[p]
            total += a * bounds[which if a > 0.0 else 1 - which, row_column[p]]
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]
    return total
