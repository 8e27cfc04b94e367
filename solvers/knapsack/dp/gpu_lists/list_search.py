"""The stages of a list that was handed over, until nothing of it is left.

It goes as in ``solvers/knapsack/dp/core.py``: a list that outgrows its room is cut in two by
bounds, and the less promising part waits, here in the memory of the host. The device is told to
stop after so much work, and tells the host how it stands after every batch of stages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device, find_device
from solvers.knapsack.dp.gpu_lists.kernels.stages import Field, Mode, Reason
from solvers.knapsack.dp.gpu_lists.memory import LARGEST_ROOM, STATE_BYTES, DeviceHistory, GpuLists
from solvers.knapsack.dp.states import ItemStages, Part, WaitingList, next_items, state_bounds
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray

SAMPLES, SAMPLE = 64, 512
"""Places of a list, and states at each of them, from which its middle bound is taken."""

FIRST_ROOM = 2**22
"""States for which there is room at the beginning: 235 MB on both sides."""

GROWTH = 4
"""How many times as much room there is each time."""

WORK = 10**10
"""States between two looks at the clock: a tenth of a second or two."""

MEMORY_SHARE, HISTORY_SHARE = 0.5, 0.25
"""Parts of the free memory for lists, and for the histories of stages that are over."""


def see_sides(lists: GpuLists, items: Ordered) -> None:
    """Note in control what bounds the states of the list now, from its next items."""
    comes, goes = next_items(items, lists[Field.LEFT], lists[Field.RIGHT])
    lists[Field.COMES_PROFIT], lists[Field.COMES_WEIGHT] = comes
    lists[Field.GOES_PROFIT], lists[Field.GOES_WEIGHT] = goes


def middle_bound(lists: GpuLists, items: Ordered) -> int:
    """Return about the median of the states' bounds, from a sample."""
    count, to_host = lists[Field.COUNT], lists.device.to_host
    sides = next_items(items, lists[Field.LEFT], lists[Field.RIGHT])
    bounds = []
    for first in np.linspace(0, max(count - SAMPLE, 0), SAMPLES).astype(int).tolist():
        part = lists.view(first, min(SAMPLE, count - first))
        there = to_host(part.profit), to_host(part.weight)
        bounds.append(state_bounds(*there, items.capacity, *sides))
    return int(np.median(np.concatenate(bounds)))


PLACE = [Field.LEFT, Field.RIGHT, Field.STAGE]
"""What a part that waits has of its own in the array that controls the search."""


@dataclass(frozen=True, eq=False)
class Given:
    """A list to go on with: its states, the next items to the left and right, and two limits.

    ``best`` is the profit to beat, and ``target`` what no packing exceeds.
    """

    profit: IntArray
    weight: IntArray
    left: int
    right: int
    best: int
    target: int


class GpuListSearch:
    """One search that begins with a list; the device's stream has to be current throughout.

    Parameters
    ----------
    device : Device
    items : Ordered
    opposite : (n,) int64 array
        Bounds of the items' other choice; see ``opposite_bounds``.
    given : Given
    most_states : int, optional
        States that a list may have room for; by default what fits into the device's memory.

    Raises
    ------
    Exception
        What the device raises when its memory is exhausted; see ``Device.is_out_of_memory``.
    """

    def __init__(
        self,
        device: Device,
        items: Ordered,
        opposite: IntArray,
        given: Given,
        most_states: int | None = None,
    ) -> None:
        self._items = items
        free = device.memory_free
        self._most = room_for(device) if most_states is None else most_states
        self._most = max(min(self._most, LARGEST_ROOM), 2 * given.profit.size)
        room = min(max(FIRST_ROOM, 2 * given.profit.size), self._most)
        self._lists = GpuLists(device, items.profit, items.weight, opposite, room)
        kept_bytes = int(HISTORY_SHARE * free) if device.kind == "cuda" else 0
        self._history = DeviceHistory(self._lists, kept_bytes)
        self._waiting: WaitingList[ItemStages] = WaitingList()
        self._settled = False
        self._found: tuple[int, IntArray] | None = None
        lists = self._lists
        lists.fill((given.profit, given.weight))
        lists[Field.LEFT], lists[Field.RIGHT] = given.left, given.right
        lists[Field.PROFIT], lists[Field.TARGET] = given.best, given.target
        lists[Field.CAPACITY] = items.capacity
        lists.renew()

    @property
    def profit(self) -> int:
        """Of the best packing so far, or what it has to beat."""
        return self._lists[Field.PROFIT]

    @property
    def visited(self) -> int:
        """States looked at so far."""
        return self._lists[Field.VISITED]

    @property
    def count(self) -> int:
        """States of the list now."""
        return self._lists[Field.COUNT]

    @property
    def found(self) -> tuple[int, IntArray] | None:
        """The best packing, if it is one of this search.

        That is the number of the given state it stems from, and the items whose choice differs from
        that of the break solution since then.
        """
        return self._found

    def told(self, best: int, target: int) -> None:
        """Take profit and bound from the search that handed the list over."""
        if best > self.profit:
            self._lists[Field.PROFIT], self._found = best, None
        self._lists[Field.TARGET] = min(target, self._lists[Field.TARGET])

    def run(self, watch: Callable[[int, int], bool], work: float = np.inf) -> bool:
        """Go on until nothing of the list is left, and return True, or for ``work`` states more.

        ``watch`` is told the best profit and the bound now and then, and returns whether to stop.
        """
        until = self.visited + work
        while self.visited < until and not self._settled:
            reason = self._advance(int(min(WORK, until - self.visited)))
            target = self._lists[Field.TARGET]
            if self.profit >= target or (
                reason == Reason.EMPTY and not self._waiting.resume(self._restore)
            ):
                self._settled = True
            elif reason == Reason.CHECKPOINT:
                self._history.close()
            elif reason == Reason.FULL:
                self._make_room()
            if watch(self.profit, target):
                break
        return self._settled

    def bound(self) -> int:
        """Return what no packing that comes of the states left exceeds."""
        if self._settled:
            return self.profit
        lists = self._lists
        low = int(self._waiting.bound(self.profit))
        high = max(low, lists[Field.TARGET])
        see_sides(lists, self._items)
        while low < high:  # the largest bound of a state, rounded down
            middle = (low + high + 1) // 2
            lists[Field.LEVEL] = middle
            if lists.choose(Mode.COUNTING):
                low = middle
            else:
                high = middle - 1
        return low

    def _advance(self, work: int) -> Reason:
        """Do a batch of stages, and note the best packing where there is a new one."""
        lists, best = self._lists, self.profit
        lists[Field.REASON], lists[Field.UNTIL] = Reason.NONE, self.visited + work
        lists.run_batch()
        if self.profit > best:
            self._found = None
            self._found = self._history.packing()
        return Reason(lists[Field.REASON])

    def _make_room(self) -> None:
        """Take more memory for the list, or put the less promising half of it aside."""
        lists = self._lists
        if lists.room < self._most:
            try:
                lists.grow(min(GROWTH * lists.room, self._most))
            except Exception as error:
                if not lists.device.is_out_of_memory(error):
                    raise
                self._most = lists.room  # there is no more memory
            else:
                return
        see_sides(lists, self._items)
        lists[Field.LEVEL] = level = middle_bound(lists, self._items)
        bound, mode = level - 1, 0
        later = lists.choose(Mode.BELOW)
        if later in (0, self.count):
            lists[Field.LEVEL] = self.count // 2
            bound, mode = lists[Field.TARGET], Mode.PLACES
            later = lists.choose(mode | Mode.BELOW)
        states = lists.to_host(later, other=True)
        self._waiting.add(Part(states, lists.control[PLACE], self._history.on_host(), bound))
        lists.choose(mode)
        lists.take_over()

    def _restore(self, part: Part[ItemStages]) -> int:
        """Make a part that waited the list; return how many of its states may still be of use."""
        lists = self._lists
        lists.fill(part.states)
        lists.control[PLACE] = part.place
        self._history.put_back(part.history)
        see_sides(lists, self._items)
        lists[Field.LEVEL] = self.profit + 1
        lists.choose(0)
        lists.take_over()
        return self.count


