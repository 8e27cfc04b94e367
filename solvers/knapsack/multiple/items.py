"""A multiple knapsack problem in whole numbers, a packing of it, and the best one so far.

maximise    sum_ij profit_i x_ij
subject to  sum_i weight_i x_ij <= capacity_j,   sum_j x_ij <= 1,   x_ij in {0, 1}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError
from solvers.core.progress import Progress
from solvers.knapsack.engine import Tell
from solvers.knapsack.items import LARGEST, IntArray, OtherProfits

LONGEST = 48
"""Items of a filling of one knapsack, or of a pattern, at most."""

NOWHERE = -1
"""Stands for the knapsack of an item that is left out."""


BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MultipleKnapsack:
    """Items that each go into one of several knapsacks, or into none.

    Raises
    ------
    ProblemError
        Arrays that do not fit together, a negative weight, or sums of 2^62 and more.
    """

    profit: IntArray
    weight: IntArray
    """(n,) int64 each: profits may be zero or negative, weights may be zero."""
    capacity: IntArray
    """(m,) int64: a negative one makes the problem infeasible."""

    def __post_init__(self) -> None:
        for name in ("profit", "weight", "capacity"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            if values.ndim != 1 or (name == "weight" and values.shape != self.profit.shape):
                raise ProblemError(
                    f"The knapsacks' '{name}' has shape {values.shape}; it must be one value for "
                    f"each {'knapsack' if name == 'capacity' else 'item'}."
                )
            object.__setattr__(self, name, values)
            # added up in double precision first: hardly anything comes near the limit
            if np.abs(values.astype(np.float64)).sum() >= LARGEST / 2 and (
                sum(map(abs, values.tolist())) >= LARGEST
            ):
                raise ProblemError(
                    f"The sum of the knapsacks' '{name}' is not below 2^62; scale it down."
                )
        if (self.weight < 0).any():
            item = int(np.argmin(self.weight))
            raise ProblemError(
                f"Item {item} has weight {self.weight[item]}; weights of several knapsacks must "
                "not be negative."
            )

    @property
    def num_items(self) -> int:
        """Number of items."""
        return int(self.profit.size)

    @property
    def num_knapsacks(self) -> int:
        """Number of knapsacks."""
        return int(self.capacity.size)

    def profit_of(self, place: IntArray) -> int:
        """Return the profit of a packing, (n,) knapsacks or ``NOWHERE``."""
        return int(self.profit[place >= 0].sum())

    def fits(self, place: IntArray) -> bool:
        """Whether a packing keeps every capacity."""
        load = np.zeros(self.num_knapsacks, dtype=np.int64)
        packed = place >= 0
        np.add.at(load, place[packed], self.weight[packed])
        return bool((load <= self.capacity).all())


Int8Array = npt.NDArray[np.int8]


class Best:
    """The best packing of a problem so far, and the bound.

    ``stop`` (1,) int8 is for compiled code, which sees there whether it is to end.
    """

    def __init__(self, problem: MultipleKnapsack, progress: Progress, tell: Tell) -> None:
        self.problem = problem
        self.place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        self.profit = 0
        self.bound = int(problem.profit.sum())
        self.path = "bound of all profits"
        self.nodes = 0
        self.progress = progress
        self.stop: Int8Array = np.zeros(1, dtype=np.int8)
        self._tell = tell

    def improve(self, place: IntArray) -> int:
        """Keep a packing if it is better than the best; return the best's profit."""
        profit = self.problem.profit_of(place)
        if profit > self.profit:
            self.place, self.profit = place.copy(), profit
            self._tell(self.profit, self.bound)
        return self.profit

    def lower(self, bound: int, path: str) -> None:
        """Keep a bound if it is lower."""
        if bound < self.bound:
            self.bound, self.path = max(bound, self.profit), path
            self._tell(self.profit, self.bound)

    def ring(self) -> None:
        """End what compiled code is doing, from another thread; nothing goes on after that."""
        self.stop[0] = 1

    @property
    def over(self) -> bool:
        """Whether the best packing is proven to be one, or time is up."""
        if self.profit >= self.bound or self.stop[0] != 0:
            return True
        return self.progress.should_stop() is not None


# The same problem with fewer and smaller items and knapsacks.
#
# Items without profit stay outside, weightless ones go into any knapsack, and so out of the
# problem; what fits nowhere stays outside, and a knapsack that takes nothing is left out. Weights
# and profits are divided by their greatest common divisors, capacities rounded down. A capacity
# that no sum of weights reaches is lowered to the next that one does (Pisinger, "An exact
# algorithm for large multiple knapsack problems", 1999, section 3.2).


MOST_SUMS = 200_000_000
"""Product of items and capacity up to which sums of weights are marked, a word for each 64: some
hundredths of a second."""


@dataclass(frozen=True, eq=False)
class Reduced(OtherProfits):
    """A smaller problem and the way back."""

    problem: MultipleKnapsack
    """Items by falling efficiency, knapsacks by rising capacity, all positive."""
    given: MultipleKnapsack
    item: IntArray
    knapsack: IntArray
    """Which given ones those of ``problem`` are."""
    fixed: IntArray
    """(n,) int64: where given items are that are not in ``problem``."""

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
    return Reduced(problem, given, item, knapsack, fixed, profit_unit=profit_unit, base=base)


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
