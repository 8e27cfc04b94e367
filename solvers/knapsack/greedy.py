"""Good packings in linear time, to prune with from the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.knapsack.efficiency import Ordered
from solvers.native.knapsack_greedy import pack_greedily


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
    return profit, flags
