"""Patterns: choices of items for one knapsack, priced and listed.

Every item costs its price u_i where it is packed, so that a pattern is worth the sum of p_i - u_i.
The bound of Lagrange's relaxation is the sum of all prices and of every knapsack's best pattern; a
packing falls short of it by what its patterns are worth less than the best, the patterns' slacks,
and by the prices of the items left out. So a packing worth a target has patterns of small slack
only, and these can be listed. Prices are whole numbers, and everything here is exact.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import BoolArray
from solvers.knapsack.multiple.subset_sum import ERROR, best_subset

Int16Array = npt.NDArray[np.int16]

PRICING_NODES = 50_000
"""Nodes of a search for a best pattern; beyond them the bound of its relaxation has to do."""

NO_ROOM, UNFINISHED = -1, -2
"""Why a listing ended early."""


@compiled
def best_pattern(
    value: IntArray, weight: IntArray, order: IntArray, capacity: int, used: BoolArray
) -> tuple[int, int]:
    """Find a pattern of largest value among items not ``used``, and mark its items there as well.

    Return its value and a bound on every pattern's. ``order`` lists items by falling value per
    weight.
    """
    count = 0
    small_value, small = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
    item = np.empty(order.size, np.int64)
    for i in order:
        if value[i] <= 0 or used[i] or weight[i] > capacity:
            continue
        small_value[count], small[count], item[count] = value[i], weight[i], i
        count += 1
    chosen = np.zeros(count, dtype=np.bool_)
    best, finished = best_subset(small_value, small, count, capacity, 0, PRICING_NODES, chosen)
    if best > 0:
        for k in range(count):
            if chosen[k]:
                used[item[k]] = True
    if finished:
        return best, best
    return best, int(_relaxed(small_value, small, 0, count, 0, capacity) * (1.0 + ERROR)) + 1


@inlined
def _relaxed(
    value: IntArray, weight: IntArray, first: int, count: int, now: int, room: int
) -> float:
    """Return the value of the relaxation over items from ``first`` on."""
    bound, left, k = now, room, first
    while k < count and weight[k] <= left and value[k] > 0:
        left -= weight[k]
        bound += value[k]
        k += 1
    if k < count and value[k] > 0:
        return float(bound + left * (value[k] / weight[k]))
    return float(bound)


@compiled
def list_patterns(  # noqa: C901 (one hot loop)
    value: IntArray,
    weight: IntArray,
    order: IntArray,
    capacity: int,
    least: int,
    lightest: int,
    nodes: int,
    item: Int16Array,
    length: IntArray,
    worth: IntArray,
) -> int:
    """List patterns worth ``least`` that weigh ``lightest``; return how many.

    Pattern k gets items ``item[k, :length[k]]`` and its value ``worth[k]``. Where there are more
    than rows, or a longer one, ``NO_ROOM`` is returned; after ``nodes``, ``UNFINISHED``.
    """
    count = 0
    small_value, small = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
    origin = np.empty(order.size, np.int16)
    for i in order:
        if weight[i] <= capacity:
            small_value[count], small[count], origin[count] = value[i], weight[i], i
            count += 1
    # what the items from k on weigh together, and the sums that they reach
    rest = np.zeros(count + 1, np.int64)
    for k in range(count - 1, -1, -1):
        rest[k] = rest[k + 1] + small[k]
    path, following = np.empty(count + 1, np.int64), np.zeros(count + 2, np.int64)
    found, depth = 0, 0
    now, room = np.int64(0), np.int64(capacity)
    if now >= least and lightest <= 0:
        length[0], worth[0] = 0, 0
        found = 1
    for _ in range(nodes):
        k = following[depth]
        if (
            k < count
            and _relaxed(small_value, small, k, count, now, room) * (1.0 + ERROR) + ERROR >= least
        ):
            following[depth] = k + 1
            if small[k] > room or capacity - room + rest[k] < lightest:
                continue
            inside = now + small_value[k]
            if (
                _relaxed(small_value, small, k + 1, count, inside, room - small[k]) * (1.0 + ERROR)
                + ERROR
                < least
            ):
                continue
            path[depth] = k
            now, room = inside, room - small[k]
            depth += 1
            following[depth] = k + 1
            if now >= least and capacity - room >= lightest:
                if found == worth.size or depth > item.shape[1]:
                    return NO_ROOM
                for place in range(depth):
                    item[found, place] = origin[path[place]]
                length[found], worth[found] = depth, now
                found += 1
            continue
        if depth == 0:
            return found
        depth -= 1
        now -= small_value[path[depth]]
        room += small[path[depth]]
    return UNFINISHED
