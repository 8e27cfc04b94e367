"""A multidimensional 0/1 knapsack problem in whole numbers, and the same one with less in it.

maximise    profit'x
subject to  weight x <= capacity,   x_j in {0, 1}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray, OtherProfits

BoolArray = npt.NDArray[np.bool_]

EXACT = 2**50
"""Sums of profits and of the weights of a row stay below this, so that doubles hold them exactly
and an error of rounding stays below one."""


@dataclass(frozen=True, eq=False)
class MultidimensionalKnapsack:
    """A knapsack problem with several capacities.

    Raises
    ------
    ProblemError
        Arrays that do not fit together, a negative weight, or sums of 2^50 and more.
    """

    profit: IntArray
    """(n,) int64."""
    weight: IntArray
    """(m, n) int64: non-negative."""
    capacity: IntArray
    """(m,) int64."""

    def __post_init__(self) -> None:
        for name in ("profit", "weight", "capacity"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, values)
        shape = (self.capacity.size, self.profit.size)
        if self.weight.shape != shape:
            raise ProblemError(
                f"The knapsack's 'weight' has shape {self.weight.shape}; it must be {shape}, one "
                "row for each capacity and one column for each profit."
            )
        if (self.weight < 0).any():
            row, item = np.argwhere(self.weight < 0)[0]
            raise ProblemError(
                f"Item {item} has weight {self.weight[row, item]} in row {row}; weights of several "
                "rows must not be negative."
            )
        sums = np.abs(self.weight.astype(np.float64)).sum(axis=1, initial=0.0)
        sums = np.append(np.append(sums, np.abs(self.capacity.astype(np.float64))), 0.0)
        if max(sums.max(), np.abs(self.profit.astype(np.float64)).sum()) >= EXACT:
            raise ProblemError(
                "Sums of the knapsack's profits or weights are not below 2^50; scale them down."
            )

    @property
    def num_items(self) -> int:
        """Number of items."""
        return int(self.profit.size)

    @property
    def num_rows(self) -> int:
        """Number of capacities."""
        return int(self.capacity.size)

    def fits(self, x: BoolArray) -> bool:
        """Whether the items marked keep all capacities."""
        return bool((self.weight[:, x].sum(axis=1) <= self.capacity).all())


@dataclass(frozen=True, eq=False)
class RelaxedKnapsack:
    """A problem with the solution of its linear relaxation."""

    problem: MultidimensionalKnapsack
    dual: FloatArray
    """(m,) float64: per unit of capacity."""
    reduced: FloatArray
    """(n,) float64: reduced costs."""
    bound: float
    """No packing is worth more."""


@dataclass(frozen=True, eq=False)
class Reduced(OtherProfits):
    """A problem without what is decided beforehand, and the way back."""

    problem: MultidimensionalKnapsack
    """Every profit is positive, every item fits by itself, every row can be violated."""
    kept: IntArray
    """(k,) int64: the given items that are left."""
    packed: BoolArray
    """(n,) bool: given items that are packed in any case."""

    def packing_back(self, x: BoolArray) -> BoolArray:
        """Return the (n,) flags of given items for a packing of what is left."""
        flags = self.packed.copy()
        flags[self.kept] |= x
        return flags


def reduce_problem(given: MultidimensionalKnapsack) -> Reduced | None:
    """Leave out what is decided, and divide by common divisors; None if nothing is feasible."""
    if (given.capacity < 0).any():
        return None
    fits = (given.weight <= given.capacity[:, None]).all(axis=0)
    worth = fits & (given.profit > 0)
    # a row that all of them keep together says nothing, and items in no other row are free
    binding = given.weight[:, worth].sum(axis=1) > given.capacity
    free = worth & ~given.weight[binding].any(axis=0)
    kept = np.flatnonzero(worth & ~free).astype(np.int64)
    weight, capacity = given.weight[np.ix_(binding, kept)], given.capacity[binding]
    if kept.size and capacity.size:
        unit = np.gcd.reduce(weight, axis=1)
        weight, capacity = weight // unit[:, None], capacity // unit
    profit = given.profit[kept]
    profit_unit = int(np.gcd.reduce(profit)) if kept.size else 1
    problem = MultidimensionalKnapsack(profit // profit_unit, weight, capacity)
    base = int(given.profit[free].sum())
    return Reduced(problem, kept, free, profit_unit=profit_unit, base=base)
