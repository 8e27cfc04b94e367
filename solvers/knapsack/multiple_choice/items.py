"""A multiple-choice knapsack problem in whole numbers, and a selection that answers it.

maximise    sum of the profits of the items chosen
subject to  sum of their weights <= capacity,   exactly one item chosen of each class

A class of which nothing needs to be chosen has an item of weight and profit 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.errors import ProblemError
from solvers.knapsack.items import LARGEST, IntArray


@dataclass(frozen=True, eq=False)
class MultipleChoice:
    """Classes of items, of each of which one is to be chosen.

    Raises
    ------
    ProblemError
        Arrays that do not fit together, a class without items, or sums that leave 2^62 behind.
    """

    profit: IntArray
    weight: IntArray
    """(n,) int64 each: of each item, class by class; both may be zero or negative."""
    first: IntArray
    """(m + 1,) int64: the items of class i are ``first[i]`` to ``first[i + 1]``; no class is
    empty."""
    capacity: int

    def __post_init__(self) -> None:
        for name in ("profit", "weight", "first"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, values)
        object.__setattr__(self, "capacity", int(self.capacity))
        if self.profit.ndim != 1 or self.profit.shape != self.weight.shape:
            raise ProblemError(
                f"The items have {self.profit.shape} profits and {self.weight.shape} weights; give "
                "one of each for every item."
            )
        self._check_classes()
        for name in ("profit", "weight"):
            self._check_sum(name)
        if abs(self.capacity) >= LARGEST:
            raise ProblemError(
                f"The knapsack's capacity {self.capacity} is not below 2^62; scale weights down."
            )

    @property
    def num_items(self) -> int:
        """Number of items of all classes."""
        return int(self.profit.size)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.first.size) - 1

    def value_of(self, chosen: IntArray) -> tuple[int, int]:
        """Return profit and weight of a selection, (m,) items; sums cannot overflow."""
        return int(self.profit[chosen].sum()), int(self.weight[chosen].sum())

    def _check_classes(self) -> None:
        ends = self.first[[0, -1]].tolist() if self.first.ndim == 1 and self.first.size else None
        if ends != [0, self.num_items]:
            raise ProblemError(
                f"The classes' items go from 0 to {self.num_items}, but 'first' has {ends} at its "
                "ends."
            )
        empty = np.flatnonzero(np.diff(self.first) < 1)
        if empty.size:
            raise ProblemError(
                f"Class {empty[0]} has no items, and one of each class is to be chosen; leave the "
                "class out or give it an item of weight and profit 0."
            )

    def _check_sum(self, name: str) -> None:
        """Refuse classes whose numbers, or differences of them, could add up to 2^62."""
        if not self.num_items:
            return
        values = getattr(self, name)
        lowest = np.minimum.reduceat(values, self.first[:-1])
        highest = np.maximum.reduceat(values, self.first[:-1])
        low, high = lowest.astype(np.float64), highest.astype(np.float64)
        if np.maximum(np.maximum(-low, high), high - low).sum() < LARGEST / 2:
            return
        pairs = zip(lowest.tolist(), highest.tolist(), strict=True)
        if sum(max(-low, high, high - low) for low, high in pairs) >= LARGEST:
            item = int(np.argmax(np.abs(values.astype(np.float64))))
            raise ProblemError(
                f"The largest {name}s of the classes do not add up to less than 2^62 (item {item} "
                f"alone has {values[item]}); scale them down."
            )
