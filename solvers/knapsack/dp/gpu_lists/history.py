"""Histories on a device: segments stay there while there is memory set aside for them."""

from __future__ import annotations

import weakref
from typing import Any

from solvers.knapsack.dp.gpu_lists.kernels.fields import Field
from solvers.knapsack.dp.gpu_lists.kernels.stages import HISTORY_BYTES
from solvers.knapsack.dp.gpu_lists.memory import GpuLists, copy
from solvers.knapsack.dp.history import History, ItemStages, Segment, read_back
from solvers.knapsack.dp.states import STAGES
from solvers.knapsack.items import IntArray


class Budget:
    """Bytes of the device left for segments; no part of the history, which would else stay too."""

    def __init__(self, left: int) -> None:
        self.left = left

    def add(self, size: int) -> None:
        """Take more, or less."""
        self.left += size


class DeviceHistory:
    """Keeps segments on the device while there is memory set aside, then on the host."""

    def __init__(self, lists: GpuLists, device_bytes: int) -> None:
        self._lists = lists
        self._budget = Budget(device_bytes)
        self.before: Segment | None = None

    def on_host(self) -> History[ItemStages]:
        """Return the history of a part that waits."""
        return History(ItemStages(self._lists.treated()), self.before)

    def put_back(self, history: History[ItemStages]) -> None:
        """Go on with the history of a part that waited."""
        self._lists.set_treated(history.stages.treated)
        self.before = history.before

    def close(self) -> None:
        """Begin new words: the list's states are the ancestors of those to come."""
        lists = self._lists
        count = lists[Field.COUNT]
        states = lists.view(0, count)
        kept: tuple[Any, Any] | None = None
        if count * HISTORY_BYTES <= self._budget.left:
            kept = self._on_device(states.history, states.ancestor)
        there = kept is not None
        if kept is None:
            to_host = lists.device.to_host
            kept = to_host(states.history), to_host(states.ancestor)
        self.before = Segment(kept[0], kept[1], ItemStages(lists.treated()), STAGES, self.before)
        if there:
            self._budget.add(-count * HISTORY_BYTES)
            # it goes when no list is left that came of it
            weakref.finalize(self.before, self._budget.add, count * HISTORY_BYTES).atexit = False
        lists[Field.STAGE] = 0
        lists.renew()

    def packing(self) -> tuple[int, IntArray]:
        """Return the best packing, as ``GpuListSearch.found`` tells it."""
        lists = self._lists
        word, ancestor = lists[Field.HISTORY], lists[Field.ANCESTOR]
        stages = ItemStages(lists.treated())
        items, first = read_back(word, ancestor, stages, STAGES, self.before)
        return first, items

    def _on_device(self, words: Any, ancestors: Any) -> tuple[Any, Any] | None:
        xp = self._lists.device.xp
        try:
            kept = xp.empty(words.size, words.dtype), xp.empty(ancestors.size, ancestors.dtype)
        except Exception as error:
            if not self._lists.device.is_out_of_memory(error):
                raise
            self._budget = Budget(0)
            return None
        copy(kept[0], words)
        copy(kept[1], ancestors)
        return kept
