"""Linear programs on which a primal simplex method can go wrong, and random ones."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import Problem

INF = np.inf


def beale() -> Problem:
    """Beale's example, on which Dantzig's rule cycles; its optimum is -1/20."""
    matrix = [[1 / 4, -60, -1 / 25, 9], [1 / 2, -90, -1 / 50, 3], [0, 0, 1, 0]]
    return Problem.from_arrays([-3 / 4, 150, -1 / 50, 6], matrix, row_upper=[0, 0, 1])


def rotating() -> Problem:
    """A cone whose pivots rotate by 72 degrees at no gain, in the manner of Hoffman's example."""
    angle, width = 2 * np.pi / 5, 2.0
    turns = [k * angle for k in range(5)]
    first = [np.cos(turn) for turn in turns] + [-width * np.sin(turn) for turn in turns]
    second = [np.sin(turn) / width for turn in turns] + [np.cos(turn) for turn in turns]
    cost = [1.0 - width * np.cos(turn) for turn in turns] + [-np.sin(turn) for turn in turns]
    return Problem.from_arrays(
        cost, [first, second, [1.0] * 10], [0, 0, -INF], [0, 0, 1], lower=0.0
    )


def kuhn() -> Problem:
    """Kuhn's example of cycling with Dantzig's rule; its optimum is -2."""
    matrix = [[-2, -9, 1, 9], [1 / 3, 1, -1 / 3, -2], [2, 3, -1, -12]]
    return Problem.from_arrays([-2, -3, 1, 12], matrix, row_upper=[0, 0, 2])


def klee_minty(size: int) -> Problem:
    """Klee and Minty's cube, through whose vertices Dantzig's rule goes; its optimum is -5^size."""
    matrix = np.zeros((size, size))
    for row in range(size):
        matrix[row, :row] = 2.0 ** (row - np.arange(row) + 1)
        matrix[row, row] = 1.0
    cost = -(2.0 ** (size - 1 - np.arange(size)))
    return Problem.from_arrays(cost, matrix, row_upper=5.0 ** np.arange(1, size + 1))


def assignment(size: int, seed: int) -> Problem:
    """Assign as many people to tasks: every vertex is highly degenerate, a row is redundant."""
    random = np.random.default_rng(seed)
    people = np.kron(np.eye(size), np.ones(size))
    tasks = np.kron(np.ones(size), np.eye(size))
    cost = random.integers(1, 50, size * size).astype(float)
    return Problem.from_arrays(cost, np.vstack([people, tasks]), 1.0, 1.0)


def random_problem(seed: int, rows: int = 12, columns: int = 18) -> Problem:
    """Return a feasible and bounded LP with every kind of row and column."""
    random = np.random.default_rng(seed)
    matrix = np.where(
        random.random((rows, columns)) < 0.4, random.normal(size=(rows, columns)), 0.0
    )
    point = random.normal(size=columns).round(1)
    activity = matrix @ point
    below, above = random.random(rows), random.random(rows)
    kind = random.integers(0, 5, rows)
    row_lower = np.where(np.isin(kind, (0, 4)), -INF, activity - below * (kind != 2))
    row_upper = np.where(np.isin(kind, (1, 4)), INF, activity + above * (kind != 2))
    kind = random.integers(0, 5, columns)
    lower = np.where(np.isin(kind, (0, 4)), -INF, point - random.random(columns) * (kind != 2))
    upper = np.where(np.isin(kind, (1, 4)), INF, point + random.random(columns) * (kind != 2))
    # A dual feasible point makes it bounded: cost = A'y + z with the signs that sides allow.
    y = np.abs(random.normal(size=rows))
    y = np.where(np.isfinite(row_lower), y, np.where(np.isfinite(row_upper), -y, 0.0))
    z = np.abs(random.normal(size=columns))
    z = np.where(np.isfinite(lower), z, np.where(np.isfinite(upper), -z, 0.0))
    return Problem.from_arrays(
        matrix.T @ y + z, matrix, row_lower, row_upper, lower=lower, upper=upper
    )


def integer_problem(seed: int) -> Problem:
    """Return an LP of small integers, full of ties: optimal, infeasible or unbounded."""
    random = np.random.default_rng(seed)
    m, n = random.integers(1, 20, 2)
    matrix = random.integers(-3, 4, (m, n)) * (random.random((m, n)) < 0.4)
    side, width = random.integers(-4, 5, m).astype(float), random.integers(0, 4, m)
    kind = random.integers(0, 4, m)
    row_lower = np.where(kind == 0, -INF, side)
    row_upper = np.where(kind == 1, INF, np.where(kind == 2, side, side + width))
    bound = random.integers(-3, 2, n).astype(float)
    kind = random.integers(0, 6, n)
    lower = np.where(np.isin(kind, (0, 5)), -INF, np.where(kind < 4, 0.0, bound))
    above = np.where(np.isfinite(lower), lower, bound) + random.integers(0, 4, n)
    upper = np.where(np.isin(kind, (0, 1, 2)), INF, above)
    cost = random.integers(-5, 6, n).astype(float)
    return Problem.from_arrays(cost, matrix, row_lower, row_upper, lower=lower, upper=upper)


def reference(problem: Problem) -> float:
    """Return the optimum by HiGHS."""
    from solvers.core.options import EngineOptions
    from solvers.core.progress import Progress
    from solvers.highs import solve

    return solve(problem, EngineOptions(device="cpu"), Progress()).objective
