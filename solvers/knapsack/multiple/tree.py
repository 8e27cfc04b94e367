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
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import MultipleKnapsack
from solvers.knapsack.multiple.subset_sum import ERROR

MOST_CELLS = 20_000_000
"""Values of surrogate problems that are tabulated at most: 160 megabytes."""

DEPTH, PROFIT, BEST, NODES = range(4)
"""Places in ``control``: items decided, their profit, the profit to beat, nodes so far."""

FINISHED, PAUSED = range(2)
"""Why :func:`search` returns."""

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


@compiled
def _bound(tree: Tree, first: int, least: int) -> float:
    """Return what items from ``first`` on can add at most; ``least`` is the smallest weight."""
    room = np.int64(0)
    for j in range(tree.room.size):
        if tree.room[j] >= least:
            room += tree.room[j]
    if tree.value.shape[0] > 0:
        return float(tree.value[first, room])
    added = np.int64(0)
    for i in range(first, tree.profit.size):
        if tree.weight[i] > room:
            part = room * (tree.profit[i] / tree.weight[i])
            return float((added + part) * (1.0 + ERROR))
        room -= tree.weight[i]
        added += tree.profit[i]
    return float(added)


@compiled
def _next_choice(tree: Tree, i: int) -> int:
    """Return the knapsack to try next for an item, their number for none, or -1 at the end."""
    m, weight, last = tree.room.size, tree.weight[i], tree.choice[i]
    if last == m:
        return -1
    # the tightest first: by room, and of equal rooms the first only
    least = tree.room[last] if last >= 0 else weight - 1
    best = m
    for j in range(m):
        if tree.room[j] > least and (best == m or tree.room[j] < tree.room[best]):
            best = j
    return best


@compiled
def _is_dominated(tree: Tree, i: int, choice: int) -> bool:
    """Whether an item that is no better is packed, or one that is no worse left out before."""
    m, profit, weight = tree.room.size, tree.profit[i], tree.weight[i]
    for k in range(i):
        if choice == m and tree.choice[k] != m:
            if tree.weight[k] > weight and tree.profit[k] <= profit:
                return True
            if tree.weight[k] == weight and tree.profit[k] < profit:
                return True
        if choice != m and tree.choice[k] == m:
            no_worse = tree.weight[k] <= weight and tree.profit[k] >= profit
            if no_worse:
                return True
    return False


@compiled
def search(  # noqa: C901 (one hot loop)
    tree: Tree, best: IntArray, nodes: int, stop: npt.NDArray[np.int8]
) -> int:
    """Search for packings; ``best`` (n,) gets the choices of the best one.

    The search pauses after ``nodes`` nodes, and between two where ``stop[0]`` is set.
    """
    control, n, m = tree.control, tree.profit.size, tree.room.size
    least = tree.weight[0]
    for i in range(n):
        least = min(least, tree.weight[i])
    for _ in range(nodes):
        i = control[DEPTH]
        if i < 0:
            return FINISHED
        if stop[0] != 0:
            return PAUSED
        control[NODES] += 1
        last = tree.choice[i] if i < n else UNTRIED
        if 0 <= last < m:
            tree.room[last] += tree.weight[i]
            control[PROFIT] -= tree.profit[i]
        back = i == n
        if back and control[PROFIT] > control[BEST]:
            control[BEST] = control[PROFIT]
            for k in range(n):
                best[k] = tree.choice[k]
        if not back and last == UNTRIED:
            back = control[PROFIT] + _bound(tree, i, least) < control[BEST] + 1
        choice = -1 if back else _next_choice(tree, i)
        if choice < 0:
            if i < n:
                tree.choice[i] = UNTRIED
            control[DEPTH] -= 1
            continue
        tree.choice[i] = choice
        if _is_dominated(tree, i, choice):
            if choice != m:  # nor anywhere else: nothing but leaving it out remains
                tree.room[choice] -= tree.weight[i]
                control[PROFIT] += tree.profit[i]
            continue
        if choice != m:
            tree.room[choice] -= tree.weight[i]
            control[PROFIT] += tree.profit[i]
        control[DEPTH] += 1
    return PAUSED
