"""Dynamic programming from the break solution outwards, with memory that is a setting.

Items are treated alternately to the right of the break item, where packing them is decided, and to
the left, where taking them out is (Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
1997). Bounds prune every list, and most problems end after few items: the core.

Where a list outgrows its room it is cut in two by the states' bounds. The better part goes on at
once, the other waits, and shrinks or goes when its turn comes, because the best profit has risen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.gpu_lists.list_search import Given, Handover
from solvers.knapsack.dp.states import (
    ANCESTOR,
    CHECKPOINT,
    COUNT,
    EMPTY,
    FULL,
    HISTORY,
    LEFT,
    PROFIT,
    RIGHT,
    STAGE,
    TARGET,
    VISITED,
    History,
    ItemStages,
    Part,
    WaitingList,
    copy_states,
    empty_lists,
    empty_states,
    first_states,
    item_stages,
    larger_lists,
    relaxed_bounds,
    spare_lists,
)
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_states import advance, keep_promising, put_aside
from solvers.native.knapsack_efficiency import opposite_bounds

FIRST_ROOM = 2048
"""States for which there is room at the beginning; most problems need no more."""

WORK = 4_000_000
"""States between two looks at the clock: some hundredths of a second."""

SAMPLE = 10_000
"""States, or up to twice as many, from whose bounds the middle one of a list is guessed."""

STATES_ON_GPU = 100
"""States that a GPU visits in the time of one here, or more (``benchmarks.knapsack_lists``)."""


PLACE = [LEFT, RIGHT, STAGE]
"""What a part that waits has of its own in the array that controls the search."""

Watch: TypeAlias = Callable[[int, int], bool]
"""Told the best profit and the bound now and then; returns whether to stop."""


@dataclass(frozen=True, eq=False)
class CoreResult:
    """The best packing found (flags of items, None if the one to beat is best), and the bound."""

    flags: npt.NDArray[np.bool_] | None
    profit: int
    bound: int
    states: int


class CoreSearch:
    """One search for a packing better than ``profit``, which ends where one is worth ``bound``.

    ``room`` is the number of states that a list may have, and ``handover`` takes longer ones to a
    GPU.
    """

    def __init__(
        self,
        items: Ordered,
        profit: int,
        bound: int,
        room: int,
        handover: Handover | None = None,
    ) -> None:
        self._items = items
        self._handover = handover
        self._visited_there = 0
        self._opposite = np.full(items.num_items, -1, dtype=np.int64)
        self._most = max(room, FIRST_ROOM)
        self._one, self._other = empty_lists(FIRST_ROOM)
        self._history = History(item_stages())
        self._waiting: WaitingList[ItemStages] = WaitingList()
        self._settled = False
        self._flags: npt.NDArray[np.bool_] | None = None
        b = items.break_item
        self._control = np.zeros(9, dtype=np.int64)
        self._control[[COUNT, LEFT, RIGHT]] = 1, b - 1, b
        self._control[[PROFIT, TARGET]] = profit, bound
        self._one.profit[0], self._one.weight[0] = items.profit_before[b], items.weight_before[b]
        self._one.history[0], self._one.ancestor[0] = 0, 0
        if items.profit_before[b] > profit:
            self._control[PROFIT] = items.profit_before[b]
            self._flags = np.arange(items.num_items) < b

    def improve(self, profit: int, flags: npt.NDArray[np.bool_]) -> None:
        """Take a packing found in another way, against which states are pruned from now on."""
        if profit > self._control[PROFIT]:
            self._control[PROFIT] = profit
            self._flags = flags

    @property
    def spent(self) -> float:
        """States visited, those on a GPU for as many as this core visits in their time."""
        there = self._visited_there
        return float(self._control[VISITED]) - there + there / STATES_ON_GPU

    def count_states(self, states: int) -> None:
        """Count states that another search for the same packing has visited."""
        self._control[VISITED] += states

    def lower(self, bound: int) -> None:
        """Take a bound found in another way, at which the search ends."""
        self._control[TARGET] = min(bound, self.target)

    @property
    def profit(self) -> int:
        """Of the best packing so far, or what it has to beat."""
        return int(self._control[PROFIT])

    @property
    def target(self) -> int:
        """The profit that no packing exceeds."""
        return int(self._control[TARGET])

    @property
    def is_settled(self) -> bool:
        """Whether the best packing is proven to be one."""
        return self._settled or bool(self._control[PROFIT] >= self._control[TARGET])

    def run(self, watch: Watch, work: float = np.inf) -> bool:
        """Search until the best packing is proven, and return True, or for ``work`` states more."""
        items, control = self._items, self._control
        until = control[VISITED] + work
        while control[VISITED] < until and not watch(int(control[PROFIT]), int(control[TARGET])):
            if self._handover is not None and self._handover.search is not None:
                self._go_on_there(self._handover, watch, until - control[VISITED])
                if self._handover.search is not None:
                    return False  # told to stop
            best = int(control[PROFIT])
            reason = advance(
                items,
                items.capacity,
                items.break_item,
                self._opposite,
                self._one,
                self._other,
                self._history.stages.treated,
                control,
                int(min(WORK, until - control[VISITED])),
            )
            if control[PROFIT] > best:
                self._flags = self._packing()
            if control[PROFIT] >= control[TARGET] or (
                reason == EMPTY and not self._waiting.resume(self._restore)
            ):
                self._settled = True
                return True
            if reason == CHECKPOINT:
                self._checkpoint()
            elif reason == FULL and not self._hand_over():
                self._make_room()
        return False

    def result(self) -> CoreResult:
        """Return the best packing so far and what is proven of it."""
        profit = int(self._control[PROFIT])
        bound = profit if self.is_settled else max(profit, self._bound())
        return CoreResult(self._flags, profit, bound, int(self._control[VISITED]))

    def end(self) -> None:
        """Leave the arrays to the next search; this one cannot go on."""
        spare_lists(self._one, self._other)

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Return flags of the items of the best state, from its history and its ancestors'."""
        flags = np.arange(self._items.num_items) < self._items.break_item
        changed = self._history.chosen(int(self._control[HISTORY]), int(self._control[ANCESTOR]))
        flags[changed] = ~flags[changed]
        return flags

    def _hand_over(self) -> bool:
        """Let the list go on on a GPU, if it is long; it stays here as well."""
        control, count = self._control, int(self._control[COUNT])
        if self._handover is None or not self._handover.takes(count):
            return False
        self._checkpoint()
        given = Given(
            self._one.profit[:count],
            self._one.weight[:count],
            int(control[LEFT]),
            int(control[RIGHT]),
            int(control[PROFIT]),
            int(control[TARGET]),
        )
        items = self._items
        opposite_bounds(items, items.capacity, items.break_item, self._opposite)
        return self._handover.begin(items, self._opposite, given)

    def _go_on_there(self, handover: Handover, watch: Watch, work: float) -> None:
        """Search where the list has gone; when it is done, nothing of it is left here."""
        search, control = handover.search, self._control
        assert search is not None
        search.told(int(control[PROFIT]), int(control[TARGET]))
        visited, best = search.visited, search.profit
        done = handover.run(watch, work)
        control[VISITED] += search.visited - visited
        self._visited_there += search.visited - visited
        if search.profit > best and search.found is not None:
            state, changed = search.found
            control[[PROFIT, HISTORY, ANCESTOR]] = search.profit, 0, state
            self._flags = self._packing()
            self._flags[changed] = ~self._flags[changed]
        if done:
            control[COUNT] = 0
            handover.end()

    def _checkpoint(self) -> None:
        """Begin new words for the list."""
        self._history.close(self._one, int(self._control[COUNT]))
        self._control[STAGE] = 0

    def _make_room(self) -> None:
        """Take more memory for the list, or put the less promising half of it aside."""
        count, room = int(self._control[COUNT]), self._one.profit.size
        if room < self._most:
            lists, larger = (self._one, self._other), min(2 * room, self._most)
            self._one, self._other = larger_lists(lists, count, larger)
            return
        prices, aside = self._prices(), empty_states(count)
        capacity = self._items.capacity
        sample = relaxed_bounds(self._one, count, max(1, count // SAMPLE), capacity, *prices)
        threshold = float(np.median(sample))
        left, bound = put_aside(self._one, count, capacity, *prices, threshold, count, aside)
        if left == count:
            half = count // 2
            left, bound = put_aside(self._one, count, capacity, *prices, -np.inf, half, aside)
        states = first_states(aside, count - left)
        self._waiting.add(Part(states, self._control[PLACE], self._history.copy(), bound))
        self._control[COUNT] = left

    def _restore(self, part: Part[ItemStages]) -> int:
        """Make a part that waited the list; return how many of its states may still be of use."""
        count = part.states.profit.size
        copy_states(part.states, count, self._one)
        self._control[PLACE], self._history = part.place, part.history
        self._control[COUNT] = keep_promising(
            self._one, count, self._items.capacity, int(self._control[PROFIT]), *self._sides()
        )
        return int(self._control[COUNT])

    def _sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return profit and weight of the next item on the right and on the left."""
        items, (left, right) = self._items, self._control[[LEFT, RIGHT]]
        comes, goes = (0, 1), (1, 0)
        if right < items.num_items:
            comes = int(items.profit[right]), int(items.weight[right])
        if left >= 0:
            goes = int(items.profit[left]), int(items.weight[left])
        return comes, goes

    def _prices(self) -> tuple[float, float]:
        """Return what a unit of capacity is worth to states below it and costs those beyond it."""
        comes, goes = self._sides()
        return comes[0] / comes[1], goes[0] / goes[1] if goes[1] else np.inf

    def _bound(self) -> int:
        """Return a bound on what the states left can become, rounded up where rounding errs."""
        count = int(self._control[COUNT])
        capacity, prices = self._items.capacity, self._prices()
        now = relaxed_bounds(self._one, count, 1, capacity, *prices).max(initial=-np.inf)
        if self._handover is not None and self._handover.search is not None:
            now = self._handover.bound()
        largest = self._waiting.bound(float(now))
        if not np.isfinite(largest):
            return int(self._control[PROFIT])
        return min(int(largest * (1.0 + 1e-14)) + 1, int(self._control[TARGET]))


def flags_to_copies(items: Ordered, flags: npt.NDArray[np.bool_], num_items: int) -> IntArray:
    """Return (num_items,) copies packed, from flags of 0/1 items."""
    x = np.zeros(num_items, dtype=np.int64)
    np.add.at(x, items.origin[flags], items.times[flags])
    return x


def copies_to_flags(items: Ordered, x: IntArray) -> npt.NDArray[np.bool_]:
    """Return flags of 0/1 items that stand for one copy each, from copies packed."""
    order = np.argsort(items.origin, kind="stable")
    origin = items.origin[order]
    first = np.searchsorted(origin, origin)
    flags = np.empty(items.num_items, dtype=np.bool_)
    flags[order] = np.arange(origin.size) - first < x[origin]
    return flags
