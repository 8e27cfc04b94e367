"""A list of states in the memory of a device, the launches that work on it, and its history.

Segments of the history stay on the device while there is memory set aside for them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.kernels.family import recorded
from solvers.knapsack.dp.gpu_lists.kernels.stages import (
    CONTROL_SIZE,
    FAMILY,
    HISTORY_BYTES,
    KEY_BYTES,
    Field,
    tiles,
)
from solvers.knapsack.dp.states import (
    STAGES,
    History,
    ItemStages,
    Segment,
    States,
    map_states,
    read_back,
)
from solvers.knapsack.items import IntArray

LARGEST_ROOM = 2**31 - 1
"""Ancestors are numbers of 32 bits."""

BLOCKS_PER_PROCESSOR = 5
"""Blocks of a merge that a H200's processor runs at once; more would wait for a ticket in vain."""

STAGES_PER_BATCH = 16
"""Stages that are launched at once. Telling the host costs about as much as two short stages;
where the list ends within a batch, what is left of it runs empty, for 3 us each."""


STATE_BYTES = 2 * (KEY_BYTES + HISTORY_BYTES)
"""Bytes for each state that there is room for, on both sides."""


TYPES = (np.int64, np.int64, np.int64, np.int32)
"""Of the arrays of ``States`` on a device."""


class GpuLists:
    """Two sides of ``room`` states each, items, and the control array on host and device.

    ``control`` is the host's copy: what is changed there reaches the device with the next call.
    """

    def __init__(
        self, device: Device, profit: IntArray, weight: IntArray, opposite: IntArray, room: int
    ) -> None:
        self.device = device
        self.room = room
        self.control = np.zeros(CONTROL_SIZE, dtype=np.int64)
        xp = device.xp
        self._items = tuple(map(device.to_device, (profit, weight, opposite)))
        self._control = xp.zeros(CONTROL_SIZE, dtype=np.int64)
        self._treated = xp.zeros(STAGES, dtype=np.int64)
        self._columns = States(*(xp.empty(2 * room, dtype=kind) for kind in TYPES))
        self._words = xp.zeros(tiles(room) + 1, dtype=np.int64)
        self._blocks = _blocks(device)
        self._batch: Callable[[], None] | None = None

    def __getitem__(self, field: Field) -> int:
        return int(self.control[field])

    def __setitem__(self, field: Field, value: int) -> None:
        self.control[field] = value

    def run_batch(self) -> None:
        """Do some stages, or none where one of the reasons not to holds; wait for the result."""
        if self._batch is None:
            self._batch = self._prepare()
        self._write_control()
        self._batch()
        self._read_control()

    def choose(self, mode: int) -> int:
        """Copy states to the other side (see the kernel); return their number. SIDE stays."""
        self[Field.TICKET], self[Field.NEXT_COUNT] = 0, 0
        self[Field.TILES] = tiles(self[Field.COUNT])
        self[Field.EPOCH] += 1
        self._write_control()
        scan = (self._words, self._control)
        FAMILY["choose"](mode, self._blocks, self.room, *self._columns, *scan, threads=1)
        self._read_control()
        self[Field.TILES] = 0
        return self[Field.NEXT_COUNT]

    def take_over(self) -> None:
        """Let what was chosen be the list."""
        self[Field.COUNT], self[Field.SIDE] = self[Field.NEXT_COUNT], 1 - self[Field.SIDE]

    def renew(self) -> None:
        """Begin a history: the states of the list are ancestors."""
        self._write_control()
        history, ancestor = self._columns.history, self._columns.ancestor
        FAMILY["renew"](self._blocks, self.room, history, ancestor, self._control, threads=1)

    def treated(self) -> IntArray:
        """Return the items of the stages of this history, on the host."""
        return np.asarray(self.device.to_host(self._treated))

    def set_treated(self, items: IntArray) -> None:
        """Put back the items of a history's stages."""
        write(self._treated, items)

    def view(self, first: int, count: int, *, other: bool = False) -> States:
        """Return ``count`` states from number ``first`` of the list, or of the other side."""
        side = self[Field.SIDE] ^ int(other)
        here = slice(side * self.room + first, side * self.room + first + count)
        return map_states(lambda column: column[here], self._columns)

    def fill(self, given: tuple[Any, ...]) -> None:
        """Make arrays of the host the list; without words and ancestors these stay as they are."""
        self[Field.COUNT] = count = int(given[0].size)
        for column, values in zip(self.view(0, count), given, strict=False):
            write(column, values)

    def to_host(self, count: int, *, other: bool = False) -> States:
        """Return a copy of the first ``count`` states."""
        return map_states(self.device.to_host, self.view(0, count, other=other))

    def grow(self, room: int) -> None:
        """Take more memory, an array at a time; the list stays.

        Raises
        ------
        Exception
            What the device raises when its memory is exhausted. The list is as it was.
        """
        xp, count = self.device.xp, self[Field.COUNT]
        larger = []
        words = xp.zeros(tiles(room) + 1, dtype=np.int64)
        for old, kind in zip(self.view(0, count), TYPES, strict=True):
            larger.append(xp.empty(2 * room, dtype=kind))
            copy(larger[-1][:count], old)
        self._columns, self._words = States(*larger), words
        self.room, self._batch = room, None
        self[Field.SIDE] = 0

    def _prepare(self) -> Callable[[], None]:
        sides = (*self._columns, self._treated, self._control)
        scan = (self._words, self._control)
        merge = (self._blocks, self.room, *self._columns, *scan)
        items = int(self._items[0].size)
        begin, end = ((flag, items, self.room, *self._items, *sides) for flag in (1, 0))
        calls = [("turn", begin), ("merge", merge)] * STAGES_PER_BATCH + [("turn", end)]
        if isinstance(self._control, np.ndarray):

            def run() -> None:
                for name, arguments in calls:
                    FAMILY[name](*arguments, threads=1)

            return run
        stream = self.device.xp.cuda.get_current_stream()
        graph = recorded(stream, [FAMILY.bind(name, *given) for name, given in calls])
        launch_graph: Callable[[], None] = graph.launch  # which spares most of a launch's time
        return launch_graph

    def _write_control(self) -> None:
        write(self._control, self.control)

    def _read_control(self) -> None:
        self.control = np.array(self.device.to_host(self._control))


def write(target: Any, values: npt.NDArray[Any]) -> None:
    """Overwrite an array of a device, of the same shape and type, with one of the host."""
    if isinstance(target, np.ndarray):
        target[...] = values
    elif values.size:
        target.set(np.ascontiguousarray(values))


def copy(target: Any, source: Any) -> None:
    """Copy an array to another one of the same device, shape and type, on the current stream."""
    if isinstance(target, np.ndarray):
        target[...] = source
    elif source.size:
        target.data.copy_from_device_async(source.data, source.nbytes)


def _blocks(device: Device) -> int:
    if device.kind == "cpu":
        return 1
    attributes = device.xp.cuda.Device().attributes
    return int(attributes["MultiProcessorCount"]) * BLOCKS_PER_PROCESSOR


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
