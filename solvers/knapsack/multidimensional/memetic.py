"""Memetic search: parallel tempering, combination of good packings, and neighbourhoods.

Half of the time parallel tempering begins anew, in another setting and with other items that move.
It ends with a different packing each time, and an exact search over the items in which that and
other good packings differ combines the best of both. In the other half neighbourhoods of good
packings are searched. Where nothing better comes any more, all begins anew. Good packings are those
of an elite, no two of which are the same.

On eleven published problems with 5 to 30 rows, four seconds of a core left 0.022 % to the best
known values, without parallel tempering 0.049 %, and without the memetic search 0.069 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solvers.core.device import cpu
from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    RelaxedKnapsack,
)
from solvers.knapsack.multidimensional.parallel_tempering import (
    RUNGS,
    TRIALS,
    ParallelTempering,
    suits,
)
from solvers.knapsack.multidimensional.tree import (
    FINISHED,
    NODES,
    Int8Array,
    copy_node,
    make_levels,
    make_rows,
    root_node,
    steps_per_node,
)
from solvers.native.knapsack_multidimensional_tree import decide_others, explore, reoptimise

# Exact searches among the packings that differ from a given one in few items.
#
# A few dozen items are free and all others stay as they are. What is left is a problem that the
# tree searches to its end in some thousands of nodes, because the best packing known bounds it
# too: there is no better exchange of any number of the free items for others of them. Which items
# are free is drawn: more often those with small reduced costs, and those that good packings do not
# agree on; between two packings, those in which they differ are free (Danna, Rothberg, Le Pape,
# "Exploring relaxation induced neighborhoods to improve MIP solutions", 2005; Rothberg, "An
# evolutionary algorithm for polishing mixed integer programming solutions", 2007).


MOST_NODES = 4_000
"""Nodes of a search: some hundredths of a second."""

FIRST_SIZE, SIZE_PER_ROW, LEAST_SIZE = 25.0, 0.5, 8.0
"""Free items at first, so many more for each row, and the least."""

GROWTH, SHRINKAGE = 0.3, 0.5
"""By how many items the number of free ones grows after a search that ended within half of its
nodes, and shrinks after one that did not end: four of five searches end."""

CLOSE, CLOSE_PER_ROW = 60, 1
"""Place, in order of reduced costs, of the item whose reduced cost is the unit in draws."""

SPREAD = 0.7
"""Weight of chance in a draw beside reduced costs in that unit."""

DISPUTE = 1.5
"""Weight of what good packings do not agree on, in the same unit: with it five seconds of a core
left less on five of nine published problems than without it, and as much on the others; with twice
as much drawn problems of 10 and 30 rows were left with a little less, those of 5 rows with more."""

SET_UP_STEPS = 500_000
"""Elementary steps of a tree in the time that it takes to begin a search."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search found: the best packing worth its target, if any, and the steps it took."""

    x: BoolArray | None
    steps: int


