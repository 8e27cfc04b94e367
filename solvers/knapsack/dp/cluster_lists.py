"""Lists up through clusters of weights: of packings, and of what heavier clusters add at most.

The items of a cluster are paired anew, the lightest weight with the highest profit and so on.
Then the best k of them are no worse than any k items of the cluster, and all sums of one number
of items become few: lists of such completions stay as long as there are numbers of items for
each cluster that matter. A list of packings goes from no item to all of them, as long as they
may reach a profit asked for with the completions above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import (
    FIRST_ROOM,
    STAGES,
    History,
    empty_states,
    item_stages,
    larger_lists,
)
from solvers.knapsack.efficiency import sums_before
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_cluster_lists import (
    add_to_completions,
    add_to_packings,
    best_completed,
)

GROWTH = 4
"""How many times more room there is after each time that it did not do."""

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


@dataclass(eq=False)
class Lists:
    """Makes lists of completions."""

    _profit: IntArray
    _weight: IntArray
    """(n,) int64 each: of all items, by rising weight."""
    _capacity: int
    _most: int
    """States of a list, at most."""
    _go_on: Callable[[int], bool]
    """Told the states visited; returns whether there are time and work left."""

    def __post_init__(self) -> None:
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
        return int(best_completed(heavier, self._capacity, lighter))

    def _add(self, count: int, weight: int, profit: int, target: int, lighter: Lighter) -> int:
        return add_to_completions(
            *self._now,
            count,
            *self._then,
            weight,
            profit,
            self._capacity,
            target,
            lighter,
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


@dataclass(frozen=True, eq=False)
class Rising:
    """Items by rising weight, and the first place of each cluster (k + 1,)."""

    profit: IntArray
    weight: IntArray
    capacity: int
    clusters: IntArray

    @property
    def num_clusters(self) -> int:
        """Number of clusters."""
        return int(self.clusters.size) - 1

    def places(self, cluster: int) -> tuple[int, int]:
        """Return a cluster's first place, and the one behind its last."""
        return int(self.clusters[cluster]), int(self.clusters[cluster + 1])


@dataclass(eq=False)
class Climb:
    """A list of packings of the items treated so far, as long as they may reach a target."""

    _items: Rising
    _lists: Lists
    _above: Sequence[Completions]
    """For each cluster, what the heavier ones add."""
    _target: int
    """The profit asked for."""
    _most: int
    """States that the list may have."""
    _go_on: Callable[[int], bool]
    """Told the states visited; returns whether there are time and work left."""

    def __post_init__(self) -> None:
        self._one, self._other = empty_states(FIRST_ROOM), empty_states(FIRST_ROOM)
        for values in self._one:
            values[0] = 0
        self.count = 1
        self._history = History(item_stages())

    def run(self) -> bool:
        """Treat all items; False where time, work or memory is up."""
        return all(self._treat_cluster(j) for j in range(self._items.num_clusters))

    @property
    def profit(self) -> int:
        """The highest of the list; of no packing below the target when all items are treated.

        The last states may be short of it, as what prunes them is not renewed for each item.
        """
        return int(self._one.profit[self.count - 1]) if self.count else -1

    def packing(self) -> npt.NDArray[np.bool_]:
        """Return flags of the most profitable state's items."""
        flags = np.zeros(self._items.profit.size, dtype=np.bool_)
        last = self.count - 1
        word, ancestor = int(self._one.history[last]), int(self._one.ancestor[last])
        flags[self._history.chosen(word, ancestor)] = True
        return flags

    def _treat_cluster(self, cluster: int) -> bool:
        """Treat a cluster's items.

        What those still to come can add is listed anew whenever packings have taken as long as that
        will; at first it is what the whole cluster adds.
        """
        first, last = self._items.places(cluster)
        heavier = self._above[cluster]
        above: Completions | None = self._above[cluster - 1]
        if cluster == 0:
            above = self._lists.extended(heavier, first, last, self._target)
        spent = 0
        for place in range(first, last):
            if spent > 2 * (last - place) * heavier.weight.size:
                above = self._lists.extended(heavier, place, last, self._target)
                spent = 0
            spent += 2 * self.count
            if above is None or not self._treat(place, above):
                return False
        return True

    def _treat(self, place: int, above: Completions) -> bool:
        """Treat one item."""
        bit = place % STAGES
        if place and bit == 0:
            self._history.close(self._one, self.count)
        self._history.stages.treated[bit] = place
        length = self._add(place, above)
        while length < 0 and self._one.profit.size < self._most:
            room = min(GROWTH * self._one.profit.size, self._most)
            lists = self._one, self._other
            self._one, self._other = larger_lists(lists, self.count, room)
            length = self._add(place, above)
        if length < 0:
            return False
        visited = 2 * self.count
        self._one, self._other, self.count = self._other, self._one, length
        return self._go_on(visited)

    def _add(self, place: int, above: Completions) -> int:
        items = self._items
        return add_to_packings(
            self._one,
            self.count,
            self._other,
            int(items.profit[place]),
            int(items.weight[place]),
            1 << place % STAGES,
            items.capacity,
            self._target,
            above,
        )
