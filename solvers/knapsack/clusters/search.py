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

from solvers.knapsack.clusters.climb import Climb, Rising
from solvers.knapsack.clusters.completions import NOTHING, Completions, Lists
from solvers.knapsack.clusters.detect import find_clusters
from solvers.knapsack.core import Watch
from solvers.knapsack.efficiency import Ordered

MOST_STATES = 4_000_000
"""States of a list: to merge it with its copy takes less than a tenth of a second, in which nobody
looks at the clock."""

MOST_ITEMS = 20_000
"""Items beyond which each takes too many lists."""

FIRST_SHARE = 1 / 8
"""Part of the gap by which the first profit asked for is below the bound."""

FARTHER, NEARER = 3, 4
"""How many times as far below it is the next one if there is none, and how many times nearer if
lists have no room."""


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
    meter = Meter(work, lambda: watch(profit, bound))
    most = min(most_states, MOST_STATES)
    lists = Lists(rising.profit, rising.weight, rising.capacity, most, meter)
    above = _above_each(rising, lists, profit + 1)
    if above is None:
        return Climbed(None, profit, bound, meter.visited)
    bound = max(profit, min(bound, lists.bound(above[0], rising.places(0)[1])))
    step, farthest = max(1.0, FIRST_SHARE * (bound - profit)), np.inf
    while profit < bound and step >= 1.0:
        target = max(profit + 1, bound - int(step))
        climb = Climb(rising, lists, above, target, most, meter)
        if climb.run():
            if climb.profit >= target:
                flags = np.zeros(order.size, dtype=np.bool_)
                flags[order] = climb.packing()
                return Climbed(flags, climb.profit, climb.profit, meter.visited)
            bound = target - 1
            step = min(FARTHER * step, farthest)
        elif meter.stopped:
            break
        else:
            farthest = step = step / NEARER
    return Climbed(None, profit, bound, meter.visited)


def _above_each(items: Rising, lists: Lists, target: int) -> list[Completions] | None:
    """Return for each cluster what the heavier ones can add; None where time or room is up."""
    above = [NOTHING]
    for cluster in range(items.num_clusters - 1, 0, -1):
        made = lists.extended(above[-1], *items.places(cluster), target)
        if made is None:
            return None
        above.append(made)
    return above[::-1]
