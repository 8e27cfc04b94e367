"""Depth-first search item by item, for what has too many patterns.

An item goes into each knapsack in which it fits, the tightest first, and at last nowhere. What the
items that follow add is bounded by the surrogate problem, one knapsack with all the room left: by
its exact values, tabulated beforehand for every number of items and every room, where the table is
not too large, and by its relaxation elsewhere. Knapsacks with equal room are tried once, and no
item is packed while one that is no heavier and worth no less is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import MultipleKnapsack

MOST_CELLS = 20_000_000
"""Values of surrogate problems that are tabulated at most: 160 megabytes."""

DEPTH, PROFIT, BEST, NODES = range(4)
"""Places in ``control``: items decided, their profit, the profit to beat, nodes so far."""

FINISHED, PAUSED = range(2)
"""Why a search returns."""

UNTRIED = -1
"""Choice of an item that nothing was decided for."""


class Tree(NamedTuple):
    """A search: items and knapsacks, the values of surrogates, and what is decided.

    ``value[i, r]`` is the best profit of items i and after in a knapsack of r; without rows where
    the table would be too large, and then items come by falling efficiency. ``choice`` (n,) is a
    knapsack, or their number for none; ``room`` (m,) is what is left.
    """

    profit: IntArray
    weight: IntArray
    value: IntArray
    choice: IntArray
    room: IntArray
    control: IntArray
    item: IntArray


def make_tree(problem: MultipleKnapsack, best: int) -> Tree:
    """Return the search for packings worth more than ``best``."""
    n, total = problem.num_items, int(problem.capacity.sum())
    tabulated = (n + 1) * (total + 1) <= MOST_CELLS
    item = np.lexsort((-problem.profit, -problem.weight)) if tabulated else np.arange(n)
    profit, weight = problem.profit[item], problem.weight[item]
    value = np.zeros((n + 1 if tabulated else 0, total + 1 if tabulated else 0), dtype=np.int64)
    for i in range(n - 1 if tabulated else -1, -1, -1):
        value[i] = value[i + 1]
        w = int(weight[i])
        np.maximum(value[i, w:], value[i + 1, : total + 1 - w] + profit[i], out=value[i, w:])
    control = np.zeros(4, dtype=np.int64)
    control[BEST] = best
    choice = np.full(n, UNTRIED, dtype=np.int64)
    return Tree(profit, weight, value, choice, problem.capacity.copy(), control, item)
