"""Dynamic programming from the heaviest item to the lightest, for items of many magnitudes.

Where weights come in clusters far apart, the linear relaxation packs a part of a heavy item into
what only light ones can fill, and a search from the break item outwards learns that late. From the
heaviest item downwards, lists stay as short as there are ways to fill the knapsack but for what is
still to come, and equal sums of heavy items meet early (Horowitz and Sahni's order of large items
first; hard instances of this kind are those of Jooken, Leyman and De Causmaecker, "A new class of
hard problem instances for the 0-1 knapsack problem", 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp import states as at
from solvers.knapsack.dp.core import Watch
from solvers.knapsack.dp.states import (
    FIRST_ROOM,
    MOST_ITEMS,
    WORK,
    Found,
    History,
    ItemStages,
    Part,
    WaitingList,
    copy_states,
    empty_lists,
    empty_states,
    item_stages,
    larger_lists,
    spare_lists,
)
from solvers.knapsack.efficiency import Ordered, sums_before
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_heavy_first import advance

SUFFIX, PLACES = 9, 10
"""Places in the control array behind those of ``states``: of the best packing, the row of suffixes
and how many of that row's items follow its state."""

NEXT, NEXT_SHIFTED, LENGTH, HIGHEST, ROW, PLACE = range(11, 17)
"""Places behind these, of a stage that goes on later: the next states of the list and of its
shifted copy, how many are kept and the highest profit of them, the row of suffixes in use, and the
number of its items that fit."""

CONTROL = 17
"""Length of the control array."""

FULL, PAUSED = -1, -2
"""Instead of a length: there is no room for more states, or as many were looked at as allowed."""

EVEN_SUFFIXES = 24
"""Suffixes of the items, evenly spread, besides those that begin where weights drop."""

DROP = 0.8
"""A weight below this part of the one before it begins a suffix."""

MOST_SUFFIXES = 64
"""Suffixes of items altogether."""

WAITING = 4
"""Longest lists, in whose states those of parts that wait are counted, that memory is spent on."""

SUFFIX_ITEMS_PER_STATE = 4
"""Items of a suffix that are set in the time of a state."""


class Suffixes(NamedTuple):
    """For each row, items from one place on, by falling efficiency; row 0 is the next stage's."""

    start: IntArray
    size: IntArray
    """(k,) int64 each: first place in the order of falling weight, and number of items."""
    above: IntArray
    """(k,) int64: the lightest weight before ``start``."""
    profit_before: IntArray
    weight_before: IntArray
    """(k, n + 1) int64 each: sums over the first items of each row."""
    ratio: npt.NDArray[np.float64]
    """(k, n + 1) float64: efficiency of each row's items, and 0 behind them."""


def suffixes(profit: IntArray, weight: IntArray, efficient: IntArray, starts: IntArray) -> Suffixes:
    """Return suffixes from places in the order of falling weight, with row 0 still to be set.

    ``efficient`` are the same items' places by falling efficiency.
    """
    rows, n = starts.size + 1, profit.size
    made = Suffixes(
        np.concatenate([[0], starts]),
        np.zeros(rows, dtype=np.int64),
        np.concatenate([[0], weight[np.maximum(starts - 1, 0)]]),
        np.zeros((rows, n + 1), dtype=np.int64),
        np.zeros((rows, n + 1), dtype=np.int64),
        np.zeros((rows, n + 1), dtype=np.float64),
    )
    for row in range(1, rows):
        set_suffix(made, row, int(starts[row - 1]), profit, weight, efficient)
    return made


def set_suffix(
    made: Suffixes, row: int, start: int, profit: IntArray, weight: IntArray, efficient: IntArray
) -> None:
    """Make a row that of the items from ``start`` on."""
    places = efficient[efficient >= start]
    size = places.size
    made.start[row], made.size[row] = start, size
    made.profit_before[row, : size + 1] = sums_before(profit[places])
    made.weight_before[row, : size + 1] = sums_before(weight[places])
    made.ratio[row, :size] = profit[places] / weight[places]
    made.ratio[row, size] = 0.0


def begin_stage(known: Suffixes, control: IntArray) -> None:
    """Make the next call of ``advance`` begin at the first states."""
    control[[NEXT, NEXT_SHIFTED, LENGTH, HIGHEST, ROW]] = 0, 0, 0, -1, 0
    control[PLACE] = known.size[0]


