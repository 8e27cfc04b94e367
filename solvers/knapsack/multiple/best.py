"""The best packing of a problem so far, and the bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import NOWHERE, MultipleKnapsack
from solvers.progress import Progress

Tell = Callable[[int, int], None]


class Best:
    """The best packing of a problem so far, and the bound."""

    def __init__(self, problem: MultipleKnapsack, progress: Progress, tell: Tell) -> None:
        self.problem = problem
        self.place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        self.profit = 0
        self.bound = int(problem.profit.sum())
        self.path = "bound of all profits"
        self.nodes = 0
        self.progress = progress
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

    @property
    def over(self) -> bool:
        """Whether the best packing is proven to be one, or time is up."""
        return self.profit >= self.bound or self.progress.should_stop() is not None
