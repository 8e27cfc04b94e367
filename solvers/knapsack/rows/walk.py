"""What a tabu search needs to know of a problem, and one run of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.rows.items import BoolArray, RowsKnapsack
from solvers.knapsack.rows.node import Int8Array, Int32Array, Node, Rows
from solvers.knapsack.rows.tabu import tabu_search
from solvers.problem import FloatArray

CHARGES = (0.95, 0.8, 0.98, 0.9)
"""Parts of the duals that are charged for capacity, from run to run: 0.95 and 0.98 were best on
problems of five rows, 0.8 and 0.95 on those of thirty."""

CORE, CORE_PER_ROW = 60, 2
"""Items that move: so many and so many for each row, those with the smallest reduced costs."""

LEAST_PRICE = 0.01
"""Price of a row's violation, as a part of the largest one, at least."""

MOVES_PER_ITEM = 1000
"""Moves of a run for each item that moves, at most; small problems are better
searched to the end."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Data of a search: rows without a count, duals (m,) per unit of capacity, items that move."""

    rows: Rows
    capacity: IntArray
    dual: FloatArray
    items: Int32Array

    def run(
        self, number: int, x: BoolArray, profit: int, work: int, stop: Int8Array
    ) -> BoolArray | None:
        """Return a packing better than the (n,) flags ``x``, or None where none was found.

        ``number`` counts the runs: each has its own charge and random numbers. ``work`` is in
        elementary steps.
        """
        charge = CHARGES[number % len(CHARGES)]
        used = self.rows.weight.astype(np.float64) @ self.dual
        moves = work // (2 * self.items.size * self.capacity.size)
        packing: Int8Array = x.astype(np.int8)
        best = tabu_search(
            self.rows,
            self.capacity,
            np.maximum(self.dual, LEAST_PRICE * self.dual.max()),
            self.rows.price - charge * used,
            self.items,
            packing,
            profit,
            min(moves, MOVES_PER_ITEM * self.items.size),
            number,
            stop,
        )
        return packing.astype(np.bool_) if best > profit else None


def make_walk(problem: RowsKnapsack, rows: Rows, root: Node) -> Walk:
    """Return the data for a problem whose relaxation is solved at ``root``."""
    order = np.argsort(np.abs(root.reduced), kind="stable")
    items = order[: CORE + CORE_PER_ROW * problem.num_rows].astype(np.int32)
    return Walk(rows, problem.capacity, root.dual * rows.scale, items)
