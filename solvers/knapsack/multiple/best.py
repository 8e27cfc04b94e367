"""The best packing of a problem so far, and the bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solvers.core.progress import Progress
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import NOWHERE, MultipleKnapsack

Tell = Callable[[int, int], None]
Int8Array = npt.NDArray[np.int8]


class Best:
    """The best packing of a problem so far, and the bound.

    ``stop`` (1,) int8 is for compiled code, which sees there whether it is to end.
    """

    def __init__(self, problem: MultipleKnapsack, progress: Progress, tell: Tell) -> None:
        self.problem = problem
        self.place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        self.profit = 0
        self.bound = int(problem.profit.sum())
        self.path = "bound of all profits"
        self.nodes = 0
        self.progress = progress
        self.stop: Int8Array = np.zeros(1, dtype=np.int8)
        self._tell = tell

    def improve(self, place: IntArray) -> int:
        """Keep a packing if it is better than the best; return the best's profit."""
        profit = self.problem.profit_of(place)
        if profit > self.profit:
            self.place, self.profit = place.copy(), profit
            self._tell(self.profit, self.bound)
        return self.profit

    def lower(self, bound: int, path: str) -> None:
        """Keep a bound if it is lower."""
        if bound < self.bound:
            self.bound, self.path = max(bound, self.profit), path
            self._tell(self.profit, self.bound)

    def ring(self) -> None:
        """End what compiled code is doing, from another thread; nothing goes on after that."""
        self.stop[0] = 1

    @property
    def over(self) -> bool:
        """Whether the best packing is proven to be one, or time is up."""
        if self.profit >= self.bound or self.stop[0] != 0:
            return True
        return self.progress.should_stop() is not None
