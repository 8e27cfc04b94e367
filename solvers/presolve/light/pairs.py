"""Which columns to replace by which equations, and what becomes of their bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray, Problem
from solvers.native.presolve_light_pairs import (
    count_promising,
    find_candidates,
    implied_bounds,
    take,
)

IntArray = npt.NDArray[np.int64]

NO_PAIR = 2**40


@dataclass(frozen=True, eq=False)
class Pairs:
    """Replaced columns (k,), their equations and pivots, and the bounds (n,) afterwards.

    ``other`` (k,) is the column that took over the bounds of the replaced one, -1 without one,
    and ``other_entry`` its coefficient; ``origin`` says which sides came that way: 1 the lower,
    2 the upper, 3 both.
    """

    row: IntArray
    column: IntArray
    pivot: FloatArray
    other: IntArray
    other_entry: FloatArray
    origin: IntArray
    lower: FloatArray
    upper: FloatArray


def choose_pairs(problem: Problem, at_least: float = 1.0) -> Pairs | None:
    """Choose pairs that do not touch each other, the cheapest first.

    Returns None where there are fewer than ``at_least``. Whether there can be as many is asked
    first, of the pattern alone: most models have few short equations, or none.
    """
    m, n = problem.num_rows, problem.num_columns
    A, by_column = problem.matrix, problem.matrix_csc
    lengths = np.diff(by_column.indptr)
    if count_promising(A.indptr, A.indices, lengths, *_sides(problem)) < at_least:
        return None
    lower, upper = problem.lower.copy(), problem.upper.copy()
    price = np.full(m, NO_PAIR, dtype=np.int64)
    entry = np.full(m, -1, dtype=np.int64)
    rows = (A.indptr, A.indices, A.data)
    sides = _sides(problem)
    by_row = (np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64))
    implied_bounds(*rows, *sides, lower, upper, *by_row)
    find_candidates(*rows, lengths, *sides, *by_row, price, entry)
    candidates = np.flatnonzero(price < NO_PAIR)
    if candidates.size < at_least:
        return None
    candidates = candidates[np.argsort(price[candidates], kind="stable")]
    k = candidates.size
    pairs = Pairs(
        np.empty(k, dtype=np.int64),
        np.empty(k, dtype=np.int64),
        np.empty(k),
        np.empty(k, dtype=np.int64),
        np.empty(k),
        np.empty(k, dtype=np.int64),
        lower,
        upper,
    )
    row_taken, column_taken = np.zeros(m, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    count = take(
        *rows,
        by_column.indptr,
        by_column.indices,
        problem.row_lower,
        *by_row,
        candidates,
        entry,
        row_taken,
        column_taken,
        pairs.row,
        pairs.column,
        pairs.pivot,
        pairs.other,
        pairs.other_entry,
        pairs.origin,
        lower,
        upper,
    )
    if count < at_least:
        return None
    return Pairs(
        pairs.row[:count],
        pairs.column[:count],
        pairs.pivot[:count],
        pairs.other[:count],
        pairs.other_entry[:count],
        pairs.origin[:count],
        lower,
        upper,
    )


def _sides(problem: Problem) -> tuple[FloatArray, FloatArray]:
    return problem.row_lower, problem.row_upper
