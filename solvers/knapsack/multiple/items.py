"""A multiple knapsack problem in whole numbers, and a packing of it.

maximise    sum_ij profit_i x_ij
subject to  sum_i weight_i x_ij <= capacity_j,   sum_j x_ij <= 1,   x_ij in {0, 1}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError
from solvers.knapsack.items import LARGEST, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]

NOWHERE = -1
"""Stands for the knapsack of an item that is left out."""


@dataclass(frozen=True, eq=False)
class MultipleKnapsack:
    """Items that each go into one of several knapsacks, or into none.

    Parameters
    ----------
    profit, weight : (n,) int64 arrays
        Profits may be zero or negative, weights may be zero.
    capacity : (m,) int64 array
        A negative one makes the problem infeasible.

    Raises
    ------
    ProblemError
        Arrays that do not fit together, a negative weight, or sums of 2^62 and more.
    """

    profit: IntArray
    weight: IntArray
    capacity: IntArray

    def __post_init__(self) -> None:
        for name in ("profit", "weight", "capacity"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            if values.ndim != 1 or (name == "weight" and values.shape != self.profit.shape):
                raise ProblemError(
                    f"The knapsacks' '{name}' has shape {values.shape}; it must be one value for "
                    f"each {'knapsack' if name == 'capacity' else 'item'}."
                )
            object.__setattr__(self, name, values)
            # added up in double precision first: hardly anything comes near the limit
            if np.abs(values.astype(np.float64)).sum() >= LARGEST / 2 and (
                sum(map(abs, values.tolist())) >= LARGEST
            ):
                raise ProblemError(
                    f"The sum of the knapsacks' '{name}' is not below 2^62; scale it down."
                )
        if (self.weight < 0).any():
            item = int(np.argmin(self.weight))
            raise ProblemError(
                f"Item {item} has weight {self.weight[item]}; weights of several knapsacks must "
                "not be negative."
            )

    @property
    def num_items(self) -> int:
        """Number of items."""
        return int(self.profit.size)

    @property
    def num_knapsacks(self) -> int:
        """Number of knapsacks."""
        return int(self.capacity.size)

    def profit_of(self, place: IntArray) -> int:
        """Return the profit of a packing, (n,) knapsacks or ``NOWHERE``."""
        return int(self.profit[place >= 0].sum())

    def fits(self, place: IntArray) -> bool:
        """Whether a packing keeps every capacity."""
        load = np.zeros(self.num_knapsacks, dtype=np.int64)
        packed = place >= 0
        np.add.at(load, place[packed], self.weight[packed])
        return bool((load <= self.capacity).all())


@dataclass(frozen=True, eq=False)
class MultiplePacking:
    """An answer: where the items are, what that is worth, and what is proven.

    Parameters
    ----------
    place : (n,) int64 array, optional
        Knapsack of each item or ``NOWHERE``; None where some capacity is negative.
    profit, bound : int
        Of ``place``, and a proven upper bound on every packing's profit.
    path : str
        Which methods found and proved it.
    nodes : int
        Of the searches.
    """

    place: IntArray | None
    profit: int
    bound: int
    path: str
    nodes: int = 0

    @property
    def is_optimal(self) -> bool:
        """Whether the packing is proven to be best."""
        return self.place is not None and self.profit == self.bound