class Neighbourhoods:
    """Searches in a problem's neighbourhoods, whose size adapts to what can be searched.

    Parameters
    ----------
    problem : MultidimensionalKnapsack
    random : numpy.random.Generator
        Draws the items that are free.
    """

    def __init__(self, problem: MultidimensionalKnapsack, random: np.random.Generator) -> None:
        self._problem, self._random = problem, random
        self._rows = make_rows(problem.profit, problem.weight)
        self._root = root_node(self._rows, problem.capacity)
        reoptimise(self._rows, self._root, 0)
        cost = np.abs(self._root.reduced)
        close = min(CLOSE + CLOSE_PER_ROW * problem.num_rows, cost.size - 1)
        unit = max(float(np.partition(cost, close)[close]), 1e-9 * float(problem.profit.max()))
        self._cost = cost / unit
        self._size = FIRST_SIZE + SIZE_PER_ROW * problem.num_rows

    def around(self, dispute: FloatArray) -> BoolArray:
        """Draw free items; ``dispute`` (n,) in 0..1 says how far good packings disagree on them."""
        return self._drawn(np.zeros(dispute.size, dtype=np.bool_), self._cost - DISPUTE * dispute)

    def between(self, x: BoolArray, other: BoolArray) -> BoolArray:
        """Return the items in which two packings differ, and a few more if these are few."""
        return self._drawn(x != other, self._cost)

    def _drawn(self, free: BoolArray, cost: FloatArray) -> BoolArray:
        """Return flags of these items and more, up to the size that can be searched."""
        key = cost - SPREAD * self._random.gumbel(size=self._cost.size)
        key[free] = -np.inf
        size = min(max(int(self._size), int(free.sum())), key.size)
        drawn = np.zeros(key.size, dtype=np.bool_)
        drawn[np.argsort(key, kind="stable")[:size]] = True
        return drawn

    def search(self, x: BoolArray, free: BoolArray, target: int, stop: Int8Array) -> Searched:
        """Search for the best packing worth ``target`` that differs from ``x`` in free items only.

        The search ends where ``stop[0]`` is set, or after ``MOST_NODES`` nodes.
        """
        rows, node = self._rows, copy_node(self._root)
        decide_others(rows, node, free, x)
        best = np.array([target], dtype=np.int64)
        packing: Int8Array = np.zeros(x.size, dtype=np.int8)
        status = explore(rows, node, make_levels(node), best, packing, MOST_NODES, stop)
        nodes = int(node.counts[NODES])
        if status != FINISHED:
            self._size = max(self._size - SHRINKAGE, LEAST_SIZE)
        elif 2 * nodes <= MOST_NODES:
            self._size = min(self._size + GROWTH, float(x.size))
        found = packing.astype(np.bool_)
        is_better = best[0] > target and self._problem.fits(found)
        steps = SET_UP_STEPS + nodes * steps_per_node(rows)
        return Searched(found if is_better else None, steps)


MOST_ELITES = 12
"""Packings that are kept: with fewer they soon were much the same on published problems."""

BEST_SHARE = 0.5
"""How often the best one is drawn, beside its turns among all."""

TURNS = 16
"""Turns of parallel tempering before its best packing is combined with others: a quarter of a
second. With a third of them problems of 30 rows were left with more, with half as many again those
of 5 rows."""

MORE = 1
"""Good packings, beside the best one, with which that is combined."""

MOST_BARREN = 30
"""Runs of parallel tempering without a better packing, with all that goes on beside them, after
which the good packings are given up and found anew: some twenty seconds of a core. After eight
seconds that was too early for some drawn problems of ten and thirty rows."""

STEPS_PER_TRIAL = 10
"""Elementary steps of a tree in the time of one trial of a replica, with five rows."""


class Elite(NamedTuple):
    """A packing and its profit."""

    profit: int
    x: BoolArray


class Elites:
    """The best packings of one problem, the best first."""

    def __init__(self, problem: MultidimensionalKnapsack) -> None:
        self._problem = problem
        self._kept: list[Elite] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._kept)

    @property
    def best(self) -> Elite:
        """The best packing; there must be one."""
        return self._kept[0]

    def add(self, x: BoolArray) -> bool:
        """Keep a packing that fits, is not there yet and is good enough; return whether it is."""
        if not self._problem.fits(x):
            return False
        profit = int(self._problem.profit[x].sum())
        for other in self._kept:
            if other.profit == profit and np.array_equal(other.x, x):
                return False
        place = sum(other.profit >= profit for other in self._kept)
        self._kept.insert(place, Elite(profit, x.copy()))
        del self._kept[MOST_ELITES:]
        return place < MOST_ELITES

    def dispute(self) -> FloatArray:
        """Return how far they are from agreeing on each item, (n,) numbers from 0 to 1."""
        share = np.mean([elite.x for elite in self._kept], axis=0)
        return np.asarray(4.0 * share * (1.0 - share))

    def draw(self, random: np.random.Generator) -> Elite:
        """Return one of them, mostly the best."""
        if random.random() < BEST_SHARE:
            return self.best
        return self._kept[int(random.integers(len(self._kept)))]


