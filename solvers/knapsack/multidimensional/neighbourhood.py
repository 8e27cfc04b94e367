"""Exact searches among the packings that differ from a given one in few items.

A few dozen items are free and all others stay as they are. What is left is a problem that the tree
searches to its end in some thousands of nodes, because the best packing known bounds it too: there
is no better exchange of any number of the free items for others of them. Which items are free is
drawn: more often those with small reduced costs, and those that good packings do not agree on;
between two packings, those in which they differ
are free (Danna, Rothberg, Le Pape, "Exploring relaxation induced neighborhoods to improve MIP
solutions", 2005; Rothberg, "An evolutionary algorithm for polishing mixed integer programming
solutions", 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack
from solvers.knapsack.multidimensional.node import (
    FINISHED,
    NODES,
    Int8Array,
    copy_node,
    make_levels,
    make_rows,
    root_node,
)
from solvers.knapsack.multidimensional.tree import steps_per_node
from solvers.native.knapsack_multidimensional_tree import decide_others, explore, reoptimise

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
