"""Linear programs with many more columns than rows, of which few take part."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem


def covering(seed: int, rows: int = 12, columns: int = 240) -> Problem:
    """Return a covering LP: min c'x, Ax >= 1, 0 <= x; a few columns at most are used."""
    generator = np.random.default_rng(seed)
    matrix = sp.random_array((rows, columns), density=0.3, format="csr", rng=generator)
    matrix.data[:] = 1.0
    matrix = sp.csr_array(matrix + sp.csr_array(np.eye(rows, columns)))
    matrix.data[:] = 1.0
    cost = generator.uniform(0.5, 2.0, columns) * np.maximum(1.0, matrix.sum(axis=0))
    return Problem.from_arrays(cost, matrix, np.ones(rows), np.inf, offset=1.5)


def mixed(seed: int, rows: int = 12, columns: int = 200) -> Problem:
    """Return a feasible, bounded LP with free, boxed and fixed columns and rows of every kind.

    Drawn from its optimum: most columns are at a bound with a clear reduced cost, and half the
    inequalities are slack.
    """
    generator = np.random.default_rng(seed)
    matrix = sp.random_array((rows, columns), density=0.25, format="csr", rng=generator)
    matrix.data = generator.uniform(-1.0, 1.0, matrix.nnz)
    lower, upper = generator.uniform(-3.0, 0.0, columns), generator.uniform(0.5, 4.0, columns)
    kind = generator.integers(0, 10, columns)
    x = np.where(kind < 7, lower, upper)
    reduced = np.where(kind < 7, 1.0, -1.0) * generator.uniform(0.1, 2.0, columns)
    basic = generator.choice(columns, rows, replace=False)
    x[basic], reduced[basic] = generator.uniform(lower, upper)[basic], 0.0
    upper[(kind < 4) & (x <= lower)] = np.inf
    free = basic[: rows // 4]
    lower[free], upper[free] = -np.inf, np.inf
    fixed = np.flatnonzero(kind == 9)
    lower[fixed] = upper[fixed] = x[fixed]
    activity = matrix @ x
    slack = generator.uniform(0.5, 2.0, rows)
    is_slack, is_equation = np.arange(rows) % 2 == 0, np.arange(rows) % 6 == 1
    row_lower = np.where(is_slack, activity - slack, activity)
    row_upper = np.where(is_equation, activity, activity + slack)
    dual = np.where(is_slack, 0.0, generator.uniform(0.2, 1.5, rows))
    cost = matrix.T @ dual + reduced
    return Problem.from_arrays(cost, matrix, row_lower, row_upper, lower=lower, upper=upper)
