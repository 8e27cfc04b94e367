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
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.core import Segment, Watch
from solvers.knapsack.dp.heavy_first_stages import (
    CONTROL,
    FULL,
    PAUSED,
    PLACES,
    SUFFIX,
    begin_stage,
    set_suffix,
    suffixes,
)
from solvers.knapsack.dp.states import (
    ANCESTOR,
    HISTORY,
    PROFIT,
    STAGES,
    VISITED,
    States,
    copy_states,
    empty_states,
)
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_heavy_first_stages import descend

FIRST_ROOM = 4096
"""States for which there is room at the beginning."""

EVEN_SUFFIXES = 24
"""Suffixes of the items, evenly spread, besides those that begin where weights drop."""

DROP = 0.8
"""A weight below this part of the one before it begins a suffix."""

MOST_SUFFIXES = 64
"""Suffixes of items altogether."""

MOST_ITEMS = 20_000
"""Items beyond which the suffixes' tables would take too long to keep."""


WORK = 2_000_000
"""States between two looks at the clock: some hundredths of a second."""

WAITING = 4
"""Longest lists, in whose states those of parts that wait are counted, that memory is spent on."""

SUFFIX_ITEMS_PER_STATE = 4
"""Items of a suffix that are set in the time of a state."""


@dataclass(frozen=True, eq=False)
class Descent:
    """What was found: flags of a packing better than the one given, and whether none is better."""

    flags: npt.NDArray[np.bool_] | None
    profit: int
    is_settled: bool
    states: int


@dataclass(frozen=True, eq=False)
class Waiting:
    """A part of a list, the next item's place, and its history."""

    states: States
    place: int
    treated: npt.NDArray[np.int32]
    before: Segment | None


class _Search:
    """The state of a descent: the list, its history, and the best packing."""

    def __init__(self, items: Ordered, profit: int, most: int) -> None:
        order = np.argsort(-items.weight, kind="stable")
        self.order = order
        self.profit, self.weight = items.profit[order], items.weight[order]
        self.capacity = items.capacity
        self.efficient = np.empty(order.size, dtype=np.int64)
        self.efficient[order] = np.arange(order.size)  # places by falling weight, best item first
        self.known = suffixes(self.profit, self.weight, self.efficient, _starts(self.weight))
        self.control = np.zeros(CONTROL, dtype=np.int64)
        self.control[PROFIT] = profit
        room = min(FIRST_ROOM, most)
        self.one, self.other = empty_states(room), empty_states(room)
        for values in self.one:
            values[0] = 0
        self.count = 1
        self.treated = np.zeros(STAGES, dtype=np.int32)
        self.before: Segment | None = None
        self.flags: npt.NDArray[np.bool_] | None = None
        self.place = 0
        self.is_cut = False
        self.waiting: list[Waiting] = []

    def stage(self, most: int, stop: Callable[[], bool]) -> int:
        """Treat the next item; return FULL where its list has more states than allowed.

        PAUSED says that it was stopped.
        """
        place = self.place
        bit = place % STAGES
        if place and bit == 0 and not self.is_cut:
            self._remember()
        if self.one.profit.size < min(2 * self.count, most):
            self._grow(min(4 * self.count, most))
        set_suffix(self.known, 0, place + 1, self.profit, self.weight, self.efficient)
        self.treated[bit] = place
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
        place, best = self.place, self.control[PROFIT]
        length = descend(
            self.one,
            self.count,
            self.other,
            int(self.profit[place]),
            int(self.weight[place]),
            1 << place % STAGES,
            self.capacity,
            self.known,
            self.control,
            WORK,
        )
        if self.control[PROFIT] > best:
            self.flags = self._packing()
        return length

    def cut(self) -> None:
        """Put the lighter half of the list aside, which is to be treated later."""
        half = self.count // 2
        aside = empty_states(half)
        copy_states(self.one, half, aside)
        self.waiting.append(Waiting(aside, self.place, self.treated.copy(), self.before))
        for values in self.one:
            values[: self.count - half] = values[half : self.count].copy()
        self.count -= half
        self.is_cut = True  # a history that was full is a new one by now

    def next_part(self) -> bool:
        """Go on with a part put aside; False when there is none left."""
        if not self.waiting:
            return False
        part = self.waiting.pop()
        self.count = part.states.profit.size
        copy_states(part.states, self.count, self.one)
        self.place, self.treated, self.before = part.place, part.treated, part.before
        self.is_cut = True
        return True

    @property
    def num_waiting(self) -> int:
        """States of all parts put aside."""
        return sum(part.states.profit.size for part in self.waiting)

    def _remember(self) -> None:
        """Begin a new history: today's states are the ancestors of those to come."""
        count, one = self.count, self.one
        self.before = Segment(
            one.history[:count].copy(), one.ancestor[:count].copy(), self.treated, self.before
        )
        self.treated = np.zeros(STAGES, dtype=np.int32)
        one.history[:count] = 0
        one.ancestor[:count] = np.arange(count, dtype=np.int32)

    def _grow(self, room: int) -> None:
        larger = empty_states(room)
        copy_states(self.one, self.count, larger)
        self.one, self.other = larger, empty_states(room)

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Return flags of the best state's items, and of those that fill it up."""
        packed = np.zeros(self.order.size, dtype=np.bool_)  # by falling weight
        history, ancestor = np.int64(self.control[HISTORY]).view(np.uint64), 0
        ancestor = int(self.control[ANCESTOR])
        treated, segment = self.treated, self.before
        while True:
            bits = (np.uint64(history) >> np.arange(STAGES, dtype=np.uint64)) & np.uint64(1)
            packed[treated[bits.astype(bool)]] = True
            if segment is None:
                break
            history, treated = segment.history[ancestor], segment.treated
            ancestor, segment = int(segment.ancestor[ancestor]), segment.before
        start = self.known.start[self.control[SUFFIX]]
        later = self.efficient[self.efficient >= start]
        packed[later[: self.control[PLACES]]] = True
        flags = np.zeros_like(packed)
        flags[self.order] = packed
        return flags


def descend_from_heaviest(
    items: Ordered, profit: int, bound: int, most_states: int, work: int, watch: Watch
) -> Descent:
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
        return Descent(None, profit, False, 0)
    search = _Search(items, profit, most_states)
    control = search.control
    stages = 0
    settled = False
    while control[PROFIT] < bound:
        if search.count == 0 or search.place == items.num_items:
            settled = not search.next_part()
            if settled:
                break
        stages += 1
        spent = control[VISITED] + stages * items.num_items // SUFFIX_ITEMS_PER_STATE
        if spent > work or watch(int(control[PROFIT]), bound):
            break
        ending = search.stage(most_states, lambda: watch(int(control[PROFIT]), bound))
        if ending == PAUSED:
            break
        if ending == FULL:
            if search.count < 2 or search.num_waiting > WAITING * most_states:
                break
            search.cut()
    settled = settled or bool(control[PROFIT] >= bound)
    return Descent(search.flags, int(control[PROFIT]), settled, int(control[VISITED]))


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
