"""Diagonal scaling by powers of two: A becomes R A C with entries near one, and no digit is lost.

Passes by the geometric mean of each line's extremes tame badly scaled models, and a last one by
the root of the greatest magnitude (Ruiz 2001) brings every line's greatest entry near one. The
factors of the normal equations are indifferent to the scale of columns in exact arithmetic; what
scaling decides is how large the regularisation is beside the entries. With PDLP's passes, of Curtis
and Reid, instead of the first ones Netlib takes 1 % fewer iterations and an energy system of 365
hours 14 % more (``docs/interior-point.md``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.problem import FloatArray

GEOMETRIC_PASSES, RUIZ_PASSES = 4, 4


def find_scaling(matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Return the scales of rows (m,) and of columns (n,) of a CSR matrix, all powers of two.

    Empty rows and columns keep the scale 1.
    """
    by_row = abs(matrix).tocsr()
    by_column = by_row.tocsc()
    row, column = np.ones(by_row.shape[0]), np.ones(by_row.shape[1])
    for geometric in [True] * GEOMETRIC_PASSES + [False] * RUIZ_PASSES:
        row_before = row
        row = row / _size(by_row, column, row, geometric)
        column = column / _size(by_column, row_before if not geometric else row, column, geometric)
    return _power_of_two(row), _power_of_two(column)


def _size(lines: Any, across: FloatArray, along: FloatArray, geometric: bool) -> FloatArray:
    """Return the root of each line's greatest scaled magnitude, or of its extremes' product."""
    filled = np.flatnonzero(np.diff(lines.indptr))
    size = np.ones(along.size)
    if filled.size:
        scaled = lines.data * across[lines.indices]
        begins = lines.indptr[filled]
        greatest = np.maximum.reduceat(scaled, begins) * along[filled]
        if geometric:
            least = np.minimum.reduceat(scaled, begins) * along[filled]
            size[filled] = np.sqrt(greatest) * np.sqrt(least)
        else:
            size[filled] = np.sqrt(greatest)
    return size


def _power_of_two(values: FloatArray) -> FloatArray:
    rounded: FloatArray = np.exp2(np.round(np.log2(values)))
    return rounded
