"""The best packing that two exchanges near the break item make of the break solution.

An exchange takes at most one item out and puts at most one in. Those within a set of items are
sorted by weight, so that the best pair from two sets is found by going through both lists once
(Horowitz and Sahni's two lists, 1974, with exchanges for elements).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_exchanges import best_pair


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
    i, j, gain = best_pair(first[0], first[1], second[0], second[1], room)
    flags = np.arange(items.num_items) < b
    for (out, into), place in ((one, first[2][i]), (other, second[2][j])):
        taken, put = divmod(int(place), into.size + 1)
        if taken < out.size:
            flags[out[taken]] = False
        if put < into.size:
            flags[into[put]] = True
    return int(items.profit_before[b]) + gain, flags


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
