"""Knapsack problems in the guises that their engines recognise."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray, Problem
from tests.campaign.generators.shared import INF, Random, whole


def _weights(rng: Random, shape: int | tuple[int, ...]) -> FloatArray:
    """Return whole numbers, tenths, thousandths or numbers in a narrow range."""
    kind = int(rng.integers(5))
    if kind == 0:
        return np.asarray(rng.integers(1, 30, shape).astype(float))
    if kind == 1:
        return np.asarray(rng.integers(1, 300, shape) * 0.1)
    if kind == 2:
        return np.asarray(rng.integers(1, 9000, shape) / 1000)
    if kind == 3:
        return np.asarray(rng.integers(990, 1011, shape).astype(float))
    return np.asarray(rng.integers(1, 40, shape) * 6.0)


def knapsack_row(rng: Random) -> Problem:
    """One row; bounded or binary, on either side, shifted, mirrored, with either sign."""
    n = int(rng.integers(1, 13))
    weight, profit = _weights(rng, n), _weights(rng, n)
    flip = rng.random(n) < rng.choice([0.0, 0.2])
    weight[flip], profit[flip] = -weight[flip], -profit[flip]
    lower = np.where(rng.random(n) < 0.2, rng.integers(-3, 3, n), 0).astype(float)
    upper = lower + np.where(rng.random(n) < rng.choice([0.0, 0.5]), rng.integers(0, 5, n), 1)
    side = float(weight @ lower + rng.uniform(-0.1, 1.0) * np.abs(weight).sum())
    side = round(side, int(rng.integers(0, 4)))
    at_least = bool(rng.random() < 0.3)
    sides = (side, INF) if at_least else (-INF, side)
    return whole(profit, weight, *sides, lower=lower, upper=upper, maximize=not at_least)


def knapsack_unbounded(rng: Random) -> Problem:
    """Copies that only the capacity limits."""
    n = int(rng.integers(1, 7))
    weight = _weights(rng, n)
    side = float(round(weight.mean() * rng.uniform(0.5, 6), 2))
    return whole(_weights(rng, n), weight, row_upper=side, upper=INF, maximize=True)


def knapsack_subset_sum(rng: Random) -> Problem:
    """Profits that are the weights."""
    n = int(rng.integers(2, 14))
    weight = _weights(rng, n)
    side = round(float(weight.sum() * rng.uniform(0.2, 0.8)), 1)
    return whole(weight, weight, row_upper=side, maximize=True)


def knapsack_correlated(rng: Random) -> Problem:
    """Strongly correlated profits, a few tens of items."""
    n = int(rng.integers(5, 45))
    weight = rng.integers(1, 1000, n).astype(float)
    profit = weight + float(rng.integers(0, 101))
    return whole(profit, weight, row_upper=np.floor(weight.sum() / 2), maximize=True)


def knapsack_rows(rng: Random) -> Problem:
    """Several capacities, tight or generous."""
    m, n = int(rng.integers(2, 6)), int(rng.integers(3, 13))
    weight = _weights(rng, (m, n))
    sides = np.round(weight.sum(axis=1) * rng.uniform(0.1, 0.9, m), 1)
    upper = rng.integers(1, 3, n) if rng.random() < 0.3 else 1.0
    return whole(_weights(rng, n), weight, row_upper=sides, upper=upper, maximize=True)


def knapsack_choice(rng: Random) -> Problem:
    """One item, or at most one, of each class; sometimes a column in no class."""
    classes, each = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    loose = int(rng.integers(0, 3))
    n = classes * each + loose
    choose = np.hstack([np.kron(np.eye(classes), np.ones(each)), np.zeros((classes, loose))])
    weight = _weights(rng, n)
    side = round(float(weight.sum() / each * rng.uniform(0.3, 1.1)), 1)
    exactly = rng.random(classes) < 0.6
    return whole(
        _weights(rng, n),
        np.vstack([weight, choose]),
        np.append(-INF, np.where(exactly, 1.0, -INF)),
        np.append(side, np.ones(classes)),
        maximize=True,
    )


def knapsack_multiple(rng: Random) -> Problem:
    """Items for several knapsacks, each packed at most once."""
    items, sacks = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    weight, profit = _weights(rng, items), _weights(rng, items)
    capacity = np.round(weight.sum() / sacks * rng.uniform(0.3, 1.1, sacks), 1)
    A = np.vstack([np.kron(weight, np.eye(sacks)), np.kron(np.eye(items), np.ones(sacks))])
    sides = np.append(capacity, np.ones(items))
    return whole(np.repeat(profit, sacks), A, row_upper=sides, maximize=True)


def knapsack_equality(rng: Random) -> Problem:
    """A capacity that has to be filled, or a range of them."""
    n = int(rng.integers(2, 11))
    weight = rng.integers(1, 40, n).astype(float)
    side = float(rng.integers(0, int(weight.sum()) + 1))
    low = side - float(rng.choice([0, 0, 1, 3]))
    return whole(rng.integers(1, 40, n), weight, low, side, maximize=bool(rng.random() < 0.7))


KNAPSACKS = (
    knapsack_row,
    knapsack_unbounded,
    knapsack_subset_sum,
    knapsack_correlated,
    knapsack_rows,
    knapsack_choice,
    knapsack_multiple,
    knapsack_equality,
)
