"""The same problem with fewer and smaller items and knapsacks.

Items without profit stay outside, weightless ones go into any knapsack, and so out of the problem;
what fits nowhere stays outside, and a knapsack that takes nothing is left out. Weights and profits
are divided by their greatest common divisors, capacities rounded down. A capacity that no sum of
weights reaches is lowered to the next that one does (Pisinger, "An exact algorithm for large
multiple knapsack problems", 1999, section 3.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import NOWHERE, MultipleKnapsack

MOST_SUMS = 200_000_000
"""Product of items and capacity up to which sums of weights are marked, a word for each 64: some
hundredths of a second."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem and the way back.

    Parameters
    ----------
    problem : MultipleKnapsack
        Items by falling efficiency, knapsacks by rising capacity, all positive.
    given : MultipleKnapsack
    item, knapsack : int64 arrays
        Which given ones those of ``problem`` are.
    fixed : (n,) int64 array
        Where given items are that are not in ``problem``.
    profit_unit, base : int
        profit of a packing = profit_unit * profit here + base.
    """

    problem: MultipleKnapsack
    given: MultipleKnapsack
    item: IntArray
    knapsack: IntArray
    fixed: IntArray
    profit_unit: int
    base: int

    def profit_back(self, profit: int) -> int:
        """Return a profit or a bound in terms of the given problem."""
        return self.profit_unit * profit + self.base

    def packing_back(self, place: IntArray) -> IntArray:
        """Return a packing of the given problem."""
        back = self.fixed.copy()
        packed = place >= 0
        back[self.item[packed]] = self.knapsack[place[packed]]
        return back


def reduce(given: MultipleKnapsack) -> Reduced:
    """Make a problem smaller; all its capacities must be at least zero."""
    fixed = np.full(given.num_items, NOWHERE, dtype=np.int64)
    base = 0
    if given.num_knapsacks:
        weightless = (given.weight == 0) & (given.profit > 0)
        fixed[weightless] = 0
        base = int(given.profit[weightless].sum())
    largest = int(given.capacity.max(initial=0))
    item = np.flatnonzero((given.profit > 0) & (given.weight > 0) & (given.weight <= largest))
    weight, profit = given.weight[item], given.profit[item]
    order = _by_efficiency(profit, weight)
    item, weight, profit = item[order], weight[order], profit[order]
    weight_unit = int(np.gcd.reduce(weight)) if item.size else 1
    profit_unit = int(np.gcd.reduce(profit)) if item.size else 1
    weight, profit = weight // weight_unit, profit // profit_unit
    capacity = np.minimum(given.capacity // weight_unit, int(weight.sum()))
    capacity = reachable(weight, capacity)
    knapsack = np.argsort(capacity, kind="stable")
    knapsack = knapsack[capacity[knapsack] > 0]
    # more knapsacks than items: the largest are enough
    knapsack = knapsack[max(knapsack.size - item.size, 0) :]
    problem = MultipleKnapsack(profit, weight, capacity[knapsack])
    return Reduced(problem, given, item, knapsack, fixed, profit_unit, base)


def _by_efficiency(profit: IntArray, weight: IntArray) -> IntArray:
    """Return the order of falling profit per weight, heavier items first where that is equal.

    The ratio in double precision may misplace items that differ by less than its rounding; no
    bound relies on the order being exact.
    """
    return np.lexsort((-weight, -(profit / np.maximum(weight, 1))))


def reachable(weight: IntArray, capacity: IntArray) -> IntArray:
    """Return for each capacity the largest sum of weights that does not exceed it.

    The capacities themselves where there would be too many sums to mark.
    """
    largest = int(capacity.max(initial=0))
    if not weight.size or largest * weight.size > MOST_SUMS:
        least = int(weight.min()) if weight.size else 0
        return np.where(capacity < max(least, 1), 0, capacity)
    sums, mask = 1, (1 << (largest + 1)) - 1
    for value in weight.tolist():
        sums |= (sums << value) & mask
    found = [(sums & ((1 << (value + 1)) - 1)).bit_length() - 1 for value in capacity.tolist()]
    return np.array(found, dtype=np.int64)
