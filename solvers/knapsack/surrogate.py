"""Bounds and packings from the number of items: a surrogate constraint.

The linear relaxation packs b items and a part of another. Every packing has at most b items or at
least b + 1, and either condition cuts the relaxation off. Added to the capacity constraint with a
multiplier s it gives a knapsack problem again,

    sum (weight_j + s) x_j <= capacity + s k,

whose optimum bounds the case, and solves it if its packing keeps the capacity (Martello, Pisinger,
Toth, "Dynamic programming and strong bounds for the 0-1 knapsack problem", 1999, section 4). With s
from the dual of the relaxation under both constraints, items near its break item differ in weight
as much as any, so that packings which fill the knapsack are found early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import LARGEST, IntArray, Knapsack

BISECTIONS = 50
"""Halvings of the interval of the capacity's price; more than the digits of a double are no use."""


@dataclass(frozen=True)
class Case:
    """Packings of at most ``count`` items, or of at least as many."""

    count: int
    at_least: bool


def cases(items: Ordered, profit: int) -> list[Case]:
    """Return the cases that may hold a packing better than ``profit``; there are at most two.

    There is one where the lightest b + 1 items do not fit, or the most profitable b are no better.
    """
    b, n = items.break_item, items.num_items
    if not 0 < b < n:
        return []
    found = []
    if int(np.partition(items.profit, n - b)[n - b :].sum()) > profit:
        found.append(Case(b, at_least=False))
    if int(np.partition(items.weight, b)[: b + 1].sum()) <= items.capacity:
        found.append(Case(b + 1, at_least=True))
    return found


def surrogate(items: Ordered, case: Case) -> Knapsack | None:
    """Return the 0/1 problem whose optimum bounds a case; None where its sums would be too large.

    Its items are those of ``items``, in the same order.
    """
    s = _multiplier(items, case)
    capacity = items.capacity + s * case.count
    weight_sum = int(items.weight_before[-1]) + abs(s) * items.num_items
    if max(weight_sum, abs(capacity)) >= LARGEST // 2:
        return None
    return Knapsack.binary(items.profit, items.weight + s, capacity)


def _multiplier(items: Ordered, case: Case) -> int:
    """Return s: the price of an item over that of capacity, where the relaxation keeps both."""
    k = case.count
    low, high = 0.0, float(np.max(items.profit / items.weight))
    for _ in range(BISECTIONS):
        price = 0.5 * (low + high)
        if price in (low, high):
            break
        if _weight_of_best(items, price, k) > items.capacity:
            low = price
        else:
            high = price
    value = np.sort(items.profit - high * items.weight)[::-1]
    worth = 0.5 * (value[k - 1] + value[min(k, value.size - 1)])
    if high <= 0.0:
        return 0
    s = round(float(np.clip(worth / high, -float(LARGEST), float(LARGEST))))
    return min(s, 0) if case.at_least else max(s, 0)


def _weight_of_best(items: Ordered, price: float, count: int) -> int:
    """Return the weight of the ``count`` items that are worth most at a price of capacity."""
    value: IntArray = items.profit - price * items.weight
    best = np.argpartition(value, items.num_items - count)[items.num_items - count :]
    return int(items.weight[best].sum())
