"""Diagonal scaling by powers of two: A becomes R A C with entries near one, and no digit is lost.

The passes are PDLP's (``solvers/pdlp/scaling.py``) without its last one, which bounds a norm that
nothing depends on here: those of Curtis and Reid (1972) tame badly scaled models, and those by the
root of the greatest magnitude (Ruiz 2001) bring every line's greatest entry near one. The factors
of the normal equations are indifferent to the scale of columns in exact arithmetic; what scaling
decides is how large the regularisation is beside the entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.problem import FloatArray

CURTIS_REID_PASSES, RUIZ_PASSES = 20, 4

RIDGE = 0.2
"""Added to each line's number of entries, for the squares of the scales' logarithms."""


def find_scaling(matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Return the scales of rows (m,) and of columns (n,) of a CSR matrix, all powers of two.

    Empty rows and columns keep the scale 1.
    """
    by_row = abs(matrix).tocsr()
    by_column = by_row.tocsc()
    row, column = _balanced(by_row)
    for _ in range(RUIZ_PASSES):
        of_rows = _greatest(by_row, column, row)
        column = column / np.sqrt(_greatest(by_column, row, column))
        row = row / np.sqrt(of_rows)
    return _power_of_two(row), _power_of_two(column)


def _balanced(by_row: Any) -> tuple[FloatArray, FloatArray]:
    """Return the scales with which the entries' logarithms are small in the mean square."""
    logarithms = by_row.copy()
    logarithms.data = np.log2(by_row.data)
    pattern = by_row.copy()
    pattern.data = np.ones_like(by_row.data)
    ones = np.ones(by_row.shape[0]), np.ones(by_row.shape[1])
    total = logarithms @ ones[1], logarithms.T @ ones[0]
    count = pattern @ ones[1] + RIDGE, pattern.T @ ones[0] + RIDGE
    column = 0.0 * ones[1]
    for _ in range(CURTIS_REID_PASSES):
        row = -(total[0] + pattern @ column) / count[0]
        column = -(total[1] + pattern.T @ row) / count[1]
    return np.exp2(row), np.exp2(column)


def _greatest(lines: Any, across: FloatArray, along: FloatArray) -> FloatArray:
    """Return each line's greatest scaled magnitude, one where it has no entry."""
    filled = np.flatnonzero(np.diff(lines.indptr))
    greatest = np.ones(along.size)
    if filled.size:
        scaled = lines.data * across[lines.indices]
        greatest[filled] = np.maximum.reduceat(scaled, lines.indptr[filled]) * along[filled]
    return greatest


def _power_of_two(values: FloatArray) -> FloatArray:
    rounded: FloatArray = np.exp2(np.round(np.log2(values)))
    return rounded
