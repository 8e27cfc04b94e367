"""A knapsack problem in whole numbers, and a packing of it.

maximise    profit'x
subject to  weight'x <= capacity,   0 <= x_j <= copies_j,   x_j whole
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError

IntArray: TypeAlias = npt.NDArray[np.int64]

LARGEST = 2**62
"""Sums of profits and of weights stay below this, so that two of them can be added in 64 bits."""


@dataclass(frozen=True, eq=False)
class Knapsack:
    """A bounded knapsack problem, which is a 0/1 knapsack problem where all copies are one.

    Parameters
    ----------
    profit, weight : (n,) int64 arrays
        Of one copy of each item; both may be zero or negative.
    copies : (n,) int64 array
        How often each item is there, at least zero.
    capacity : int

    Raises
    ------
    ProblemError
        Arrays of different lengths, negative copies, or sums that leave 2^62 behind, with the item.
    """

    profit: IntArray
    weight: IntArray
    copies: IntArray
    capacity: int

    def __post_init__(self) -> None:
        for name in ("profit", "weight", "copies"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            if values.shape != (np.size(self.profit),):
                raise ProblemError(
                    f"The knapsack's '{name}' has shape {values.shape}; it must be "
                    f"({np.size(self.profit)},), one value for each item."
                )
            object.__setattr__(self, name, values)
        object.__setattr__(self, "capacity", int(self.capacity))
        if (self.copies < 0).any():
            item = int(np.argmin(self.copies))
            raise ProblemError(
                f"Item {item} of the knapsack has {self.copies[item]} copies; give at least 0."
            )
        for name in ("profit", "weight"):
            self._check_sum(name)
        if abs(self.capacity) >= LARGEST:
            raise ProblemError(
                f"The knapsack's capacity {self.capacity} is not below 2^62; scale weights down."
            )

    @staticmethod
    def binary(profit: npt.ArrayLike, weight: npt.ArrayLike, capacity: int) -> Knapsack:
        """Return a 0/1 knapsack problem: one copy of each item."""
        values = np.asarray(profit, dtype=np.int64)
        return Knapsack(
            values,
            np.asarray(weight, dtype=np.int64),
            np.ones(values.size, dtype=np.int64),
            capacity,
        )

    @property
    def num_items(self) -> int:
        """Number of different items."""
        return int(self.profit.size)

    def value_of(self, x: IntArray) -> tuple[int, int]:
        """Return profit and weight of a packing, computed without rounding or overflow."""
        return _exact_dot(self.profit, x), _exact_dot(self.weight, x)

    def _check_sum(self, name: str) -> None:
        values = getattr(self, name)
        # in double precision first: only what comes near the limit is added up in whole numbers
        if (np.abs(values.astype(np.float64)) * self.copies).sum() < LARGEST / 2:
            return
        if sum(abs(int(v)) * int(c) for v, c in zip(values, self.copies, strict=True)) >= LARGEST:
            item = int(np.argmax(np.abs(values.astype(np.float64)) * self.copies))
            raise ProblemError(
                f"The sum of the knapsack's {name}s is not below 2^62 (item {item} alone has "
                f"{self.copies[item]} copies of {values[item]}); scale them down."
            )


@dataclass(frozen=True, eq=False)
class Packing:
    """An answer: what is packed, what that is worth, and what is proven.

    Parameters
    ----------
    x : (n,) int64 array, optional
        Copies packed of each item; None where no packing is feasible.
    profit, bound : int
        Of ``x``, and a proven upper bound on every packing's profit.
    path : str
        Which methods found and proved it.
    states : int
        Undominated states visited.
    """

    x: IntArray | None
    profit: int
    bound: int
    path: str
    states: int = 0

    @property
    def is_optimal(self) -> bool:
        """Whether the packing is proven to be best."""
        return self.x is not None and self.profit == self.bound


def _exact_dot(values: IntArray, x: IntArray) -> int:
    """Return values'x; numpy's own product wraps round silently, the check of sums forbids that."""
    return int((values * x).sum())
