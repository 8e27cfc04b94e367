"""Bounds and packings for given numbers of items, from weights and profits less one item's.

Packings of exactly k items are the same under weights w_j - w_i and profits p_j - p_i, where i is
any item, if k w_i is taken from the capacity and k p_i added to a packing's value. Without the
condition on k this is a knapsack problem again, whose optimum bounds them. With an item i next to
the break item, items that are exchanged cheaply weigh little now, and differences that do not fit
are left out instead of being packed in part, which is what makes Dantzig's bound weak where light
items are efficient. (The surrogate of Martello, Pisinger and Toth, 1999, changes weights alone.)

The linear relaxation's value is concave in k, so that larger or smaller k can be left out where it
falls to the best profit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered, by_efficiency, sums_before
from solvers.knapsack.items import LARGEST, Knapsack
from solvers.native.knapsack_efficiency import relaxed


@dataclass(frozen=True, eq=False)
class Counted:
    """Packings of so many items, relaxed to a knapsack problem in differences from an item.

    Parameters
    ----------
    items : Ordered
        Exchanges of positive weight and profit; ``origin`` is the place of the given item.
    profit_unit, base : int
        A packing of these is worth profit_unit * its profit + base in terms of the given items.
    """

    items: Ordered
    profit_unit: int
    base: int

    def profit_back(self, profit: int) -> int:
        """Return a profit or bound of the relaxation in terms of the given items."""
        return self.profit_unit * profit + self.base

    def floor(self, profit: int) -> int:
        """Return the largest profit of the relaxation that is worth no more than ``profit``."""
        return (profit - self.base) // self.profit_unit


class Differences:
    """Items less a pivot, and relaxations of packings of any number of items.

    Parameters
    ----------
    items : Ordered
    pivot : int
        Place of the item whose profit and weight are taken away from all.
    """

    def __init__(self, items: Ordered, pivot: int) -> None:
        self._given = items
        self._pivot_weight, self._pivot_profit = int(items.weight[pivot]), int(items.profit[pivot])
        weight, profit = items.weight - self._pivot_weight, items.profit - self._pivot_profit
        self._same = (weight == 0) & (profit == 0)
        # what frees capacity or costs none is packed first; exchanges take it out or put others in
        self._packed = (weight < 0) | ((weight == 0) & (profit > 0))
        self._base = int(profit[self._packed].sum())
        self._freed = -int(weight[self._packed].sum())
        profit = np.where(self._packed, -profit, profit)
        worth = np.flatnonzero((weight != 0) & (profit > 0))
        exchanges = by_efficiency(Knapsack.binary(profit[worth], np.abs(weight[worth]), 0))
        self._sorted = replace(exchanges, origin=worth[exchanges.origin])
        self._weight_unit = max(int(np.gcd.reduce(self._sorted.weight)), 1)
        self._profit_unit = max(int(np.gcd.reduce(self._sorted.profit)), 1)
        # the pivot's efficiency is the dual of the relaxation for the best number of items
        before = int(items.weight_before[pivot])
        most = pivot + (items.capacity - before) // self._pivot_weight
        self.most_likely = min(max(most, 0), items.num_items)

    @staticmethod
    def within_limits(items: Ordered, pivot: int) -> bool:
        """Whether all sums stay small enough for 64 bits."""
        n = items.num_items
        return (
            all(
                float(before[-1]) + 2.0 * n * float(values[pivot]) < LARGEST // 4
                for before, values in (
                    (items.weight_before, items.weight),
                    (items.profit_before, items.profit),
                )
            )
            and items.capacity < LARGEST // 4
        )

    def bound(self, count: int) -> int:
        """Return the relaxation's value for packings of ``count`` items, -1 if there are none.

        If this is at most some profit, so it is for all larger counts where ``count`` is beyond
        ``most_likely``, and for all smaller ones where it is not.
        """
        capacity = self._capacity(count)
        if capacity < 0:
            return -1
        items = self._sorted
        value = relaxed(
            items.profit, items.weight, items.profit_before, items.weight_before, capacity
        )
        return value + self._base + count * self._pivot_profit

    def relaxation(self, count: int) -> Counted | None:
        """Return the problem in differences for packings of so many items; None if there are none.

        Differences that exceed the capacity alone are left out, which says nothing about other
        numbers of items.
        """
        capacity = self._capacity(count)
        if capacity < 0:
            return None
        items = self._sorted
        fits = items.weight <= capacity
        capacity //= self._weight_unit
        profit = items.profit[fits] // self._profit_unit
        weight = items.weight[fits] // self._weight_unit
        weight_before = sums_before(weight)
        problem = Ordered(
            profit,
            weight,
            items.origin[fits],
            items.times[fits],
            sums_before(profit),
            weight_before,
            capacity,
            int(np.searchsorted(weight_before, capacity, side="right")) - 1,
        )
        return Counted(problem, self._profit_unit, self._base + count * self._pivot_profit)

    def packing(
        self, count: int, problem: Counted, exchanged: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_] | None:
        """Return flags of a packing of the relaxation if it keeps the items' own capacity.

        Items like the pivot make no difference to the relaxation, and make up the number.
        """
        flags = self._packed.copy()
        places = problem.items.origin[exchanged]
        flags[places] = ~flags[places]
        same = np.flatnonzero(self._same)
        lacking = min(max(count - int(np.count_nonzero(flags)), 0), same.size)
        flags[same[:lacking]] = True
        return flags if int(self._given.weight[flags].sum()) <= self._given.capacity else None

    def _capacity(self, count: int) -> int:
        """Return what exchanges may weigh; negative if there is no packing of so many items."""
        if not 0 <= count <= self._given.num_items:
            return -1
        return self._given.capacity - count * self._pivot_weight + self._freed
