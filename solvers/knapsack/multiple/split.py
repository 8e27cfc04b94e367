"""Splitting a choice of items among knapsacks, and improving what has become of it.

A surrogate problem, one knapsack with all the capacity, chooses items; filling the knapsacks one
after the other by subset sums packs them all, where there is enough freedom (Pisinger 1999, section
3.1). Where that fails, pairs of knapsacks are emptied and filled again, and single ones with what
was left outside.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.subset_sum import best_subset, closest_subset

LAST_ITEMS = 40
"""Items that are kept for the exact end of a filling, where there are many."""

ALL_ITEMS = 250
"""Items up to which all are in the subset sum, if the sums are few enough."""

ALL_SUMS = 2_000_000
"""Product of items and capacity up to which all items are in it."""

MOST_OUTSIDE = 60
"""Items outside that are candidates for a knapsack, the most efficient ones first."""

NODES = 2_000
"""Nodes of a search for the best filling of one knapsack or two."""


@compiled
def split(weight: IntArray, capacity: IntArray, order: IntArray, place: IntArray) -> int:
    """Pack items into knapsacks in the order of both; return how many are left over.

    ``order`` lists the items wanted; ``place`` is -1 for them and becomes their knapsack.
    """
    n = order.size
    small, kept = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    chosen = np.zeros(n, dtype=np.bool_)
    left = n
    for j in range(capacity.size):
        if left == 0:
            break
        room = capacity[j]
        total = np.int64(0)
        for i in order:
            if place[i] < 0:
                total += weight[i]
        end = left if left <= ALL_ITEMS and room <= ALL_SUMS // left else LAST_ITEMS
        margin = total // left * (end // 2)
        # first of all items without thought, until the end is near
        for i in order:
            if end == left or room <= margin:
                break
            if place[i] < 0 and weight[i] <= room:
                place[i] = j
                room -= weight[i]
                left -= 1
        count = 0
        for i in order:
            if place[i] < 0 and weight[i] <= room and count < end:
                small[count], kept[count] = weight[i], i
                count += 1
        closest_subset(small, count, room, chosen)
        for k in range(count):
            if chosen[k]:
                place[kept[k]] = j
                left -= 1
    return left


@compiled
def gathered(values: IntArray, places: IntArray) -> IntArray:
    """Return the values at some places."""
    found = np.empty(places.size, np.int64)
    for k in range(places.size):
        found[k] = values[places[k]]
    return found


@compiled
def candidates(
    profit: IntArray, weight: IntArray, place: IntArray, a: int, b: int, room: int
) -> tuple[IntArray, int, int]:
    """Return what may be in knapsacks a and b: their items and some outside, how many, and profit.

    The profit is that of what is in there now.
    """
    item = np.empty(profit.size, np.int64)
    count, outside, before = 0, 0, np.int64(0)
    for i in range(profit.size):
        if place[i] == a or place[i] == b:
            before += profit[i]
        elif place[i] >= 0 or outside >= MOST_OUTSIDE or weight[i] > room:
            continue
        else:
            outside += 1
        item[count] = i
        count += 1
    return item[:count], outside, int(before)


@compiled
def refill(profit: IntArray, weight: IntArray, place: IntArray, j: int, capacity: int) -> int:
    """Fill a knapsack as well as its items and some outside allow; return the profit gained."""
    item, outside, before = candidates(profit, weight, place, j, j, capacity)
    if outside == 0:
        return 0
    chosen = np.zeros(item.size, dtype=np.bool_)
    found, _ = best_subset(
        gathered(profit, item), gathered(weight, item), item.size, capacity, before, NODES, chosen
    )
    if found > before:
        for k in range(item.size):
            place[item[k]] = j if chosen[k] else -1
    return int(found - before)


@compiled
def divide(
    weight: IntArray,
    place: IntArray,
    items: IntArray,
    pair: tuple[int, int],
    capacity: IntArray,
    state: IntArray,
) -> bool:
    """Divide items among two knapsacks, the first as full as possible; False if they do not fit.

    ``state`` is that of the random numbers: another order gives another division.
    """
    for k in range(items.size - 1, 0, -1):
        other = drawn(state, k + 1)
        items[k], items[other] = items[other], items[k]
    first = np.zeros(items.size, dtype=np.bool_)
    weights = gathered(weight, items)
    rest = -np.int64(closest_subset(weights, items.size, capacity[pair[0]], first))
    for k in range(items.size):
        rest += weights[k]
    if rest > capacity[pair[1]]:
        return False
    for k in range(items.size):
        place[items[k]] = pair[0] if first[k] else pair[1]
    return True


@compiled
def refill_pair(
    profit: IntArray,
    weight: IntArray,
    place: IntArray,
    pair: tuple[int, int],
    capacity: IntArray,
    state: IntArray,
) -> int:
    """Fill two knapsacks together as well as possible and divide that; return the profit gained.

    Where that cannot be divided, the items at hand are divided anew, the first knapsack as full as
    possible, so that the room of both is in the second.
    """
    a, b = pair
    room = capacity[a] + capacity[b]
    item, _, before = candidates(profit, weight, place, a, b, room)
    chosen = np.zeros(item.size, dtype=np.bool_)
    found, _ = best_subset(
        gathered(profit, item), gathered(weight, item), item.size, room, before, NODES, chosen
    )
    kept = np.empty(item.size, np.int64)
    for again in range(2):
        if again == 0 and found == before:
            continue
        count = 0
        for k in range(item.size):
            if chosen[k] if again == 0 else place[item[k]] >= 0:
                kept[count] = item[k]
                count += 1
        if not divide(weight, place, kept[:count], pair, capacity, state):
            continue
        if again == 1:
            return int(refill(profit, weight, place, b, capacity[b]))
        for k in range(item.size):
            if not chosen[k]:
                place[item[k]] = -1
        return int(found - before)
    return 0


@compiled
def drawn(state: IntArray, below: int) -> int:
    """Draw a random number, by the generator of Lewis, Goodman and Miller (1969)."""
    state[0] = state[0] * 16807 % 2147483647
    return int(state[0] % below)


@compiled
def improve(
    profit: IntArray,
    weight: IntArray,
    capacity: IntArray,
    place: IntArray,
    target: int,
    rounds: int,
    seed: int,
    stop: npt.NDArray[np.int8],
) -> int:
    """Refill knapsacks, alone and in pairs, until the profit is ``target``; return the profit.

    ``rounds`` is how often, without success, until it is given up, and a tenth of how often at all.
    It ends where ``stop[0]`` is set, too.
    """
    state = np.full(1, seed, dtype=np.int64)
    m = capacity.size
    now = np.int64(0)
    for i in range(profit.size):
        if place[i] >= 0:
            now += profit[i]
    for j in range(m):
        if stop[0] == 0:
            now += refill(profit, weight, place, j, capacity[j])
    idle = 0
    for _ in range(10 * rounds):
        if now >= target or idle >= rounds or m < 2 or stop[0] != 0:
            break
        a, b = drawn(state, m), drawn(state, m - 1)
        b += b >= a
        gained = refill_pair(profit, weight, place, (a, b), capacity, state)
        now += gained
        idle = 0 if gained > 0 else idle + 1
    return int(now)
