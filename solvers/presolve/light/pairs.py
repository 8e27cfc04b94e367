"""Which columns to replace by which equations, and what becomes of their bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray, Problem
from solvers.core.rows import SparseRows
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

    def first(self, count: int) -> Pairs:
        """Return the first so many pairs; the bounds are the same."""
        of_pair = ("row", "column", "pivot", "other", "other_entry", "origin")
        return replace(self, **{name: getattr(self, name)[:count] for name in of_pair})


def choose_pairs(problem: Problem, at_least: float = 1.0) -> Pairs | None:
    """Choose pairs that do not touch each other, the cheapest first.

    Returns None where there are fewer than ``at_least``. Whether there can be as many is asked
    first, of the pattern alone: most models have few short equations, or none.
    """
    m, n = problem.num_rows, problem.num_columns
    by_column = SparseRows.of(problem.matrix_csc)
    lengths = by_column.lengths
    if count_promising(problem, lengths) < at_least:
        return None
    price = np.full(m, NO_PAIR, dtype=np.int64)
    entry = np.full(m, -1, dtype=np.int64)
    by_row = (np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64))
    implied_bounds(problem, *by_row)
    find_candidates(problem, lengths, *by_row, price, entry)
    candidates = np.flatnonzero(price < NO_PAIR)
    if candidates.size < at_least:
        return None
    candidates = candidates[np.argsort(price[candidates], kind="stable")]
    k = candidates.size
    pairs = Pairs(
        row=np.empty(k, dtype=np.int64),
        column=np.empty(k, dtype=np.int64),
        pivot=np.empty(k),
        other=np.empty(k, dtype=np.int64),
        other_entry=np.empty(k),
        origin=np.empty(k, dtype=np.int64),
        lower=problem.lower.copy(),
        upper=problem.upper.copy(),
    )
    count = take(problem, by_column, *by_row, candidates, entry, pairs)
    return pairs.first(count) if count >= at_least else None
