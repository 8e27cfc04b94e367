"""Badly scaled models: huge and tiny numbers next to each other."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray, Problem
from tests.campaign.generators.shared import INF, Random, sides_around, size, sparse, whole

HUGE = (1e12, 1e13, 1e14, 1e15, 3e15, 1e16, 1e17)


def _wild(rng: Random, shape: int | tuple[int, ...], span: float) -> FloatArray:
    signs = rng.choice([-1.0, 1.0], shape)
    return np.asarray(signs * 10.0 ** rng.uniform(-span, span, shape))


def scaled_lp(rng: Random) -> Problem:
    """Coefficients from 1e-9 to 1e9 in rows around a point."""
    m, n = size(rng, 5), size(rng, 6)
    A = _wild(rng, (m, n), float(rng.choice([4, 6, 9]))) * (rng.random((m, n)) < 0.7)
    low, high = sides_around(rng, A @ rng.integers(0, 5, n))
    upper = np.where(rng.random(n) < 0.7, 10.0, INF)
    return Problem.from_arrays(_wild(rng, n, 3.0), A, low, high, upper=upper)


def scaled_unbounded(rng: Random) -> Problem:
    """Directions without limit that rows of very different sizes allow."""
    m, n = size(rng, 4), int(rng.integers(2, 6))
    A = _wild(rng, (m, n), float(rng.choice([3, 6, 8]))) * (rng.random((m, n)) < 0.6)
    d = 10.0 ** rng.integers(-3, 4, n) * (rng.random(n) < 0.6)
    d[0] = 1.0
    up = A @ d >= 0
    low, high = np.where(up, -1.0, -INF), np.where(up, INF, 1.0)
    lower = np.where(rng.random(n) < 0.3, -INF, 0.0)
    return Problem.from_arrays(-_wild(rng, n, 2.0), A, low, high, lower=lower)


def scaled_units(rng: Random) -> Problem:
    """A decent model whose rows and columns are in other units."""
    m, n = size(rng, 6), size(rng, 8)
    A = sparse(rng, m, n)
    x = rng.integers(0, 6, n)
    low, high = sides_around(rng, A @ x)
    rows, columns = 10.0 ** rng.integers(-4, 5, m), 10.0 ** rng.integers(-4, 5, n)
    return Problem.from_arrays(
        rng.integers(-3, 9, n) * columns,
        rows[:, None] * A * columns,
        rows * low,
        rows * high,
        upper=np.where(rng.random(n) < 0.8, 9.0, INF) / columns,
    )


def huge_knapsack(rng: Random) -> Problem:
    """Weights and profits up to 1e17, where doubles leave out whole numbers."""
    n = int(rng.integers(1, 11))
    m = int(rng.choice([1, 1, 1, 2, 3]))
    weight = np.floor(rng.uniform(0.1, 1.0, (m, n)) * float(rng.choice(HUGE)))
    if rng.random() < 0.3:
        weight[:, rng.random(n) < 0.5] = float(rng.integers(1, 100))
    profit = np.floor(rng.uniform(0.1, 1.0, n) * float(rng.choice([10.0, 1e6, *HUGE])))
    side = np.floor(weight.sum(axis=1) * rng.uniform(0.05, 0.9, m))
    return whole(profit, weight, row_upper=side, maximize=True)


def huge_knapsack_and_more(rng: Random) -> Problem:
    """The same with a continuous column, which no knapsack engine takes."""
    base = huge_knapsack(rng)
    n, m = base.num_columns, base.num_rows
    extra = float(rng.choice([1.0, -1.0, 1e6, 1e15]))
    A = np.hstack([base.matrix.toarray(), np.full((m, 1), extra)])
    return Problem.from_arrays(
        np.append(-base.cost, float(rng.integers(-9, 10))),
        A,
        base.row_lower,
        base.row_upper,
        upper=np.append(base.upper, float(rng.choice([1.0, 100.0]))),
        integrality=np.arange(n + 1) < n,
        maximize=True,
    )


def huge_costs(rng: Random) -> Problem:
    """A decent mixed-integer model with costs near 1e12 to 1e17."""
    m, n = size(rng, 4), int(rng.integers(2, 8))
    A = sparse(rng, m, n, 0, 9)
    cost = np.floor(rng.uniform(-1.0, 1.0, n) * float(rng.choice(HUGE)))
    return whole(cost, A, row_upper=np.floor(0.5 * A.sum(axis=1)), upper=3.0, maximize=True)


def huge_sides(rng: Random) -> Problem:
    """Sides and bounds near 1e15 with coefficients near 1."""
    m, n = size(rng, 4), int(rng.integers(1, 6))
    A = sparse(rng, m, n, 1, 9)
    side = np.floor(float(rng.choice(HUGE)) * rng.uniform(0.1, 1.0, m))
    integrality = rng.random(n) < rng.choice([0.0, 0.7])
    return Problem.from_arrays(
        rng.integers(-2, 9, n),
        A,
        row_upper=side,
        upper=float(rng.choice([1e6, 1e15, 9007199254740995.0, 1e17])),
        integrality=integrality,
        maximize=True,
    )


def huge_big_m(rng: Random) -> Problem:
    """Switches with a big-M of 1e8 to 1e12."""
    k = int(rng.integers(1, 5))
    big = 10.0 ** int(rng.integers(8, 13))
    A = np.zeros((k + 1, 2 * k))
    A[:k, :k], A[:k, k:], A[k, :k] = np.eye(k), -big * np.eye(k), 1.0
    switch = np.arange(2 * k) >= k
    need = float(rng.integers(1, 50))
    return Problem.from_arrays(
        np.where(switch, rng.integers(1, 40, 2 * k), rng.integers(0, 5, 2 * k)),
        A,
        np.append(np.full(k, -INF), need),
        np.append(np.zeros(k), INF),
        upper=np.where(switch, 1.0, INF),
        integrality=switch,
    )


def tiny_next_to_one(rng: Random) -> Problem:
    """Coefficients of 1e-12 to 1e-7 next to 1."""
    m, n = size(rng, 5), int(rng.integers(2, 8))
    A = sparse(rng, m, n, 1, 5)
    tiny = 10.0 ** -rng.integers(7, 13, (m, n)).astype(float)
    A = np.where(rng.random((m, n)) < 0.3, tiny, A)
    integrality = rng.random(n) < rng.choice([0.0, 0.6])
    return Problem.from_arrays(
        -rng.integers(1, 9, n),
        A,
        row_upper=rng.integers(1, 20, m),
        upper=float(rng.choice([10.0, 1e6])),
        integrality=integrality,
    )


SCALED = (
    scaled_lp,
    scaled_unbounded,
    scaled_units,
    huge_knapsack,
    huge_knapsack_and_more,
    huge_costs,
    huge_sides,
    huge_big_m,
    tiny_next_to_one,
)
