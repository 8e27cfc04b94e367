"""Good packings in linear time, to prune with from the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray


def first_packing(items: Ordered) -> tuple[int, Any]:
    """Return profit and (n,) flags of the best of a few packings near the break solution.

    They are the greedy packing, and the break solution with one item put in, or with the break item
    put in and one taken out (Martello and Toth, "Knapsack Problems", 1990, section 2.4).
    """
    flags = np.zeros(items.num_items, dtype=np.bool_)
    profit = pack_greedily(items.profit, items.weight, items.capacity, flags)
    b, room = items.break_item, items.capacity - int(items.weight_before[items.break_item])
    base = int(items.profit_before[b])
    if b == items.num_items:
        return base, flags
    fitting = np.flatnonzero(items.weight[b:] <= room)
    if fitting.size:
        best = b + int(fitting[np.argmax(items.profit[b:][fitting])])
        if base + int(items.profit[best]) > profit:
            profit = base + int(items.profit[best])
            flags[:] = np.arange(items.num_items) < b
            flags[best] = True
    lacking = int(items.weight[b]) - room
    enough = np.flatnonzero(items.weight[:b] >= lacking)
    if enough.size:
        out = int(enough[np.argmin(items.profit[:b][enough])])
        swapped = base + int(items.profit[b]) - int(items.profit[out])
        if swapped > profit:
            profit = swapped
            flags[:] = np.arange(items.num_items) <= b
            flags[out] = False
    return int(profit), flags


@compiled
def pack_greedily(profit: IntArray, weight: IntArray, capacity: int, flags: Any) -> int:
    """Pack everything that fits, in order; return the profit."""
    total = 0
    for j in range(profit.size):
        if weight[j] <= capacity:
            flags[j] = True
            capacity -= weight[j]
            total += profit[j]
    return total
