"""Items in order of efficiency, the break item, and Dantzig's bound.

With items sorted by profit over weight, the break item is the first that does not fit behind all
those before it; packing these is the break solution, and filling the rest of the capacity with a
fraction of the break item is the optimum of the linear relaxation (Dantzig, 1957).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.items import IntArray, Knapsack, powers_of_two
from solvers.native.knapsack_efficiency import relaxed, settle

FEW_COPIES = 4
"""Copies of an item, on average, up to which each is an item of its own, as bounds from the number
of items ask for; with more of them the powers of two are worth having."""

SAFE_PRODUCT = 9.0e18
"""Products below this, in double precision, do not overflow 64 bits."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """0/1 items by falling efficiency, of a problem in normal form."""

    profit: IntArray
    weight: IntArray
    """(n,) int64 each: of an item, which stands for ``times`` copies of item ``origin`` of the
    problem."""
    origin: IntArray
    times: IntArray
    """(n,) int64 each."""
    profit_before: IntArray
    weight_before: IntArray
    """(n + 1,) int64 each: sums over all items before each place."""
    capacity: int
    break_item: int

    @property
    def num_items(self) -> int:
        """Number of 0/1 items."""
        return int(self.profit.size)

    @property
    def dantzig_bound(self) -> int:
        """Value of the linear relaxation, rounded down."""
        return relaxed(self, self.capacity)


def by_efficiency(knapsack: Knapsack, *, single: bool = False) -> Ordered:
    """Split many copies into 0/1 items of 1, 2, 4, ... of them, and sort by efficiency.

    With ``single`` every copy becomes an item of its own, however many there are.
    """
    few = int(knapsack.copies.sum()) <= FEW_COPIES * knapsack.num_items
    if single or few:
        origin = np.repeat(np.arange(knapsack.num_items), knapsack.copies)
        times = np.ones_like(origin)
    else:
        origin, times = powers_of_two(knapsack.copies, by_item=False)
    profit, weight = knapsack.profit[origin] * times, knapsack.weight[origin] * times
    order = _by_falling(profit / weight)
    profit, weight = profit[order], weight[order]
    place = np.arange(order.size)
    settle(profit, weight, place)
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
