"""Where a list of nodes lives, and what is done with it there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.tree.kernels.nodes import (
    BEST,
    BEST_NODE,
    CAPACITY,
    CONTROL_SIZE,
    FAMILY,
    ITEM,
    LENGTH,
    blocks_of,
)

FIRST_ROOM = 4096
"""Nodes for which there is room at the beginning, children included."""

BYTES_PER_NODE = 2 * 4 * 8 + 3 * 8 + 4
"""Two lists of four words, lower bounds and block counts at most a word each, and an origin."""


class Nodes:
    """A list of nodes on one device; its arrays are NumPy's, or CuPy's on a GPU.

    Parameters
    ----------
    module : module
        ``numpy`` or ``cupy``.
    items : Ordered
    room : int
        Nodes, old and new together, that fit.
    threads : int
        CPU threads of the twins; 0 means all.
    """

    def __init__(self, module: Any, items: Ordered, room: int, threads: int = 0) -> None:
        self.module, self.room, self.threads = module, room, threads
        self._items = items
        self._item_profit = module.asarray(items.profit)
        self._item_weight = module.asarray(items.weight)
        self._lists = [self._new_list(room) for _ in range(2)]
        self._lower = self._words(room)
        self._block_count = self._words(blocks_of(room) + 1)
        self._block_best, self._block_node = (self._words(blocks_of(room) + 1) for _ in range(2))
        self._control = module.zeros(CONTROL_SIZE, dtype=np.int64)
        self.count = 0

    @property
    def on_gpu(self) -> bool:
        """Whether the list lives on a GPU."""
        return self.module is not np

    def put(self, columns: list[npt.NDArray[np.int64]]) -> None:
        """Make a list of given weights, profits, slack items and upper bounds."""
        self.count = int(columns[0].size)
        for mine, theirs in zip(self._lists[0], columns, strict=True):
            mine[: self.count] = self.module.asarray(theirs)

    def get(self) -> list[npt.NDArray[np.int64]]:
        """Return weights, profits, slack items and upper bounds as NumPy arrays."""
        return [self._host(column[: self.count]) for column in self._lists[0]]

    def level(self, item: int, best: int) -> tuple[int, int, Any]:
        """Branch on an item, bound the new nodes and drop what cannot beat the best profit.

        Returns
        -------
        best, node : int
            The best profit now, and the place of the new node that has it among old and new ones,
            or -1 where it is not new.
        origin : array of int32
            The place, among old and new nodes, of each node that is left.
        """
        count, control = self.count, self._control
        now, then = self._lists
        start = np.zeros(CONTROL_SIZE, dtype=np.int64)
        start[[ITEM, CAPACITY, BEST, BEST_NODE]] = item, self._items.capacity, best, -1
        control[:] = self.module.asarray(start)
        upper = now[3]
        items = (self._items.num_items, self._item_profit, self._item_weight)
        blocks, all_blocks = blocks_of(count), blocks_of(2 * count)
        origin = self.module.empty(2 * count, dtype=np.int32)
        self._call("branch", count, *items, *now[:3], upper, control)
        self._call("bound", count, *items, *now[:3], upper, self._lower, control)
        self._call("best_of_blocks", count, self._lower, self._block_best, self._block_node)
        self._call("best_of_all", blocks, self._block_best, self._block_node, control)
        self._call("count_promising", count, upper, self._block_count, control)
        self._call("places_of_blocks", all_blocks, self._block_count, control)
        self._call("gather", count, *now, self._block_count, *then, origin, control)
        found = self._host(control)
        self._lists.reverse()
        self.count = int(found[LENGTH])
        return int(found[BEST]), int(found[BEST_NODE]), origin[: self.count]

    def merge(self, origin: Any) -> Any:
        """Keep one of several nodes of equal weight and slack item, the most profitable.

        They have the same items before them and the same room for those, so that the others cannot
        end better. Returns the origins of those kept.
        """
        xp, count = self.module, self.count
        now, then = self._lists
        weight, profit, slack, _ = (column[:count] for column in now)
        order = xp.lexsort(xp.stack([-profit, weight, slack]))
        new = xp.ones(count, dtype=bool)
        new[1:] = (weight[order[1:]] != weight[order[:-1]]) | (
            slack[order[1:]] != slack[order[:-1]]
        )
        kept = order[new]
        self.count = int(kept.size)
        for old, other in zip(now, then, strict=True):
            other[: self.count] = old[kept]
        self._lists.reverse()
        return origin[kept]

    def largest_bound(self) -> int:
        """Return the largest upper bound of the list, or -1."""
        return int(self._lists[0][3][: self.count].max()) if self.count else -1

    def _call(self, kernel: str, *values: Any) -> None:
        FAMILY[kernel](*values, threads=self.threads)

    def _new_list(self, room: int) -> list[Any]:
        return [self._words(room) for _ in range(4)]

    def _words(self, size: int) -> Any:
        return self.module.empty(size, dtype=np.int64)

    def _host(self, values: Any) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = values.get() if self.on_gpu else values.copy()
        return found
