"""One list of packings, from no item to all of them, that may reach a profit asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.clusters.completions import Completions, Lists
from solvers.knapsack.dp.history import History, item_stages
from solvers.knapsack.dp.states import STAGES, empty_states, larger_lists
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_clusters_stages import add_to_packings

FIRST_ROOM = 4096
"""States for which there is room at the beginning."""

GROWTH = 4
"""How many times more there is after each time that it did not do."""


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


class Climb:
    """A list of packings of the items treated so far, as long as they may reach ``target``.

    Parameters
    ----------
    items : Rising
    lists : Lists
        Makes lists of completions.
    above : sequence of Completions
        For each cluster, what the heavier ones add.
    target, most : int
        The profit asked for, and the states that the list may have.
    go_on : callable
        Told the states visited; returns whether there are time and work left.
    """

    def __init__(
        self,
        items: Rising,
        lists: Lists,
        above: Sequence[Completions],
        target: int,
        most: int,
        go_on: Callable[[int], bool],
    ) -> None:
        self._items, self._lists, self._above = items, lists, above
        self._target, self._most, self._go_on = target, most, go_on
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
            self._one, self._other = larger_lists(self._one, self.count, room)
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
            above.weight,
            above.profit,
        )
