"""Classes that enter the core one by one, and the array that controls the search.

A class enters by shifting the list to each of its items, dropping what cannot beat the best profit
any more, and merging the shifted lists in pairs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.core_order import Core

HISTORY_BITS = 64
"""Bits of a state's history, which is also the number of stages it holds at most."""

COUNT, PLACE, STAGE, SHIFT, ITEMS = range(5)
"""Places in the array that controls a search: states in the list; classes in the core; stages in
this history, the bits they take and the items they chose from."""

PROFIT, HISTORY, ANCESTOR, BEST_STAGE, BEST_ITEM = range(5, 10)
"""The best profit; history and ancestor of the state that has it, with how many stages were over
then, and the item of the stage after them."""

VISITED, TARGET, RESIDUE, MODULUS, SWAPPED, KEPT = range(10, 16)
"""States visited so far; the profit that no selection exceeds; the numbers that bound a profit;
whether the list is in the second pair of arrays; and the items that the last class had left."""

STOP = 16
"""Place of what another thread sets to end ``advance`` before a class is in."""

CONTROLS = 17

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why ``advance`` returns: the list is empty, there is no room for the next class, the history
is full, or the work it was given is done or to stop."""

NO_ROOM, STOPPED = -1, -2
"""What ``expand`` returns for a length where the list has not changed, and why."""


class Stages(NamedTuple):
    """The stages of this history: stage s chose among ``item[begin[s]:begin[s + 1]]``.

    The number of the one chosen is in the history from bit ``shift[s]`` to ``shift[s + 1]``.
    ``run`` is where the shifted lists of a class begin.
    """

    begin: IntArray
    shift: IntArray
    item: IntArray
    run: IntArray

    def chosen(self, word: int, num_stages: int) -> IntArray:
        """Return the items that a word stands for."""
        numbers = [
            (word >> low) & ((1 << (high - low)) - 1)
            for low, high in pairwise(self.shift[: num_stages + 1].tolist())
        ]
        items: IntArray = self.item[self.begin[:num_stages] + np.array(numbers, dtype=np.int64)]
        return items

    def copy(self) -> Stages:
        """Return the same stages in arrays of their own."""
        return Stages(*(values.copy() for values in self))

    def fresh(self) -> Stages:
        """Return arrays for the stages of the next words."""
        return Stages(*(np.zeros_like(values) for values in self))


def empty_stages(core: Core) -> Stages:
    """Return arrays for the stages of one history."""
    largest = int(np.diff(core.first).max(initial=1))
    return Stages(
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(max(min(HISTORY_BITS * largest, core.profit.size), 1), dtype=np.int64),
        np.zeros(largest + 1, dtype=np.int64),
    )