def room_for(device: Device) -> int:
    """Return how many states a list may have room for in a device's memory."""
    return int(min(MEMORY_SHARE * device.memory_free // STATE_BYTES, LARGEST_ROOM))


# When a list of states goes to a GPU, and what a search on the CPU sees of it there.


LONG_LIST = 100_000
"""States from which a list is long: one core takes two milliseconds for a stage then, an H200 25
microseconds (``benchmarks.knapsack_lists``), and bringing CuPy, kernels and list there takes as
long as hundreds of stages."""


def device_for(wanted: str) -> Device | None:
    """Return the GPU for long lists, or None where they stay with the CPU.

    ``wanted`` is the option ``device``.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there.
    """
    if wanted == "cpu":
        return None
    device = find_device(wanted)
    return None if device.kind == "cpu" else device


class Handover:
    """Takes the list of one search at a time, from the first that is long.

    The search keeps its list until the GPU is done with it, so that it can go on itself where the
    GPU's memory is exhausted.

    Parameters
    ----------
    wanted : str
        The option ``device``; see :func:`~solvers.knapsack.dp.gpu_lists.list_search.device_for`.
    say : callable
        Told in a sentence where the GPU is given up.
    """

    def __init__(self, wanted: str, say: Callable[[str], None]) -> None:
        self._wanted = wanted
        self._say = say
        self._device: Device | None = None
        self._search: GpuListSearch | None = None
        self._closed = False

    @property
    def search(self) -> GpuListSearch | None:
        """What goes on there, if anything does."""
        return self._search

    def takes(self, count: int) -> bool:
        """Whether a list of so many states is to be brought there."""
        if self._closed or count < LONG_LIST:
            return False
        if self._device is None:
            self._device = device_for(self._wanted)
            self._closed = self._device is None
        return not self._closed

    def begin(self, items: Ordered, opposite: IntArray, given: Given) -> bool:
        """Take a list; return False where there is no memory for it."""
        assert self._device is not None  # 'takes' was asked
        try:
            with self._device.activate():
                self._search = GpuListSearch(self._device, items, opposite, given)
        except Exception as error:
            self._give_up(error)
        return self._search is not None

    def run(self, watch: Callable[[int, int], bool], work: float = np.inf) -> bool:
        """Go on with the list; return whether it is done. It is gone if memory was exhausted."""
        assert self._device is not None
        assert self._search is not None
        try:
            with self._device.activate():
                return self._search.run(watch, work)
        except Exception as error:
            self._give_up(error)
            return False

    def bound(self) -> int:
        """Return what no packing that comes of the list exceeds."""
        assert self._device is not None
        assert self._search is not None
        with self._device.activate():
            return self._search.bound()

    def end(self) -> None:
        """Give the memory back."""
        self._search = None
        if self._device is not None:
            self._device.release_memory()

    def _give_up(self, error: Exception) -> None:
        """Close the place if its memory is exhausted; raise other errors again."""
        assert self._device is not None
        if not self._device.is_out_of_memory(error):
            raise error
        error.__traceback__ = None  # which holds arrays of the device
        self._closed = True
        self.end()
        self._say(f"{self._device.name} is out of memory; going on on the CPU.")
