"""From the lightest item upwards, cluster by cluster, for a profit that is asked for.

A first pass lists what heavier clusters can add, and with it a bound that knows of the gaps between
sums. Packings are looked for near that bound first: the higher the profit that is asked for, the
shorter the lists. Where none reaches it, the bound falls, and less is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.clusters.climb import Climb, Rising
from solvers.knapsack.dp.clusters.completions import NOTHING, Completions, Lists
from solvers.knapsack.dp.clusters.detect import find_clusters
from solvers.knapsack.dp.core import Watch
from solvers.knapsack.efficiency import Ordered

MOST_STATES = 4_000_000
"""States of a list: to merge it with its copy takes less than a tenth of a second, in which nobody
looks at the clock."""

MOST_COMPLETIONS = 400_000
"""States of a list of completions: more of them prune little more, and take as long as packings."""

MOST_ITEMS = 20_000
"""Items beyond which each takes too many lists."""

FIRST_REACH = 1 / 64
"""Part of the gap below the bound for which completions are listed first: the bound is often near,
and the packing at hand poor."""

FIRST_STEP = 1 / 2
"""Part of that by which the first profit asked for is below the bound."""

FARTHER, NEARER = 4, 4
"""How many times as far the next one is if there is none, and how many times nearer if lists have
no room."""


@dataclass(frozen=True, eq=False)
class Climbed:
    """Flags of a packing better than the one given, its profit, a valid bound, and the work."""

    flags: npt.NDArray[np.bool_] | None
    profit: int
    bound: int
    states: int


class Meter:
    """Counts the states visited, and says when to stop."""

    def __init__(self, work: float, watch: Callable[[], bool]) -> None:
        self.visited, self._work, self._watch = 0, work, watch
        self.stopped = False

    def __call__(self, states: int) -> bool:
        """Count states; return whether to go on."""
        self.visited += states
        self.stopped = self.stopped or self.visited > self._work or self._watch()
        return not self.stopped


def climb_clusters(
    items: Ordered, profit: int, bound: int, most_states: int, work: float, watch: Watch
) -> Climbed | None:
    """Look for a packing better than ``profit``; lower the bound where there is none.

    Parameters
    ----------
    items : Ordered
    profit, bound : int
    most_states, work : int
        States of a list, and of all lists, after which the search is given up.
    watch : callable
        Told the best profit and the bound at every stage; returns whether to stop.

    Returns
    -------
    Climbed or None
        None where weights have no clusters.
    """
    order = np.lexsort((items.profit, items.weight))
    clusters = find_clusters(items.weight[order]) if order.size <= MOST_ITEMS else None
    if clusters is None or watch(profit, bound):
        return None
    rising = Rising(items.profit[order], items.weight[order], items.capacity, clusters)
    search = _Search(rising, profit, bound, min(most_states, MOST_STATES), work, watch)
    search.run()
    flags = None
    if search.flags is not None:
        flags = np.zeros(order.size, dtype=np.bool_)
        flags[order] = search.flags
    return Climbed(flags, search.profit, search.bound, search.meter.visited)


class _Search:
    """Profits asked for from the bound downwards, until one is reached or all are refuted."""

    def __init__(
        self, items: Rising, profit: int, bound: int, most: int, work: float, watch: Watch
    ) -> None:
        self._items, self._most = items, most
        self.profit, self.bound = profit, bound
        self.flags: npt.NDArray[np.bool_] | None = None
        self.meter = Meter(work, lambda: watch(self.profit, self.bound))
        few = min(most, MOST_COMPLETIONS)
        self._lists = Lists(items.profit, items.weight, items.capacity, few, self.meter)

    def run(self) -> None:
        """Search until the best packing is proven, or time, work or memory is up."""
        reach = FIRST_REACH * (self.bound - self.profit)
        while self.profit < self.bound:
            least = max(self.profit + 1, self.bound - int(reach))
            above = _above_each(self._items, self._lists, least)
            if above is None:
                return
            last = self._items.places(0)[1]
            self.bound = min(self.bound, max(self._lists.bound(above[0], last), least - 1))
            if not self._refute(above, least):
                return
            reach *= FARTHER

    def _refute(self, above: list[Completions], least: int) -> bool:
        """Ask for profits from the bound down to ``least``; False where one had no room or time.

        The search is over where one is reached.
        """
        step, farthest = max(1.0, FIRST_STEP * (self.bound - least)), np.inf
        while self.profit < self.bound and self.bound >= least:
            target = max(least, self.bound - int(step))
            climb = Climb(self._items, self._lists, above, target, self._most, self.meter)
            if not climb.run():
                farthest = step = step / NEARER
                if self.meter.stopped or step < 1.0:
                    return False
            elif climb.profit >= target:
                self.flags, self.profit, self.bound = climb.packing(), climb.profit, climb.profit
            else:
                self.bound = target - 1
                step = min(FARTHER * step, farthest)
        return True


def _above_each(items: Rising, lists: Lists, target: int) -> list[Completions] | None:
    """Return for each cluster what the heavier ones can add; None where time or room is up."""
    above = [NOTHING]
    for cluster in range(items.num_clusters - 1, 0, -1):
        made = lists.extended(above[-1], *items.places(cluster), target)
        if made is None:
            return None
        above.append(made)
    return above[::-1]
