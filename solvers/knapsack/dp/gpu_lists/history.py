"""What packings are read off from: the histories of stages that are over."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.knapsack.dp.gpu_lists.kernels.fields import Field
from solvers.knapsack.dp.gpu_lists.kernels.stages import TRAIL_BYTES
from solvers.knapsack.dp.gpu_lists.memory import STAGES, Lists, copy
from solvers.knapsack.items import IntArray


@dataclass(frozen=True, eq=False)
class Segment:
    """Up to 64 stages that are over: each state's history then, and its ancestor before them."""

    history: Any
    ancestor: Any
    treated: IntArray
    before: Segment | None


class Budget:
    """Bytes of the device left for histories; apart from the trail, which would else stay too."""

    def __init__(self, left: int) -> None:
        self.left = left

    def add(self, size: int) -> None:
        """Take more, or less."""
        self.left += size


class Trail:
    """Keeps histories on the device while there is memory set aside, then on the host."""

    def __init__(self, lists: Lists, device_bytes: int) -> None:
        self._lists = lists
        self._budget = Budget(device_bytes)
        self.last: Segment | None = None

    def remember(self) -> None:
        """Put the history of the list's states away, and begin a new one."""
        lists = self._lists
        count = lists[Field.COUNT]
        states = lists.view(0, count)
        kept: tuple[Any, ...] | None = None
        if count * TRAIL_BYTES <= self._budget.left:
            kept = self._on_device(states.history, states.ancestor)
        there = kept is not None
        if kept is None:
            kept = tuple(map(lists.device.to_host, (states.history, states.ancestor)))
        self.last = Segment(kept[0], kept[1], lists.treated(), self.last)
        if there:
            self._budget.add(-count * TRAIL_BYTES)
            # it goes when no list is left that came of it
            weakref.finalize(self.last, self._budget.add, count * TRAIL_BYTES).atexit = False
        lists[Field.STAGE] = 0
        lists.renew()

    def packing(self) -> tuple[int, IntArray]:
        """Return the best packing, as ``ListSearch.found`` tells it."""
        lists = self._lists
        history, ancestor = lists[Field.HISTORY], lists[Field.ANCESTOR]
        changed = [_changed(history, lists.treated())]
        segment = self.last
        while segment is not None:
            history, there = int(segment.history[ancestor]), int(segment.ancestor[ancestor])
            changed.append(_changed(history, segment.treated))
            ancestor, segment = there, segment.before
        return ancestor, np.concatenate(changed)

    def _on_device(self, *arrays: Any) -> tuple[Any, ...] | None:
        xp = self._lists.device.xp
        try:
            kept = tuple(xp.empty(array.size, dtype=array.dtype) for array in arrays)
        except Exception as error:
            if not self._lists.device.is_out_of_memory(error):
                raise
            self._budget = Budget(0)
            return None
        for target, source in zip(kept, arrays, strict=True):
            copy(target, source)
        return kept


def _changed(history: int, treated: IntArray) -> IntArray:
    """Return the items whose bits are set in a history."""
    bits = np.int64(history).view(np.uint64) >> np.arange(STAGES, dtype=np.uint64)
    changed: IntArray = treated[(bits & np.uint64(1)).astype(bool)]
    return changed
