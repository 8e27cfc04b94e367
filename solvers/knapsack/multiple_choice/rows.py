"""Which rows of a model say that at most, or exactly, one of several things is chosen.

Such a row has coefficients of one size. With the columns of negative sign complemented, x' = 1 - x,
it limits a sum of zeros and ones to one; so does ``x <= y``, which is ``x + y' <= 1``. A row may be
multiplied by -1, so that ``x + y >= 1`` is one as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.knapsack.items import IntArray
from solvers.knapsack.recognise import BOUND_SLACK


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of several entries, and how they limit a sum to one.

    Parameters
    ----------
    row : (k,) int64 array
    is_class : (k,) flags
        Of rows that say that at most one thing is chosen.
    exactly : (k,) flags
        Of those of them that say exactly one.
    turned : (k,) flags
        Of those of them whose columns of positive sign, not of negative, are complemented.
    """

    row: IntArray
    is_class: BoolArray
    exactly: BoolArray
    turned: BoolArray


def class_rows(problem: Problem) -> ClassRows:
    """Return what each row with several entries says about a choice."""
    count = np.diff(problem.matrix.indptr)
    row = np.flatnonzero(count > 1)
    size, negative = _sizes(problem, row)
    positive = count[row] - negative
    upper, lower = problem.row_upper[row], problem.row_lower[row]
    alike = np.isfinite(size)
    scale = np.where(alike, size, 1.0)
    # the sum of the columns with the negative ones complemented, and the same of the row times -1
    high, low = _whole_sides(lower / scale, upper / scale, negative)
    turned_high, turned_low = _whole_sides(-upper / scale, -lower / scale, positive)
    plain = alike & (high == 1) & (low <= 1)
    turned = alike & ~plain & (turned_high == 1) & (turned_low <= 1)
    exactly = np.where(turned, turned_low, low) == 1
    return ClassRows(row, plain | turned, exactly, turned)


def _sizes(problem: Problem, row: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the size of each row's coefficients, NaN if they differ, and how many are negative."""
    if not row.size:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    matrix = problem.matrix[row]
    size = np.abs(matrix.data)
    begin = matrix.indptr[:-1]
    largest, smallest = np.maximum.reduceat(size, begin), np.minimum.reduceat(size, begin)
    negative = np.add.reduceat((matrix.data < 0).astype(np.int64), begin)
    return np.where(largest == smallest, largest, np.nan), negative


def _whole_sides(
    lower: FloatArray, upper: FloatArray, complemented: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return upper and lower limit of a sum of zeros and ones with so many complemented."""
    return (
        np.floor(upper + complemented + BOUND_SLACK),
        np.ceil(lower + complemented - BOUND_SLACK),
    )
