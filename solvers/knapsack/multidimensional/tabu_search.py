"""What a tabu search needs to know of a problem, and one run of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    RelaxedKnapsack,
)
from solvers.knapsack.multidimensional.node import Int8Array
from solvers.native.knapsack_multidimensional_tabu import tabu_search

CHARGES = (0.95, 0.8, 0.98, 0.9)
"""Parts of the duals that are charged for capacity, from run to run: 0.95 and 0.98 were best on
problems of five rows, 0.8 and 0.95 on those of thirty."""

CORE, CORE_PER_ROW = 60, 2
"""Items that move: so many and so many for each row, those with the smallest reduced costs."""

LEAST_PRICE = 0.01
"""Price of a row's violation, as a part of the largest one, at least."""

MOVES_PER_ITEM = 1000
"""Moves of a brief run for each item that moves, at most; small problems are better
searched to the end."""

ENTRIES_PER_STEP = 10
"""Weights that a tabu search reads in the time of an elementary step of a tree."""


@dataclass(frozen=True, eq=False)
class TabuSearch:
    """Data of a search.

    Parameters
    ----------
    problem : MultidimensionalKnapsack
    dual : (m,) float64 array
        Per unit of capacity.
    items : (k,) int64 array
        Those that move.
    weight : (m, k) float64 array
        Their weights.
    """

    problem: MultidimensionalKnapsack
    dual: FloatArray
    items: IntArray
    weight: FloatArray

    def run(
        self,
        number: int,
        x: BoolArray,
        profit: int,
        work: int,
        stop: Int8Array,
        *,
        brief: bool = False,
    ) -> BoolArray | None:
        """Return a packing better than the (n,) flags ``x``, or None where none was found.

        ``number`` counts the runs: each has its own charge and random numbers. ``work`` is in
        elementary steps of a tree, less where the run is to be ``brief``.
        """
        problem = self.problem
        charge = CHARGES[number % len(CHARGES)]
        value = problem.profit[self.items].astype(np.float64)
        used = (self.dual[:, None] * self.weight).sum(axis=0)
        packing: Int8Array = x[self.items].astype(np.int8)
        others = x.copy()
        others[self.items] = False
        moves = ENTRIES_PER_STEP * work // self.weight.size
        best = tabu_search(
            self.weight,
            (problem.capacity - problem.weight[:, others].sum(axis=1)).astype(np.float64),
            np.maximum(self.dual, LEAST_PRICE * self.dual.max()),
            value - charge * used,
            value,
            packing,
            float(profit),
            min(moves, MOVES_PER_ITEM * self.items.size) if brief else moves,
            number,
            stop,
        )
        if best <= profit:
            return None
        others[self.items] = packing == 1
        return others


def prepare_tabu(root: RelaxedKnapsack) -> TabuSearch:
    """Return the data of tabu searches for a problem."""
    problem = root.problem
    order = np.argsort(np.abs(root.reduced), kind="stable")
    items = order[: CORE + CORE_PER_ROW * problem.num_rows]
    weight = np.ascontiguousarray(problem.weight[:, items]).astype(np.float64)
    return TabuSearch(problem, root.dual, items, weight)
