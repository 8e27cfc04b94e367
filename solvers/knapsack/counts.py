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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered, by_efficiency, relaxed
from solvers.knapsack.items import LARGEST, IntArray, Knapsack
from solvers.knapsack.normal_form import NormalForm, normal_form


@dataclass(frozen=True, eq=False)
class Counted:
    """Packings of ``count`` items, relaxed to a knapsack problem in differences from an item.

    Parameters
    ----------
    count : int
    form : NormalForm
        Of the problem in differences.
    added : int
        What the items taken away are worth: ``count`` times the pivot's profit.
    """

    count: int
    form: NormalForm
    added: int

    def profit_back(self, profit: int) -> int:
        """Return a profit or bound of the normal form in terms of the given items."""
        return self.form.profit_back(profit) + self.added

    def floor(self, profit: int) -> int:
        """Return the largest profit of the normal form that is worth no more than ``profit``."""
        return (profit - self.added - self.form.base) // self.form.profit_unit


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
        self._weight = items.weight - self._pivot_weight
        self._profit = items.profit - self._pivot_profit
        self._same = (self._weight == 0) & (self._profit == 0)
        lighter = self._weight < 0
        self._base = int(self._profit[lighter].sum())
        self._freed = -int(self._weight[lighter].sum())
        self._gift = int(self._profit[(self._weight == 0) & (self._profit > 0)].sum())
        sign = np.where(lighter, -1, 1)
        worth = np.flatnonzero((self._weight != 0) & (sign * self._profit > 0))
        self._sorted = by_efficiency(
            Knapsack.binary((sign * self._profit)[worth], np.abs(self._weight[worth]), 0)
        )
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
        capacity = self._given.capacity - count * self._pivot_weight + self._freed
        if not 0 <= count <= self._given.num_items or capacity < 0:
            return -1
        items = self._sorted
        value = relaxed(
            items.profit, items.weight, items.profit_before, items.weight_before, capacity
        )
        return int(value) + self._base + self._gift + count * self._pivot_profit

    def relaxation(self, count: int) -> Counted:
        """Return the problem in differences for packings of ``count`` items."""
        capacity = self._given.capacity - count * self._pivot_weight
        form = normal_form(Knapsack.binary(self._profit, self._weight, capacity))
        return Counted(count, form, count * self._pivot_profit)

    def packing(self, count: int, x: IntArray) -> npt.NDArray[np.bool_] | None:
        """Return flags of a packing of the relaxation if it keeps the items' own capacity.

        Items like the pivot make no difference to the relaxation, and make up the number.
        """
        flags = x.astype(np.bool_)
        same = np.flatnonzero(self._same)
        flags[same] = False
        lacking = min(max(count - int(np.count_nonzero(flags)), 0), same.size)
        flags[same[:lacking]] = True
        return flags if int(self._given.weight[flags].sum()) <= self._given.capacity else None
