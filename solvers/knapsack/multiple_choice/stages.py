"""Classes that enter the core one by one, and what each of them makes of a list.

A class enters by shifting the list to each of its items, dropping what cannot beat the best profit
any more, and merging the shifted lists in pairs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.control import HISTORY_BITS
from solvers.knapsack.multiple_choice.core_order import Core


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
