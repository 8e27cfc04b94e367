"""A list of states in the memory of a device, and the launches that work on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.knapsack.dp.gpu_lists.kernels.fields import CONTROL_SIZE, Field
from solvers.knapsack.dp.gpu_lists.kernels.stages import FAMILY, HISTORY_BYTES, KEY_BYTES, tiles
from solvers.knapsack.dp.states import STAGES, States, map_states
from solvers.knapsack.items import IntArray

STATE_BYTES = 2 * (KEY_BYTES + HISTORY_BYTES)
"""Bytes for each state that there is room for, on both sides."""

LARGEST_ROOM = 2**31 - 1
"""Ancestors are numbers of 32 bits."""

BLOCKS_PER_PROCESSOR = 5
"""Blocks of a merge that a H200's processor runs at once; more would wait for a ticket in vain."""

STAGES_PER_BATCH = 16
"""Stages that are launched at once. Telling the host costs about as much as two short stages;
where the list ends within a batch, what is left of it runs empty, for 3 us each."""


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
        return _recorded(self.device, [FAMILY.bind(name, *given) for name, given in calls])

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


def _recorded(device: Device, launches: list[Any]) -> Callable[[], None]:
    """Return one call for launches: a CUDA graph, which spares most of a launch's time."""
    stream = device.xp.cuda.get_current_stream()
    stream.begin_capture()
    try:
        for launch in launches:
            launch()
    finally:
        graph = stream.end_capture()
    launch_graph: Callable[[], None] = graph.launch
    return launch_graph