class _Search:
    """The state of a search: the list, its history, and the best packing."""

    def __init__(self, items: Ordered, profit: int, most: int) -> None:
        order = np.argsort(-items.weight, kind="stable")
        self.order = order
        self.profit, self.weight = items.profit[order], items.weight[order]
        self.capacity = items.capacity
        self.efficient = np.empty(order.size, dtype=np.int64)
        self.efficient[order] = np.arange(order.size)  # places by falling weight, best item first
        self.known = suffixes(self.profit, self.weight, self.efficient, _starts(self.weight))
        self.control = np.zeros(CONTROL, dtype=np.int64)
        self.control[at.PROFIT] = profit
        room = min(FIRST_ROOM, most)
        self.one, self.other = empty_lists(room)
        for values in self.one:
            values[0] = 0
        self.count = 1
        self.history = History(item_stages())
        self.flags: npt.NDArray[np.bool_] | None = None
        self.place = 0
        self.is_cut = False
        self.waiting: WaitingList[ItemStages] = WaitingList()

    def stage(self, most: int, stop: Callable[[], bool]) -> int:
        """Treat the next item; return FULL where its list has more states than allowed.

        PAUSED says that it was stopped.
        """
        place = self.place
        bit = place % at.STAGES
        if place and bit == 0 and not self.is_cut:
            self.history.close(self.one, self.count)
        if self.one.profit.size < min(2 * self.count, most):
            room = min(4 * self.count, most)
            self.one, self.other = larger_lists((self.one, self.other), self.count, room)
        set_suffix(self.known, 0, place + 1, self.profit, self.weight, self.efficient)
        self.history.stages.treated[bit] = place
        begin_stage(self.known, self.control)
        length = self._part_of_stage()
        while length == PAUSED and not stop():
            length = self._part_of_stage()
        if length < 0:
            return length
        self.one, self.other, self.count = self.other, self.one, length
        self.place += 1
        self.is_cut = False
        return length

    def _part_of_stage(self) -> int:
        """Go on with a stage for a while."""
        place, best = self.place, self.control[at.PROFIT]
        length = advance(
            self.one,
            self.count,
            self.other,
            int(self.profit[place]),
            int(self.weight[place]),
            1 << place % at.STAGES,
            self.capacity,
            self.known,
            self.control,
            WORK,
        )
        if self.control[at.PROFIT] > best:
            self.flags = self._packing()
        return length

    def cut(self) -> None:
        """Put the lighter half of the list aside, which is to be treated later."""
        half = self.count // 2
        aside = empty_states(half)
        copy_states(self.one, half, aside)
        self.waiting.add(Part(aside, np.array([self.place]), self.history.copy()))
        for values in self.one:
            values[: self.count - half] = values[half : self.count].copy()
        self.count -= half
        self.is_cut = True  # a history that was full is a new one by now

    def next_part(self) -> bool:
        """Go on with a part put aside; False when there is none left."""
        return self.waiting.resume(self._restore)

    def _restore(self, part: Part[ItemStages]) -> int:
        """Make a part that waited the list; return how many states it has."""
        self.count = int(part.states.profit.size)
        copy_states(part.states, self.count, self.one)
        self.place, self.history = int(part.place[0]), part.history
        self.is_cut = True
        return self.count

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Return flags of the best state's items, and of those that fill it up."""
        packed = np.zeros(self.order.size, dtype=np.bool_)  # by falling weight
        packed[
            self.history.chosen(int(self.control[at.HISTORY]), int(self.control[at.ANCESTOR]))
        ] = True
        start = self.known.start[self.control[SUFFIX]]
        later = self.efficient[self.efficient >= start]
        packed[later[: self.control[PLACES]]] = True
        flags = np.zeros_like(packed)
        flags[self.order] = packed
        return flags


def search_heavy_first(
    items: Ordered, profit: int, bound: int, most_states: int, work: int, watch: Watch
) -> Found:
    """Look for a packing better than ``profit``, and end where one is worth ``bound``.

    Parameters
    ----------
    items : Ordered
    profit, bound : int
    most_states, work : int
        States of a list, beyond which it is cut, and of all lists, after which the search is given
        up.
    watch : callable
        Told the best profit and the bound at every stage; returns whether to stop.
    """
    if items.num_items > MOST_ITEMS or watch(profit, bound):
        return Found(None, profit, bound, 0)
    search = _Search(items, profit, most_states)
    control = search.control
    stages = 0
    settled = False
    while control[at.PROFIT] < bound:
        if search.count == 0 or search.place == items.num_items:
            settled = not search.next_part()
            if settled:
                break
        stages += 1
        spent = control[at.VISITED] + stages * items.num_items // SUFFIX_ITEMS_PER_STATE
        if spent > work or watch(int(control[at.PROFIT]), bound):
            break
        ending = search.stage(most_states, lambda: watch(int(control[at.PROFIT]), bound))
        if ending == PAUSED:
            break
        if ending == FULL:
            if search.count < 2 or search.waiting.num_states > WAITING * most_states:
                break
            search.cut()
    spare_lists(search.one, search.other)
    best = int(control[at.PROFIT])
    return Found(search.flags, best, best if settled else bound, int(control[at.VISITED]))


def _starts(weight: IntArray) -> IntArray:
    """Return places where suffixes begin: where weights drop most, and evenly spread ones."""
    n = weight.size
    fall = weight[1:] / weight[:-1]
    drops = np.flatnonzero(fall < DROP) + 1
    room = max(MOST_SUFFIXES - EVEN_SUFFIXES, 1)
    drops = drops[np.argsort(fall[drops - 1], kind="stable")[:room]]
    even = np.linspace(0, n, EVEN_SUFFIXES + 1)[1:].astype(np.int64)
    starts: IntArray = np.unique(np.concatenate([drops, even]))
    return starts
