"""Dynamic programming from the break solution outwards, with memory that is a setting.

Items are treated alternately to the right of the break item, where packing them is decided, and to
the left, where taking them out is (Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
1997). Bounds prune every list, and most problems end after few items: the core.

Where a list outgrows its room it is cut in two by the states' bounds. The better part goes on at
once, the other waits, and shrinks or goes when its turn comes, because the best profit has risen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp import states as at
from solvers.knapsack.dp.gpu_lists.list_search import Given, Handover
from solvers.knapsack.dp.states import (
    FIRST_ROOM,
    WORK,
    Found,
    History,
    Item,
    ItemStages,
    Part,
    WaitingList,
    copy_states,
    cut,
    empty_lists,
    first_states,
    item_stages,
    larger_lists,
    next_items,
    spare_lists,
    state_bounds,
)
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_states import advance, keep_promising
from solvers.native.knapsack_efficiency import opposite_bounds

STATES_ON_GPU = 100
"""States that a GPU visits in the time of one here, or more (``benchmarks.knapsack_lists``)."""


PLACE = [at.LEFT, at.RIGHT, at.STAGE]
"""What a part that waits has of its own in the array that controls the search."""

Watch: TypeAlias = Callable[[int, int], bool]
"""Told the best profit and the bound now and then; returns whether to stop."""


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
        self._control[[at.COUNT, at.LEFT, at.RIGHT]] = 1, b - 1, b
        self._control[[at.PROFIT, at.TARGET]] = profit, bound
        self._one.profit[0], self._one.weight[0] = items.profit_before[b], items.weight_before[b]
        self._one.history[0], self._one.ancestor[0] = 0, 0
        if items.profit_before[b] > profit:
            self._control[at.PROFIT] = items.profit_before[b]
            self._flags = np.arange(items.num_items) < b

    def improve(self, profit: int, flags: npt.NDArray[np.bool_]) -> None:
        """Take a packing found in another way, against which states are pruned from now on."""
        if profit > self._control[at.PROFIT]:
            self._control[at.PROFIT] = profit
            self._flags = flags

    @property
    def spent(self) -> float:
        """States visited, those on a GPU for as many as this core visits in their time."""
        there = self._visited_there
        return float(self._control[at.VISITED]) - there + there / STATES_ON_GPU

    def count_states(self, states: int) -> None:
        """Count states that another search for the same packing has visited."""
        self._control[at.VISITED] += states

    def lower(self, bound: int) -> None:
        """Take a bound found in another way, at which the search ends."""
        self._control[at.TARGET] = min(bound, self.target)

    @property
    def profit(self) -> int:
        """Of the best packing so far, or what it has to beat."""
        return int(self._control[at.PROFIT])

    @property
    def target(self) -> int:
        """The profit that no packing exceeds."""
        return int(self._control[at.TARGET])

    @property
    def is_settled(self) -> bool:
        """Whether the best packing is proven to be one."""
        return self._settled or bool(self._control[at.PROFIT] >= self._control[at.TARGET])

    def run(self, watch: Watch, work: float = np.inf) -> bool:
        """Search until the best packing is proven, and return True, or for ``work`` states more."""
        items, control = self._items, self._control
        until = control[at.VISITED] + work
        while control[at.VISITED] < until and not watch(
            int(control[at.PROFIT]), int(control[at.TARGET])
        ):
            if self._handover is not None and self._handover.search is not None:
                self._go_on_there(self._handover, watch, until - control[at.VISITED])
                if self._handover.search is not None:
                    return False  # told to stop
            best = int(control[at.PROFIT])
            reason = advance(
                items,
                items.capacity,
                items.break_item,
                self._opposite,
                self._one,
                self._other,
                self._history.stages.treated,
                control,
                int(min(WORK, until - control[at.VISITED])),
            )
            if control[at.PROFIT] > best:
                self._flags = self._packing()
            if control[at.PROFIT] >= control[at.TARGET] or (
                reason == at.EMPTY and not self._waiting.resume(self._restore)
            ):
                self._settled = True
                return True
            if reason == at.CHECKPOINT:
                self._checkpoint()
            elif reason == at.FULL and not self._hand_over():
                self._make_room()
        return False

    def result(self) -> Found:
        """Return the best packing so far and what is proven of it."""
        profit = int(self._control[at.PROFIT])
        bound = profit if self.is_settled else max(profit, self._bound())
        return Found(self._flags, profit, bound, int(self._control[at.VISITED]))

    def end(self) -> None:
        """Leave the arrays to the next search; this one cannot go on."""
        spare_lists(self._one, self._other)

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Return flags of the items of the best state, from its history and its ancestors'."""
        flags = np.arange(self._items.num_items) < self._items.break_item
        changed = self._history.chosen(
            int(self._control[at.HISTORY]), int(self._control[at.ANCESTOR])
        )
        flags[changed] = ~flags[changed]
        return flags

    def _hand_over(self) -> bool:
        """Let the list go on on a GPU, if it is long; it stays here as well."""
        control, count = self._control, int(self._control[at.COUNT])
        if self._handover is None or not self._handover.takes(count):
            return False
        self._checkpoint()
        given = Given(
            self._one.profit[:count],
            self._one.weight[:count],
            int(control[at.LEFT]),
            int(control[at.RIGHT]),
            int(control[at.PROFIT]),
            int(control[at.TARGET]),
        )
        items = self._items
        opposite_bounds(items, items.capacity, items.break_item, self._opposite)
        return self._handover.begin(items, self._opposite, given)

    def _go_on_there(self, handover: Handover, watch: Watch, work: float) -> None:
        """Search where the list has gone; when it is done, nothing of it is left here."""
        search, control = handover.search, self._control
        assert search is not None
        search.told(int(control[at.PROFIT]), int(control[at.TARGET]))
        visited, best = search.visited, search.profit
        done = handover.run(watch, work)
        control[at.VISITED] += search.visited - visited
        self._visited_there += search.visited - visited
        if search.profit > best and search.found is not None:
            state, changed = search.found
            control[[at.PROFIT, at.HISTORY, at.ANCESTOR]] = search.profit, 0, state
            self._flags = self._packing()
            self._flags[changed] = ~self._flags[changed]
        if done:
            control[at.COUNT] = 0
            handover.end()

    def _checkpoint(self) -> None:
        """Begin new words for the list."""
        self._history.close(self._one, int(self._control[at.COUNT]))
        self._control[at.STAGE] = 0

    def _make_room(self) -> None:
        """Take more memory for the list, or put the less promising half of it aside."""
        count, room = int(self._control[at.COUNT]), self._one.profit.size
        if room < self._most:
            lists, larger = (self._one, self._other), min(2 * room, self._most)
            self._one, self._other = larger_lists(lists, count, larger)
            return
        states, bound, self._control[at.COUNT] = cut(self._one, self._bounds(), count // 2)
        self._waiting.add(Part(states, self._control[PLACE], self._history.copy(), bound))

    def _restore(self, part: Part[ItemStages]) -> int:
        """Make a part that waited the list; return how many of its states may still be of use."""
        count = part.states.profit.size
        copy_states(part.states, count, self._one)
        self._control[PLACE], self._history = part.place, part.history
        self._control[at.COUNT] = keep_promising(
            self._one, count, self._items.capacity, int(self._control[at.PROFIT]), *self._sides()
        )
        return int(self._control[at.COUNT])

    def _sides(self) -> tuple[Item, Item]:
        """Return profit and weight of the next item on the right and on the left."""
        return next_items(self._items, int(self._control[at.LEFT]), int(self._control[at.RIGHT]))

    def _bounds(self) -> npt.NDArray[np.float64]:
        """Return the bounds of the states of the list."""
        one = first_states(self._one, int(self._control[at.COUNT]))
        return state_bounds(one.profit, one.weight, self._items.capacity, *self._sides())

    def _bound(self) -> int:
        """Return a bound on what the states left can become, rounded up where rounding errs."""
        now = self._bounds().max(initial=-np.inf)
        if self._handover is not None and self._handover.search is not None:
            now = self._handover.bound()
        largest = self._waiting.bound(float(now))
        if not np.isfinite(largest):
            return int(self._control[at.PROFIT])
        return min(int(largest * (1.0 + 1e-14)) + 1, int(self._control[at.TARGET]))


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
