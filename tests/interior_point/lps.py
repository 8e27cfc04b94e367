"""Linear programs with columns and rows of every kind, and a known point inside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.problem import Problem

INF = np.inf


def of_every_kind(
    rng: np.random.Generator, rows: int, columns: int, density: float = 0.4
) -> Problem:
    """Return a feasible and bounded LP: free, boxed, one-sided and fixed columns, ranged rows."""
    matrix = np.where(rng.random((rows, columns)) < density, rng.normal(size=(rows, columns)), 0.0)
    inside = rng.normal(size=columns)
    width = rng.uniform(0.1, 2.0, columns)
    kind = rng.integers(0, 5, columns)
    lower = np.select([kind <= 1, kind == 2, kind == 3], [inside - width, -INF, -INF], inside)
    upper = np.select(
        [kind == 0, kind == 2, kind == 4], [inside + width, inside + width, inside], INF
    )
    activity = matrix @ inside
    sort = rng.integers(0, 4, rows)
    row_lower = np.where(sort == 1, -INF, activity - np.where(sort == 0, 0.0, 0.5))
    row_upper = np.where(sort == 2, INF, activity + np.where(sort == 0, 0.0, 0.5))
    row_lower[sort == 0] = row_upper[sort == 0] = activity[sort == 0]
    # a cost that a dual point proves bounded
    y = rng.normal(size=rows)
    y = np.where(sort == 1, -np.abs(y), np.where(sort == 2, np.abs(y), y))
    reduced = rng.normal(size=columns)
    reduced = np.select(
        [kind == 1, kind == 2, kind == 3],
        [np.abs(reduced), -np.abs(reduced), 0.0 * reduced],
        reduced,
    )
    cost: npt.NDArray[np.float64] = matrix.T @ y + reduced
    return Problem.from_arrays(cost, matrix, row_lower, row_upper, lower=lower, upper=upper)