class MemeticSearch:
    """One such search, which goes on where it was at each call of :meth:`run`.

    Parameters
    ----------
    root : RelaxedKnapsack
    seed : int
    follows : bool
        Whether what others find takes part too. Searches that go their own way end in more places.
    """

    def __init__(
        self,
        root: RelaxedKnapsack,
        seed: int,
        *,
        follows: bool = True,
    ) -> None:
        self._problem = problem = root.problem
        self._random = np.random.default_rng(seed)
        self._elites = Elites(problem)
        self._neighbourhoods = Neighbourhoods(problem, self._random)
        self._tempering: ParallelTempering | None = None
        if suits(problem):
            self._tempering = ParallelTempering(root, cpu(), 1, seed)
        self._newcomers: list[BoolArray] = []
        self._welcomed: set[bytes] = set()
        self._follows = follows
        self._champion: Elite | None = None
        self._barren = self._top = 0
        self._tempered = self._searched = 0
        self._credit = 0

    def welcome(self, packings: list[BoolArray]) -> None:
        """Take packings to combine with others in the next :meth:`run`, each only once."""
        for x in packings:
            key = np.packbits(x).tobytes()
            if key not in self._welcomed and self._problem.fits(x):
                self._welcomed.add(key)
                self._newcomers.append(x)

    def run(self, x: BoolArray, profit: int, work: int, stop: Int8Array) -> BoolArray | None:
        """Go on for about so many elementary steps of a tree; return a packing better than ``x``.

        ``x`` (n,) flags are of the best packing known, which fits and is worth ``profit``; None
        where nothing better was found. The search ends where ``stop[0]`` is set. A step too many is
        made good at the next call.
        """
        if self._follows or not len(self._elites):
            self._elites.add(x)
        self._credit = min(self._credit, 0) + work
        while self._credit > 0 and stop[0] == 0:
            before = self._tempered + self._searched
            if self._newcomers:
                self._combine(self._newcomers.pop(0), stop)
            elif self._tempering is not None and self._tempered <= self._searched:
                self._temper(self._tempering, stop)
            else:
                self._search(stop)
            self._credit -= self._tempered + self._searched - before
        best = self._best_ever()
        return best.x if best.profit > profit else None

    def _best_ever(self) -> Elite:
        """Return the best packing, of those that were given up too."""
        best = self._elites.best
        if self._champion is None or best.profit > self._champion.profit:
            self._champion = best
        return self._champion

    def _temper(self, tempering: ParallelTempering, stop: Int8Array) -> None:
        """Let replicas begin anew, and combine what they end with."""
        self._tempered += TURNS * TRIALS * RUNGS * STEPS_PER_TRIAL
        found = tempering.begin_anew(self._elites.draw(self._random).x, TURNS, stop)
        if found is None:
            return
        if self._barren > MOST_BARREN:
            self._best_ever()
            self._elites, self._barren, self._top = Elites(self._problem), 0, 0
        self._combine(found, stop)
        before, self._top = self._top, self._elites.best.profit
        self._barren = 0 if self._top > before else self._barren + 1

    def _combine(self, found: BoolArray, stop: Int8Array) -> None:
        """Search between a packing and other good ones."""
        profit = int(self._problem.profit[found].sum())
        others = []
        if len(self._elites):
            drawn = (self._elites.draw(self._random) for _ in range(MORE))
            others = [self._elites.best, *drawn]
        self._elites.add(found)
        for other in others:
            if stop[0] == 0 and not np.array_equal(other.x, found):
                free = self._neighbourhoods.between(found, other.x)
                target = max(profit, other.profit) + 1
                self._tempered += self._try(found, free, target, stop)

    def _search(self, stop: Int8Array) -> None:
        """Search a neighbourhood."""
        start = self._elites.draw(self._random)
        free = self._neighbourhoods.around(self._elites.dispute())
        self._searched += self._try(start.x, free, start.profit + 1, stop)

    def _try(self, x: BoolArray, free: BoolArray, target: int, stop: Int8Array) -> int:
        searched = self._neighbourhoods.search(x, free, target, stop)
        if searched.x is not None:
            self._elites.add(searched.x)
        return searched.steps
