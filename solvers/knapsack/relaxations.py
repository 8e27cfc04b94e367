"""Bounds and packings from other knapsack problems, each solved by a search of its own.

Those for given numbers of items are in ``counts``. The others come of a surrogate constraint. The
linear relaxation packs b items and a part of another. Every packing has at most b items or at least
b + 1, and either condition cuts the relaxation off. Added to the capacity constraint with a
multiplier s it gives a knapsack problem again,

    sum (weight_j + s) x_j <= capacity + s k,

whose optimum bounds the case, and solves it if its packing keeps the capacity (Martello, Pisinger,
Toth, "Dynamic programming and strong bounds for the 0-1 knapsack problem", 1999, section 4). With s
from the dual of the relaxation under both constraints, items near its break item differ in weight
as much as any, so that packings which fill the knapsack are found early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.core import CoreSearch, flags_to_copies
from solvers.knapsack.efficiency import Ordered, by_efficiency, sums_before
from solvers.knapsack.items import LARGEST, IntArray, Knapsack, OtherProfits, normal_form
from solvers.native.knapsack_efficiency import relaxed

# Bounds and packings for given numbers of items, from weights and profits less one item's.
#
# Packings of exactly k items are the same under weights w_j - w_i and profits p_j - p_i, where i
# is any item, if k w_i is taken from the capacity and k p_i added to a packing's value. Without
# the condition on k this is a knapsack problem again, whose optimum bounds them. With an item i
# next to the break item, items that are exchanged cheaply weigh little now, and differences that
# do not fit are left out instead of being packed in part, which is what makes Dantzig's bound weak
# where light items are efficient. (The surrogate of Martello, Pisinger and Toth, 1999, changes
# weights alone.)
#
# The linear relaxation's value is concave in k, so that larger or smaller k can be left out where
# it falls to the best profit.


@dataclass(frozen=True, eq=False)
class Counted(OtherProfits):
    """Packings of so many items, relaxed to a knapsack problem in differences from an item."""

    items: Ordered
    """Exchanges of positive weight and profit; ``origin`` is the place of the given item."""

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
        return relaxed(self._sorted, capacity) + self._base + count * self._pivot_profit

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
        base = self._base + count * self._pivot_profit
        return Counted(problem, profit_unit=self._profit_unit, base=base)

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


BISECTIONS = 50
"""Halvings of the interval of the capacity's price; more than the digits of a double are no use."""

PIVOTS = ((0,), (-1, 1), (0, -1, 1))
"""Pivots of three rounds, as places behind the break item: neighbours relax differently."""

SET_UP_PER_ITEM = 1
"""States that take as long as it takes to set up a relaxation, for each item."""

MOST_COUNTS = 500
"""Numbers of items, on each side of the likeliest, beyond which they are not told apart."""


@dataclass(frozen=True)
class Case:
    """Packings of at most ``count`` items, or of at least as many."""

    count: int
    at_least: bool


def cases(items: Ordered, profit: int) -> list[Case]:
    """Return the cases that may hold a packing better than ``profit``; there are at most two.

    There is one where the lightest b + 1 items do not fit, or the most profitable b are no better.
    """
    b, n = items.break_item, items.num_items
    if not 0 < b < n:
        return []
    found = []
    if int(np.partition(items.profit, n - b)[n - b :].sum()) > profit:
        found.append(Case(b, at_least=False))
    if int(np.partition(items.weight, b)[: b + 1].sum()) <= items.capacity:
        found.append(Case(b + 1, at_least=True))
    return found


def surrogate(items: Ordered, case: Case) -> Knapsack | None:
    """Return the 0/1 problem whose optimum bounds a case; None where its sums would be too large.

    Its items are those of ``items``, in the same order.
    """
    s = _multiplier(items, case)
    capacity = items.capacity + s * case.count
    weight_sum = int(items.weight_before[-1]) + abs(s) * items.num_items
    if max(weight_sum, abs(capacity)) >= LARGEST // 2:
        return None
    return Knapsack.binary(items.profit, items.weight + s, capacity)


def _multiplier(items: Ordered, case: Case) -> int:
    """Return s: the price of an item over that of capacity, where the relaxation keeps both."""
    k = case.count
    low, high = 0.0, float(np.max(items.profit / items.weight))
    for _ in range(BISECTIONS):
        price = 0.5 * (low + high)
        if price in (low, high):
            break
        if _weight_of_best(items, price, k) > items.capacity:
            low = price
        else:
            high = price
    value = np.sort(items.profit - high * items.weight)[::-1]
    worth = 0.5 * (value[k - 1] + value[min(k, value.size - 1)])
    if high <= 0.0:
        return 0
    s = round(float(np.clip(worth / high, -float(LARGEST), float(LARGEST))))
    return min(s, 0) if case.at_least else max(s, 0)


