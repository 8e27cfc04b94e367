"""Models for the walkers: small ones with optima known by enumeration, and awkward shapes."""

from __future__ import annotations

import itertools

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel

INF = np.inf


def model(*args: object, **more: object) -> MipModel:
    return MipModel.of(Problem.from_arrays(*args, **more))  # type: ignore[arg-type]


def random_model(seed: int, *, rows: int = 8, columns: int = 10, feasible: bool = True) -> MipModel:
    """Mixed columns, both sides, equations, infinities and empty rows; keeps a hidden point."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-4, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    whole = rng.random(columns) < 0.7
    lower = np.where(rng.random(columns) < 0.1, -INF, rng.integers(-3, 1, columns))
    upper = np.where(rng.random(columns) < 0.1, INF, rng.integers(1, 5, columns))
    hidden = rng.integers(-3, 5, columns)
    hidden = np.clip(hidden, np.where(np.isfinite(lower), lower, -3), np.where(upper < 9, upper, 4))
    at = A @ hidden
    row_lower = np.where(rng.random(rows) < 0.5, -INF, at - rng.integers(0, 3, rows))
    row_upper = np.where(rng.random(rows) < 0.5, INF, at + rng.integers(0, 3, rows))
    equation = rng.random(rows) < 0.2
    row_lower[equation] = row_upper[equation] = at[equation]
    if not feasible:
        row_lower[0], row_upper[0] = at[0] + 0.4, at[0] + 0.6
        A[0] = np.where(whole, A[0], 0)
    cost = rng.integers(-5, 6, columns).astype(float)
    cost[~np.isfinite(lower) | ~np.isfinite(upper)] = 0.0
    return model(
        cost, A.astype(float), row_lower, row_upper, lower=lower, upper=upper, integrality=whole
    )


def best_by_enumeration(found: MipModel) -> float:
    """Return the optimum of a pure integer model with few points, inf without one."""
    ranges = [
        range(int(low), int(high) + 1) for low, high in zip(found.lower, found.upper, strict=True)
    ]
    points = np.array(list(itertools.product(*ranges)), dtype=float)
    activity = points @ found.problem.matrix.toarray().T
    good = np.all((activity >= found.row_lower) & (activity <= found.row_upper), axis=1)
    return float(np.min(points[good] @ found.cost, initial=INF))


def knapsack(seed: int) -> MipModel:
    rng = np.random.default_rng(seed)
    weight, value = rng.integers(5, 30, 12), rng.integers(5, 30, 12)
    capacity = int(weight.sum() // 2)
    return model(
        value, weight[None, :].astype(float), row_upper=[capacity], upper=1.0, integrality=True,
        maximize=True,
    )  # fmt: skip


def set_cover(seed: int) -> MipModel:
    rng = np.random.default_rng(seed)
    A = (rng.random((15, 12)) < 0.3).astype(float)
    A[np.arange(15), rng.integers(12, size=15)] = 1.0
    return model(rng.integers(1, 9, 12), A, 1.0, upper=1.0, integrality=True)


def assignment(seed: int, size: int = 6) -> tuple[MipModel, np.ndarray]:
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 50, (size, size)).astype(float)
    A = np.zeros((2 * size, size * size))
    for i, j in itertools.product(range(size), range(size)):
        A[i, i * size + j] = A[size + j, i * size + j] = 1.0
    return model(cost.ravel(), A, 1.0, 1.0, upper=1.0, integrality=True), cost


def lot_sizing() -> MipModel:
    """Six periods: production behind set-ups, stock balances as equations; optimum by HiGHS."""
    periods, demand, most = 6, np.array([20, 10, 25, 5, 30, 15.0]), 60.0
    A, low, high = [], [], []
    for t in range(periods):
        balance = np.zeros(3 * periods)
        balance[t] = 1.0  # made
        balance[2 * periods + t] = -1.0  # stock after
        if t:
            balance[2 * periods + t - 1] = 1.0
        A.append(balance), low.append(demand[t]), high.append(demand[t])
        setup = np.zeros(3 * periods)
        setup[t], setup[periods + t] = 1.0, -most
        A.append(setup), low.append(-INF), high.append(0.0)
    cost = np.concatenate([np.full(periods, 1.0), np.full(periods, 50.0), np.full(periods, 2.0)])
    upper = np.concatenate([np.full(periods, INF), np.ones(periods), np.full(periods, INF)])
    whole = np.repeat([False, True, False], periods)
    return model(cost, np.array(A), low, high, upper=upper, integrality=whole)
