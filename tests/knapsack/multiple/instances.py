"""Multiple knapsack problems: drawn as Martello and Toth do, every packing of one, and models."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.knapsack.multiple.items import MultipleKnapsack


def best_profit(problem: MultipleKnapsack) -> int:
    """Return the largest profit of a packing, looking at all."""
    n, m = problem.num_items, problem.num_knapsacks
    places = np.array(list(product(range(m + 1), repeat=n)), dtype=np.int64).reshape(
        (m + 1) ** n, n
    )
    inside = places[:, :, None] == np.arange(m)
    loads = (inside * problem.weight[:, None]).sum(axis=1)
    fits = (loads <= problem.capacity).all(axis=1)
    return int((inside.any(axis=2) @ problem.profit)[fits].max())


def drawn(
    kind: str, items: int, knapsacks: int, seed: int, *, similar: bool = True
) -> MultipleKnapsack:
    """Return a problem whose knapsacks hold half of all weight together.

    Of Martello and Toth's classes ("Knapsack Problems", 1990, section 6.6).
    """
    rng = np.random.default_rng(seed)
    weight = rng.integers(10, 1001, items)
    profit = {
        "uncorrelated": rng.integers(10, 1001, items),
        "weakly": np.maximum(1, weight + rng.integers(-100, 101, items)),
        "strongly": weight + 100,
        "subset-sum": weight,
    }[kind]
    left = int(weight.sum()) // 2
    capacity = []
    for _ in range(knapsacks - 1):
        share = int(weight.sum()) // knapsacks
        low, high = (2 * share // 5, 3 * share // 5) if similar else (0, left)
        capacity.append(min(left, int(rng.integers(low, high + 1))))
        left -= capacity[-1]
    return MultipleKnapsack(profit, weight, np.array([*capacity, left]))


def as_model(
    problem: MultipleKnapsack,
    *,
    row_factor: np.ndarray | None = None,
    only_fitting: bool = False,
    at_least: bool = False,
    maximize: bool = True,
) -> Problem:
    """Return a problem as a model: a column for each pair, items' rows before capacities.

    Capacity rows are multiplied by ``row_factor``; pairs that do not fit have no column with
    ``only_fitting``; with ``at_least`` all rows are turned round.
    """
    n, m = problem.num_items, problem.num_knapsacks
    item, knapsack = np.divmod(np.arange(n * m), m)
    if only_fitting:
        fits = problem.weight[item] <= problem.capacity[knapsack]
        item, knapsack = item[fits], knapsack[fits]
    factor = np.ones(m) if row_factor is None else row_factor
    column = np.arange(item.size)
    values = np.concatenate([np.ones(item.size), problem.weight[item] * factor[knapsack]])
    place = np.concatenate([item, n + knapsack]), np.concatenate([column, column])
    matrix = sp.csr_array((values, place), shape=(n + m, item.size))
    side = np.concatenate([np.ones(n), problem.capacity * factor])
    cost = problem.profit[item].astype(float)
    return Problem.from_arrays(
        cost if maximize else -cost,
        -matrix if at_least else matrix,
        row_lower=-side if at_least else -np.inf,
        row_upper=np.inf if at_least else side,
        upper=1.0,
        integrality=np.ones(item.size, dtype=bool),
        maximize=maximize,
    )
