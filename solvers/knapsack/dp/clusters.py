"""Items whose weights come in clusters: from the lightest cluster upwards, exactly.

The weights of hard instances like those of Jooken, Leyman and De Causmaecker ("A new class of hard
problem instances for the 0-1 knapsack problem", 2022) lie in a few narrow ranges far apart. What
sums they have is then a matter of how many items of each range are packed, and the linear
relaxation, which packs parts of items, knows nothing of the gaps between these sums.

A first pass lists what heavier clusters can add (``cluster_lists.py``), and with it a bound that
knows of the gaps between sums. Packings are looked for near that bound first: the higher the profit
that is asked for, the shorter the lists. Where none reaches it, the bound falls, and less is asked
for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.cluster_lists import NOTHING, Climb, Completions, Lists, Rising
from solvers.knapsack.dp.core import Watch
from solvers.knapsack.dp.states import MOST_ITEMS, Found
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray

LEAST_JUMP = 16.0
"""How many times as wide as the widest gap within clusters the narrowest between them has to be.
Uniform weights have gaps that differ by less from one to the next in size."""

FEWEST_ITEMS = 16
"""Items below which a few gaps say nothing."""

MOST_CLUSTERS = 64
"""Clusters beyond which numbers of items of each say too little."""

MOST_COMPLETIONS = 400_000
"""States of a list of completions: more of them prune little more, and take as long as packings."""

FIRST_REACH = 1 / 64
"""Part of the gap below the bound for which completions are listed first: the bound is often near,
and the packing at hand poor."""

FIRST_STEP = 1 / 2
"""Part of that by which the first profit asked for is below the bound."""

FARTHER, NEARER = 4, 4
"""How many times as far the next one is if there is none, and how many times nearer if lists have
no room."""


def find_clusters(weight: IntArray) -> IntArray | None:
    """Return the first place of each cluster, and the number of items behind the last one's.

    Parameters
    ----------
    weight : (n,) int64 array
        In rising order.

    Returns
    -------
    (k + 1,) int64 array or None
        None where there are no two clusters: sizes of gaps rise without a jump.
    """
    if weight.size < FEWEST_ITEMS:
        return None
    gap = np.diff(weight).astype(np.float64) + 1.0
    sizes = np.sort(gap)
    jump = sizes[1:] / sizes[:-1]
    widest = int(np.argmax(jump))
    cuts = np.flatnonzero(gap > sizes[widest]) + 1
    if jump[widest] < LEAST_JUMP or cuts.size + 1 > MOST_CLUSTERS:
        return None
    found: IntArray = np.concatenate([[0], cuts, [weight.size]]).astype(np.int64)
    return found


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
) -> Found:
    """Look for a packing better than ``profit``; lower the bound where there is none.

    Parameters
    ----------
    items : Ordered
    profit, bound : int
    most_states, work : int
        States of a list, and of all lists, after which the search is given up.
    watch : callable
        Told the best profit and the bound at every stage; returns whether to stop.

    Nothing is done where weights have no clusters.
    """
    order = np.lexsort((items.profit, items.weight))
    clusters = find_clusters(items.weight[order]) if order.size <= MOST_ITEMS else None
    if clusters is None or watch(profit, bound):
        return Found(None, profit, bound, 0)
    rising = Rising(items.profit[order], items.weight[order], items.capacity, clusters)
    search = _Search(rising, profit, bound, most_states, work, watch)
    search.run()
    flags = None
    if search.flags is not None:
        flags = np.zeros(order.size, dtype=np.bool_)
        flags[order] = search.flags
    return Found(flags, search.profit, search.bound, search.meter.visited)


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