def _weight_of_best(items: Ordered, price: float, count: int) -> int:
    """Return the weight of the ``count`` items that are worth most at a price of capacity."""
    value: IntArray = items.profit - price * items.weight
    best = np.argpartition(value, items.num_items - count)[items.num_items - count :]
    return int(items.weight[best].sum())


@dataclass(frozen=True, eq=False)
class Solved:
    """A packing of a relaxation that is better than asked for, if there is one, and its bound."""

    flags: npt.NDArray[np.bool_] | None
    bound: int
    states: int = 0


Solve = Callable[[Ordered, int], Solved]
"""Solves a problem as far as its work allows; told which of its profits is not good enough."""


class CountBounds:
    """What is known of packings of each number of items; more with every pivot.

    Parameters
    ----------
    items : Ordered
    solve : callable
    stop : callable
        Whether time is up: then the linear relaxation bounds what is left.
    """

    def __init__(self, items: Ordered, solve: Solve, stop: Callable[[], bool]) -> None:
        self.items, self.solve, self.stop = items, solve, stop
        self._open: dict[int, int] | None = None
        self._left = 0
        self.given_up = bool((items.times > 1).any())  # then numbers of items mean little

    def improve(self, search: CoreSearch, pivot: int, work: int) -> int:
        """Look at numbers of items with a pivot; return the bound, improve the packing.

        After ``work`` states the remaining numbers are bounded by the linear relaxation.
        """
        self._left = work
        place = self.items.break_item + pivot
        if self.given_up or not 0 <= place < self.items.num_items:
            return search.target
        if not Differences.within_limits(self.items, place):
            self.given_up = True
            return search.target
        differences = Differences(self.items, place)
        found = dict(self._open or {})
        for count in self._counts(differences, search):
            bound = min(differences.bound(count), found.get(count, search.target))
            if bound > search.profit and self._left > 0 and not self.stop():
                bound = min(bound, self._bound(differences, count, search))
            found[count] = bound
        if self.given_up:
            return search.target
        self._open = {count: bound for count, bound in found.items() if bound > search.profit}
        return max([search.profit, *self._open.values()])

    def _counts(self, differences: Differences, search: CoreSearch) -> Iterator[int]:
        """Yield the numbers of items that a better packing may have, the likeliest first."""
        if self._open is not None:
            yield from sorted(self._open, key=self._open.__getitem__, reverse=True)
            return
        for step, first in ((-1, differences.most_likely), (1, differences.most_likely + 1)):
            for away in range(MOST_COUNTS + 1):
                count = first + step * away
                if differences.bound(count) <= search.profit:
                    break
                yield count
            else:
                self.given_up = True
                return

    def _bound(self, differences: Differences, count: int, search: CoreSearch) -> int:
        """Solve the relaxation for a number of items; improve the search by its packing."""
        problem = differences.relaxation(count)
        if problem is None:
            return search.profit
        self._left -= SET_UP_PER_ITEM * self.items.num_items
        floor = problem.floor(search.profit)
        solved = self.solve(problem.items, floor)
        self._left -= solved.states
        if solved.flags is not None:
            flags = differences.packing(count, problem, solved.flags)
            if flags is not None:
                search.improve(int(self.items.profit[flags].sum()), flags)
        return problem.profit_back(solved.bound)


def surrogate_bound(
    items: Ordered, search: CoreSearch, solve: Solve, stop: Callable[[], bool]
) -> int:
    """Solve the surrogate problems of at most and at least so many items; return the bound.

    It is the search's own where time is up.
    """
    bound = search.profit
    for case in cases(items, search.profit):
        if stop():
            return search.target
        problem = surrogate(items, case)
        if problem is None:
            return search.target
        form = normal_form(problem)
        if not form.is_feasible:
            continue
        small = by_efficiency(form.knapsack)
        # what is no better than the packing at hand need not be found
        solved = solve(small, (search.profit - form.base) // form.profit_unit)
        bound = max(bound, form.profit_back(solved.bound))
        if solved.flags is not None:
            x = form.packing_back(flags_to_copies(small, solved.flags, form.knapsack.num_items))
            if int((items.weight * x).sum()) <= items.capacity:
                search.improve(int((items.profit * x).sum()), x.astype(np.bool_))
    return bound
