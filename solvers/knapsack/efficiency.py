"""Items in order of efficiency, the break item, and Dantzig's bound.

With items sorted by profit over weight, the break item is the first that does not fit behind all
those before it; packing these is the break solution, and filling the rest of the capacity with a
fraction of the break item is the optimum of the linear relaxation (Dantzig, 1957).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray, Knapsack
from solvers.knapsack.wide import exceeds

FEW_COPIES = 4
"""Copies of an item, on average, up to which each is an item of its own, as bounds from the number
of items ask for; with more of them the powers of two are worth having."""

SAFE_PRODUCT = 9.0e18
"""Products below this, in double precision, do not overflow 64 bits."""

BROAD = 1.0 + 1e-15
"""Factor that makes a quotient computed in double precision too large rather than too small."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """0/1 items by falling efficiency, of a problem in normal form.

    Parameters
    ----------
    profit, weight : (n,) int64 arrays
        Of an item, which stands for ``times`` copies of item ``origin`` of the problem.
    origin, times : (n,) int64 arrays
    profit_before, weight_before : (n + 1,) int64 arrays
        Sums over all items before each place.
    capacity, break_item : int
    """

    profit: IntArray
    weight: IntArray
    origin: IntArray
    times: IntArray
    profit_before: IntArray
    weight_before: IntArray
    capacity: int
    break_item: int

    @property
    def num_items(self) -> int:
        """Number of 0/1 items."""
        return int(self.profit.size)

    @property
    def dantzig_bound(self) -> int:
        """Value of the linear relaxation, rounded down."""
        return int(
            relaxed(self.profit, self.weight, self.profit_before, self.weight_before, self.capacity)
        )


def by_efficiency(knapsack: Knapsack, *, single: bool = False) -> Ordered:
    """Split many copies into 0/1 items of 1, 2, 4, ... of them, and sort by efficiency.

    With ``single`` every copy becomes an item of its own, however many there are.
    """
    few = int(knapsack.copies.sum()) <= FEW_COPIES * knapsack.num_items
    split = _copies if single or few else _powers_of_two
    profit, weight, origin, times = split(knapsack)
    order = _by_falling(profit / weight)
    profit, weight = profit[order], weight[order]
    place = np.arange(order.size)
    _settle(profit, weight, place)
    order = order[place]
    profit_before, weight_before = sums_before(profit), sums_before(weight)
    break_item = int(np.searchsorted(weight_before, knapsack.capacity, side="right")) - 1
    return Ordered(
        profit,
        weight,
        origin[order],
        times[order],
        profit_before,
        weight_before,
        knapsack.capacity,
        break_item,
    )


def _by_falling(ratio: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the order of falling ratios, the same on every machine."""
    order = np.argsort(-ratio)  # not stable, but several times as fast
    in_order = ratio[order]
    if np.count_nonzero(in_order[1:] == in_order[:-1]):
        order = np.argsort(-ratio, kind="stable")
    return order


def sums_before(values: IntArray) -> IntArray:
    """Return the sums of the first 0, 1, ..., n values."""
    sums = np.zeros(values.size + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def _copies(knapsack: Knapsack) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return every copy as an item."""
    item = np.repeat(np.arange(knapsack.num_items), knapsack.copies)
    return knapsack.profit[item], knapsack.weight[item], item, np.ones_like(item)


def _powers_of_two(knapsack: Knapsack) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return 0/1 items whose subsets are worth what any number of copies is."""
    left = knapsack.copies.copy()
    origin, times, size = [], [], 1
    while left.any():
        have = np.flatnonzero(left)
        take = np.minimum(left[have], size)
        origin.append(have)
        times.append(take)
        left[have] -= take
        size *= 2
    if not origin:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none, none
    item, count = np.concatenate(origin), np.concatenate(times)
    return knapsack.profit[item] * count, knapsack.weight[item] * count, item, count


@compiled
def _settle(profit: IntArray, weight: IntArray, place: IntArray) -> None:
    """Put right, in place, the few neighbours whose order rounding got wrong."""
    for i in range(1, profit.size):
        p, w, origin = profit[i], weight[i], place[i]
        j = i
        while j > 0 and exceeds(p, weight[j - 1], profit[j - 1], w):
            profit[j], weight[j], place[j] = profit[j - 1], weight[j - 1], place[j - 1]
            j -= 1
        profit[j], weight[j], place[j] = p, w, origin


@compiled
def relaxed(
    profit: IntArray,
    weight: IntArray,
    profit_before: IntArray,
    weight_before: IntArray,
    capacity: int,
) -> int:
    """Return an upper bound on the relaxation's value at any capacity >= 0, rounded down.

    It is exact where the product of profit and rest stays below 2^63, else up to 1 too large for
    every 1e15 of the last item's profit.
    """
    k = np.searchsorted(weight_before, capacity, side="right") - 1
    if k >= profit.size:
        return int(profit_before[k])
    rest = capacity - weight_before[k]
    if float(rest) * float(profit[k]) < SAFE_PRODUCT:
        return int(profit_before[k] + rest * profit[k] // weight[k])
    part = float(rest) * float(profit[k]) / float(weight[k]) * BROAD
    return int(profit_before[k] + min(np.int64(part) + 1, profit[k]))


@compiled
def opposite_bound(
    profit: IntArray,
    weight: IntArray,
    profit_before: IntArray,
    weight_before: IntArray,
    capacity: int,
    break_item: int,
    j: int,
) -> int:
    """Bound item j's best packing against the break solution: out if that has it, else in.

    An item whose bound does not exceed the best known profit stays as the break solution has it
    (Dembo and Hammer's reduction with each item's own break item).
    """
    if j < break_item:
        filled = relaxed(profit, weight, profit_before, weight_before, capacity + weight[j])
        return int(filled - profit[j])
    if weight[j] > capacity:
        return 0
    filled = relaxed(profit, weight, profit_before, weight_before, capacity - weight[j])
    return int(filled + profit[j])


@compiled
def opposite_bounds(
    profit: IntArray,
    weight: IntArray,
    profit_before: IntArray,
    weight_before: IntArray,
    capacity: int,
    break_item: int,
    bound: IntArray,
) -> None:
    """Fill in the (n,) opposite bounds of all items."""
    for j in range(profit.size):
        bound[j] = opposite_bound(
            profit, weight, profit_before, weight_before, capacity, break_item, j
        )
