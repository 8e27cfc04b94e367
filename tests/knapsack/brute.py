"""Every packing of a small knapsack problem, looked at one by one; and classes of hard ones."""

from __future__ import annotations

from itertools import product

import numpy as np

from solvers.knapsack.items import Knapsack


def best_profit(knapsack: Knapsack) -> int | None:
    """Return the largest profit of a packing that fits; None if none does."""
    ranges = [range(int(count) + 1) for count in knapsack.copies]
    packings = list(product(*ranges))
    x = np.array(packings, dtype=np.int64).reshape(len(packings), knapsack.num_items)
    fits = x @ knapsack.weight <= knapsack.capacity
    return int((x @ knapsack.profit)[fits].max()) if fits.any() else None


def dense_profit(knapsack: Knapsack) -> int:
    """Return the optimum of a 0/1 problem with positive weights, by a table over all capacities."""
    table = np.zeros(knapsack.capacity + 1, dtype=np.int64)
    for profit, weight in zip(knapsack.profit, knapsack.weight, strict=True):
        if weight <= knapsack.capacity:
            table[weight:] = np.maximum(table[weight:], table[: table.size - weight] + profit)
    return int(table[-1])


CLASSES = (
    "uncorrelated",
    "weakly",
    "strongly",
    "inverse",
    "almost",
    "subset sum",
    "even-odd",
    "even-odd strongly",
    "similar",
    "multiple strongly",
    "profit ceiling",
    "circle",
)
"""Kinds of instances that are hard in different ways (Pisinger, "Where are the hard knapsack
problems?", 2005)."""


def instance(kind: str, items: int, largest: int, seed: int) -> Knapsack:
    """Return a 0/1 problem of one of the classes, with half of the weight as capacity."""
    rng = np.random.default_rng(seed)
    tenth = max(largest // 10, 1)
    weight = rng.integers(1, largest + 1, items)
    free = rng.integers(1, largest + 1, items)
    if kind.startswith("even-odd"):
        weight = 2 * ((weight + 1) // 2)
    if kind == "inverse":
        weight = free + tenth
    if kind == "similar":
        weight = 100 * largest + rng.integers(0, tenth, items)
    arc = np.sqrt(np.maximum(0.0, 4.0 * largest**2 - (weight - 2.0 * largest) ** 2))
    profit = {
        "uncorrelated": free,
        "weakly": np.maximum(1, weight + rng.integers(-tenth, tenth + 1, items)),
        "strongly": weight + tenth,
        "inverse": free,
        "almost": weight + tenth + rng.integers(-largest // 500, largest // 500 + 1, items),
        "subset sum": weight,
        "even-odd": weight,
        "even-odd strongly": weight + tenth,
        "similar": free,
        "multiple strongly": weight + np.where(weight % 6 == 0, 3, 2) * tenth,
        "profit ceiling": 3 * -(-weight // 3),
        "circle": np.maximum(1, (2 / 3 * arc)).astype(np.int64),
    }[kind]
    capacity = int(weight.sum()) // 2
    return Knapsack.binary(profit, weight, capacity | 1 if "odd" in kind else capacity)
