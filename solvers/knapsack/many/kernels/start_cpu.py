"""What the twin does with a problem before its search: form, order, first packings, bounds.

``items`` has a row each for profit, weight, profit before, weight before, opposite bound, and place
among the given items; all by falling efficiency.
"""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.many.kernels.many import WORD

LARGEST_PRODUCT = 4e18
"""Two of them can be added in 64 bits, with more room than rounding to double precision takes."""


@compiled
def too_large(profit, weight):
    """Whether some product that the search computes might not fit in 64 bits."""
    most_profit, most_weight = 0.0, 0.0
    for j in range(profit.size):
        most_profit = max(most_profit, abs(np.float64(profit[j])))
        most_weight = max(most_weight, abs(np.float64(weight[j])))
    count = np.float64(profit.size + 1)
    return count * (most_profit + 1.0) * (most_weight + 1.0) > LARGEST_PRODUCT


@compiled
def arrange(profit, weight, capacity, items, turned):
    """Bring a problem into its form; return number of items, capacity, profit's unit and base.

    ``turned`` gets the bits of the items that are packed before anything else.
    """
    total = 0
    for j in range(profit.size):
        total += abs(weight[j])
    room = max(min(capacity, total), -total - 1)
    base = 0
    for j in range(profit.size):
        if weight[j] < 0 or (weight[j] == 0 and profit[j] > 0):
            turned[j // WORD] |= np.uint64(1) << np.uint64(j % WORD)
            room -= weight[j]
            base += profit[j]
    count = 0
    for j in range(profit.size):
        sign = 1
        if turned[j // WORD] >> np.uint64(j % WORD) & np.uint64(1):
            sign = -1
        if sign * profit[j] > 0 and sign * weight[j] <= room:
            _insert(items, count, sign * profit[j], sign * weight[j], j)
            count += 1
    profit_unit, weight_unit = _divisor(items[0], count), _divisor(items[1], count)
    items[2, 0], items[3, 0] = 0, 0
    for j in range(count):
        if profit_unit > 1:
            items[0, j] //= profit_unit
        if weight_unit > 1:
            items[1, j] //= weight_unit
        items[2, j + 1] = items[2, j] + items[0, j]
        items[3, j + 1] = items[3, j] + items[1, j]
    if room > 0:
        room //= weight_unit
    return count, room, profit_unit, base


@compiled
def _insert(items, count, profit, weight, origin):
    """Put an item behind all that are no less efficient."""
    at = count
    while at > 0 and profit * items[1, at - 1] > items[0, at - 1] * weight:
        items[0, at], items[1, at], items[5, at] = (
            items[0, at - 1], items[1, at - 1], items[5, at - 1],
        )  # fmt: skip
        at -= 1
    items[0, at], items[1, at], items[5, at] = profit, weight, origin


@compiled
def _divisor(values, count):
    """Return the greatest common divisor, 1 of no numbers."""
    found = np.int64(0)
    for j in range(count):
        a, b = values[j], found
        while b:
            a, b = b, a % b
        found = a
        if found == 1:
            break
    return max(found, 1)


@compiled
def greedy_packing(items, count, capacity, broken, flags):
    """Add to the break solution in ``flags`` whatever still fits, in order; return the profit."""
    total, room = items[2, broken], capacity - items[3, broken]
    for j in range(broken + 1, count):
        if items[1, j] <= room:
            room -= items[1, j]
            total += items[0, j]
            flags[j // WORD] |= np.uint64(1) << np.uint64(j % WORD)
    return total


@compiled
def best_exchange(items, count, capacity, broken, best, start, flags):
    """Put one item into the break solution, or the break item for another; return what is best."""
    profit, weight = items[0], items[1]
    base, room = items[2, broken], capacity - items[3, broken]
    found = -1
    for j in range(count):
        if j >= broken:
            value, fits = base + profit[j], weight[j] <= room
        else:
            value, fits = base + profit[broken] - profit[j], weight[broken] - weight[j] <= room
        if fits and value > best:
            best, found = value, j
    if found >= 0:
        flags[:] = start
        flags[found // WORD] ^= np.uint64(1) << np.uint64(found % WORD)
        if found < broken:
            flags[broken // WORD] ^= np.uint64(1) << np.uint64(broken % WORD)
    return best


@compiled
def opposite_bounds(items, count, capacity, broken):
    """Bound each item's best packing against the break solution, rounded down."""
    before = items[3, : count + 1]
    for j in range(count):
        sign = 1 if j < broken else -1
        k = np.searchsorted(before, capacity + sign * items[1, j], side="right") - 1
        bound = items[2, k] - sign * items[0, j]
        if k < count:
            rest = capacity + sign * items[1, j] - before[k]
            bound += rest * items[0, k] // items[1, k]
        items[4, j] = bound
