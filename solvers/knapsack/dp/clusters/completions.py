"""What heavier clusters can add to a packing, at most: a list of weights and profits.

The items of a cluster are paired anew, the lightest weight with the highest profit and so on. Then
the best k of them are no worse than any k items of the cluster, and all sums of one number of items
become few: lists stay as long as there are numbers of items for each cluster that matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import sums_before
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_clusters_stages import add_to_completions, best_completed

FIRST_ROOM = 4096
"""States for which there is room at the beginning."""

GROWTH = 4
"""How many times more there is after each time that it did not do."""

FIRST_GRAIN, LARGEST_GRAIN = 16, 2**16
"""Weights that are put together where a list would have more states than it may, from the first to
four times as far apart, and so on."""


@dataclass(frozen=True, eq=False)
class Completions:
    """Weights, and profits that rise with them."""

    weight: IntArray
    profit: IntArray


NOTHING = Completions(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
"""The only completion above the heaviest cluster: none."""


@dataclass(frozen=True, eq=False)
class Lighter:
    """Items by falling efficiency: sums before each, and their ratios, with 0 behind the last."""

    profit_before: IntArray
    weight_before: IntArray
    ratio: npt.NDArray[np.float64]

    @staticmethod
    def of(profit: IntArray, weight: IntArray) -> Lighter:
        """Return these items so."""
        ratio = profit / weight
        order = np.argsort(-ratio, kind="stable")
        return Lighter(
            sums_before(profit[order]),
            sums_before(weight[order]),
            np.concatenate([ratio[order], [0.0]]),
        )


class Lists:
    """Makes lists of completions of up to ``most`` states.

    Parameters
    ----------
    profit, weight : (n,) int64 arrays
        Of all items, by rising weight.
    capacity, most : int
    go_on : callable
        Told the states visited; returns whether there are time and work left.
    """

    def __init__(
        self,
        profit: IntArray,
        weight: IntArray,
        capacity: int,
        most: int,
        go_on: Callable[[int], bool],
    ) -> None:
        self._profit, self._weight = profit, weight
        self._capacity, self._most, self._go_on = capacity, most, go_on
        self._now, self._then = self._empty(FIRST_ROOM), self._empty(FIRST_ROOM)
        self._grain = 0

    def extended(
        self, heavier: Completions, first: int, last: int, target: int
    ) -> Completions | None:
        """Add items ``first`` to ``last`` of one cluster to what is heavier.

        Items before ``last`` are what the states may still be filled with; those go that do not
        come to ``target`` with them. Returns None where time is up, or lists have no room.
        """
        count = heavier.weight.size
        if self._now[0].size < count:
            self._now, self._then = self._empty(count), self._empty(count)
        self._now[0][:count], self._now[1][:count] = heavier.weight, heavier.profit
        weights = np.sort(self._weight[first:last])
        profits = np.sort(self._profit[first:last])[::-1]
        lighter = Lighter.of(self._profit[:last], self._weight[:last])
        for weight, profit in zip(weights.tolist(), profits.tolist(), strict=True):
            length = self._add(count, weight, profit, target, lighter)
            while length < 0 and self._takes_more(count):
                length = self._add(count, weight, profit, target, lighter)
            if length < 0 or not self._go_on(2 * count):
                return None
            self._now, self._then = self._then, self._now
            count = length
        return Completions(self._now[0][:count].copy(), self._now[1][:count].copy())

    def bound(self, heavier: Completions, last: int) -> int:
        """Return what completions bring at most with parts of the items before ``last``."""
        lighter = Lighter.of(self._profit[:last], self._weight[:last])
        return int(
            best_completed(
                heavier.weight,
                heavier.profit,
                self._capacity,
                lighter.profit_before,
                lighter.weight_before,
                lighter.ratio,
            )
        )

    def _add(self, count: int, weight: int, profit: int, target: int, lighter: Lighter) -> int:
        return add_to_completions(
            *self._now,
            count,
            *self._then,
            weight,
            profit,
            self._capacity,
            target,
            lighter.profit_before,
            lighter.weight_before,
            lighter.ratio,
            self._grain,
        )

    def _takes_more(self, count: int) -> bool:
        """Take more memory, or put more weights together; return whether either may help."""
        if self._now[0].size < self._most:
            self._grow(count)
        else:
            self._grain = max(FIRST_GRAIN, GROWTH * self._grain)
        return self._grain <= LARGEST_GRAIN

    def _grow(self, count: int) -> None:
        room = min(GROWTH * self._now[0].size, self._most)
        larger = self._empty(room)
        for new, old in zip(larger, self._now, strict=True):
            new[:count] = old[:count]
        self._now, self._then = larger, self._empty(room)

    @staticmethod
    def _empty(room: int) -> tuple[IntArray, IntArray]:
        return np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
