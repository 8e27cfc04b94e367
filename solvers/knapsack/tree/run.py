"""Level by level through the items, on the CPU while the list is short and on the GPU when long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.errors import EngineError
from solvers.knapsack.efficiency import SAFE_PRODUCT, Ordered
from solvers.knapsack.greedy import pack_greedily
from solvers.knapsack.tree.nodes import BYTES_PER_NODE, FIRST_ROOM, Nodes

SWITCH = 5000
"""Nodes from which the GPU treats the list: the paper's figure, section 3.2.2."""

BACK_SHARE = 0.25
"""Part of that below which the list goes back to the CPU, so that it does not go to and fro."""

MERGE_FROM = 1024
"""Nodes from which equal ones are looked for, each time the list has doubled."""

MEMORY_SHARE = 0.6
"""Part of a device's free memory that lists and origins may take."""

ORIGIN_SHARE = 0.2
"""Part of a GPU's memory for where nodes came from; what is beyond goes to the host."""

MOST_NODES_CPU = 40_000_000
"""Nodes that a list on the CPU may have, children included."""


@dataclass(frozen=True)
class TreeSettings:
    """How the tree is treated.

    Parameters
    ----------
    switch : int
        Nodes from which the GPU is used.
    merged : bool
        Whether equal nodes are merged; the paper does not, and its lists grow beyond any memory.
    most_nodes : int
        Nodes, children included, that a list may have; 0 means what the memory allows.
    """

    switch: int = SWITCH
    merged: bool = True
    most_nodes: int = 0


DEFAULT = TreeSettings()
"""Merged, with the paper's switch."""


@dataclass(frozen=True, eq=False)
class TreeResult:
    """Flags of the best packing's items, its profit, a valid bound, and what it took.

    ``complete`` is False where time or memory ended the search; ``longest`` is the longest list,
    ``on_gpu`` the number of levels treated there.
    """

    flags: npt.NDArray[np.bool_]
    profit: int
    bound: int
    complete: bool
    nodes: int
    longest: int
    on_gpu: int


def branch_and_bound(
    items: Ordered,
    device: Device,
    should_stop: Callable[[], bool],
    settings: TreeSettings = DEFAULT,
    *,
    threads: int = 0,
) -> TreeResult:
    """Solve a 0/1 knapsack problem breadth first.

    Raises
    ------
    EngineError
        A product of weight and profit leaves 64 bits behind.
    """
    largest = float(items.weight.max(initial=1)) * float(items.profit.max(initial=1))
    if largest >= SAFE_PRODUCT:
        raise EngineError(
            "Branch and bound as published multiplies weights and profits in 64 bits, which these "
            "are too large for; method='knapsack' treats them exactly."
        )
    with device.activate():
        return _Tree(items, device, settings, threads).run(should_stop)


class _Tree:
    """One run; ``origins[k]`` says where the nodes after level k came from."""

    def __init__(
        self, items: Ordered, device: Device, settings: TreeSettings, threads: int
    ) -> None:
        self._items, self._device, self._settings = items, device, settings
        self._threads = threads
        self._nodes = Nodes(np, items, FIRST_ROOM, threads)
        self._origins: list[tuple[int, Any]] = []
        self._best_at = (-1, -1)
        self._merged_at = MERGE_FROM // 2
        flags = np.zeros(items.num_items, dtype=np.bool_)
        self._best = int(pack_greedily(items.profit, items.weight, items.capacity, flags))
        b = items.break_item
        root = (items.weight_before[b], items.profit_before[b], b, items.dantzig_bound)
        if items.dantzig_bound > self._best:
            self._nodes.put([np.array([value], dtype=np.int64) for value in root])

    def run(self, should_stop: Callable[[], bool]) -> TreeResult:
        total, longest, on_gpu, complete = 0, 1, 0, True
        for item in range(self._items.num_items):
            if not self._nodes.count:
                break
            if should_stop() or not self._advance(item):
                complete = False
                break
            total += self._nodes.count
            longest = max(longest, self._nodes.count)
            on_gpu += self._nodes.on_gpu
        bound = self._best if complete else max(self._best, self._nodes.largest_bound())
        return TreeResult(self._packing(), self._best, bound, complete, total, longest, on_gpu)

    def _advance(self, item: int) -> bool:
        """Treat a level; False if memory does not suffice, and the list is what it was."""
        try:
            if not self._make_room():
                return False
            self._level(item)
        except Exception as error:
            if not self._device.is_out_of_memory(error):
                raise
            return False
        return True

    def _level(self, item: int) -> None:
        before = self._nodes.count
        self._best, node, origin = self._nodes.level(item, self._best)
        if node >= 0:
            self._best_at = (item, node)
        if self._settings.merged and self._nodes.count >= 2 * self._merged_at:
            origin = self._nodes.merge(origin)
            self._merged_at = max(self._nodes.count, MERGE_FROM // 2)
        self._origins.append((before, self._kept(origin)))

    def _kept(self, origin: Any) -> Any:
        """Return a copy of origins of their own size, on the host if memory is short."""
        if not self._nodes.on_gpu:
            return origin.copy()
        held = sum(values.nbytes for _, values in self._origins if hasattr(values, "get"))
        if held + origin.nbytes > ORIGIN_SHARE * self._device.memory_total:
            return origin.get()
        return origin.copy()

    def _make_room(self) -> bool:
        """Bring the list where it belongs, with room for its children; False if there is none."""
        count, nodes = self._nodes.count, self._nodes
        has_gpu = self._device.kind == "cuda"
        to_gpu = has_gpu and count > self._settings.switch
        if nodes.on_gpu and count > BACK_SHARE * self._settings.switch:
            to_gpu = True
        if to_gpu == nodes.on_gpu and 2 * count <= nodes.room:
            return True
        most = self._settings.most_nodes or self._most_nodes(to_gpu)
        if 2 * count > most:
            return False
        room = min(most, max(4 * count, FIRST_ROOM))
        module = self._device.xp if to_gpu else np
        larger = Nodes(module, self._items, room, self._threads)
        larger.put(nodes.get())
        self._nodes = larger
        return True

    def _most_nodes(self, on_gpu: bool) -> int:
        if not on_gpu:
            return MOST_NODES_CPU
        return int(MEMORY_SHARE * self._device.memory_total / (2 * BYTES_PER_NODE))

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Follow the best node back to the root, and fill up greedily from there."""
        items = self._items
        last, node = self._best_at
        considered = np.ones(items.num_items, dtype=np.bool_)
        for level in range(last, -1, -1):
            before, _ = self._origins[level]
            if node >= before:
                considered[level] = False
                node -= before
            if level:
                node = int(self._origins[level - 1][1][node])
        chosen = np.flatnonzero(considered)
        flags = np.zeros(chosen.size, dtype=np.bool_)
        pack_greedily(items.profit[chosen], items.weight[chosen], items.capacity, flags)
        packed = np.zeros(items.num_items, dtype=np.bool_)
        packed[chosen[flags]] = True
        return packed
