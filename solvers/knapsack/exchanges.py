"""The best packing that two exchanges near the break item make of the break solution.

An exchange takes at most one item out and puts at most one in. Those within a set of items are
sorted by weight, so that the best pair from two sets is found by going through both lists once
(Horowitz and Sahni's two lists, 1974, with exchanges for elements).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray


def two_exchanges(items: Ordered, side: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """Return profit and flags of the best packing by two exchanges.

    Parameters
    ----------
    items : Ordered
        With a break item.
    side : int
        Items to the left of the break item, and to the right, in each of two sets.
    """
    b = items.break_item
    left = np.arange(max(0, b - 2 * side), b)[::-1]
    right = np.arange(b, min(items.num_items, b + 2 * side))
    one, other = (left[::2], right[::2]), (left[1::2], right[1::2])
    first, second = _exchanges(items, *one), _exchanges(items, *other)
    room = items.capacity - int(items.weight_before[b])
    i, j, gain = _best_pair(first[0], first[1], second[0], second[1], room)
    flags = np.arange(items.num_items) < b
    for (out, into), place in ((one, first[2][i]), (other, second[2][j])):
        taken, put = divmod(int(place), into.size + 1)
        if taken < out.size:
            flags[out[taken]] = False
        if put < into.size:
            flags[into[put]] = True
    return int(items.profit_before[b]) + int(gain), flags


def _exchanges(
    items: Ordered, out: IntArray, into: IntArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.intp]]:
    """Return weight and profit of every exchange, sorted by weight, and which one it is."""
    weight = _changes(items.weight, out, into)
    profit = _changes(items.profit, out, into)
    order = np.argsort(weight, kind="stable")
    return weight[order], profit[order], order


def _changes(values: IntArray, out: IntArray, into: IntArray) -> IntArray:
    """Return the change of a sum by each exchange; the last ones out and in mean none."""
    less = np.append(values[out], 0)
    more = np.append(values[into], 0)
    change: IntArray = more[None, :] - less[:, None]
    return change.ravel()


@compiled
def _best_pair(
    weight: IntArray, profit: IntArray, weights: IntArray, profits: IntArray, room: int
) -> tuple[int, int, int]:
    """Return places and profit of the best pair from two lists sorted by weight that fits."""
    highest = np.empty(weights.size, dtype=np.int64)
    best = 0
    for j in range(weights.size):
        if profits[j] > profits[best]:
            best = j
        highest[j] = best
    at, by, most = -1, -1, np.int64(-1) << 62
    j = weights.size - 1
    for i in range(weight.size):
        while j >= 0 and weight[i] + weights[j] > room:
            j -= 1
        if j < 0:
            break
        value = profit[i] + profits[highest[j]]
        if value > most:
            at, by, most = i, highest[j], value
    return at, by, int(most)
