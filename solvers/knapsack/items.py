"""A knapsack problem in whole numbers, and a packing of it.

maximise    profit'x
subject to  weight'x <= capacity,   0 <= x_j <= copies_j,   x_j whole
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]
Given = TypeVar("Given")
"""A knapsack problem of one of the kinds."""

LARGEST = 2**62
"""Sums of profits and of weights stay below this, so that two of them can be added in 64 bits."""


@dataclass(frozen=True, eq=False)
class Knapsack:
    """A bounded knapsack problem, which is a 0/1 knapsack problem where all copies are one.

    Raises
    ------
    ProblemError
        Arrays of different lengths, negative copies, or sums that leave 2^62 behind, with the item.
    """

    profit: IntArray
    weight: IntArray
    """(n,) int64 each: of one copy of each item; both may be zero or negative."""
    copies: IntArray
    """(n,) int64: how often each item is there, at least zero."""
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
    """An answer of any engine: what is packed, what that is worth, and what is proven."""

    x: npt.NDArray[Any] | None
    """(n,) copies packed of each item, flags of the items packed, or the knapsack of each and -1
    for none; (m,) the item chosen of each class. None where no packing is feasible."""
    profit: int
    bound: int
    """Of ``x``, and a proven upper bound on every packing's profit."""
    path: str
    """Which methods found and proved it; without ``x`` the reason."""
    work: int = 0
    """Undominated states, or nodes of trees, visited."""

    @property
    def is_optimal(self) -> bool:
        """Whether the packing is proven to be best."""
        return self.x is not None and self.profit == self.bound


@dataclass(frozen=True, eq=False)
class Model(Generic[Given]):
    """A model that is a knapsack problem, and the way back from a packing."""

    knapsack: Given
    """The problem in whole numbers, as the engine of its kind takes it."""
    profit_scale: int
    """Profits are the model's costs, turned round, times this."""
    sentence: str
    """What was recognised, for the log."""
    start: IntArray
    """(n,) int64: values of the columns where nothing is packed."""

    @property
    def nothing(self) -> FloatArray:
        """The (n,) values of the columns where nothing is packed."""
        return self.start.astype(np.float64)

    @abstractmethod
    def point(self, packed: Any) -> FloatArray:
        """Return the (n,) values of the columns for a packing."""


def powers_of_two(copies: IntArray, *, by_item: bool = True) -> tuple[IntArray, IntArray]:
    """Split copies into parts of 1, 2, 4, ... and a rest, whose subsets have every number of them.

    Returns
    -------
    item, times : (k,) int64 arrays
        What each part is of, and how many copies it has: item by item, or the small ones first.
    """
    left, size = copies.copy(), 1
    item, times = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    while left.any():
        have = np.flatnonzero(left)
        item.append(have)
        times.append(np.minimum(left[have], size))
        left[have] -= times[-1]
        size *= 2
    whose, number = np.concatenate(item), np.concatenate(times)
    if not by_item:
        return whose, number
    order = np.argsort(whose, kind="stable")
    return whose[order], number[order]


def _exact_dot(values: IntArray, x: IntArray) -> int:
    """Return values'x; numpy's own product wraps round silently, the check of sums forbids that."""
    return int((values * x).sum())


# The same problem with fewer, smaller and simpler items.
#
# Every step keeps the optimum (Kellerer, Pferschy, Pisinger: "Knapsack Problems", 2004, sections
# 2.1 and 6.1; the divisors of profits are what makes bounds on profit-ceiling instances tight):
#
# * negative weights become positive by packing all copies first and taking them out again;
# * items without profit stay outside, weightless ones inside, what is too heavy stays outside;
# * equal items are put together, and copies that could never fit are left out;
# * weights are divided by their greatest common divisor, with the capacity rounded down, and so are
#   profits, so that every bound rounds down farther.


FIRST_VALUES = 64
"""Numbers whose greatest common divisor is mostly that of all: one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherProfits:
    """Profits of a given problem, less ``base``, in units of ``profit_unit``."""

    profit_unit: int
    base: int

    def profit_back(self, profit: int) -> int:
        """Return a profit or an upper bound in the terms of the given problem."""
        return self.profit_unit * profit + self.base


@dataclass(frozen=True, eq=False)
class NormalForm(OtherProfits):
    """A reduced problem and the way back."""

    knapsack: Knapsack
    """Positive profits and weights, every item fits, no two are equal."""
    given: Knapsack
    """The problem as it was."""
    fixed: IntArray
    """(n,) int64: what is packed of each given item before anything else."""
    sign: IntArray
    """(n,) int64: -1 where the reduced problem's copies are taken out of ``fixed``, else 1."""
    order: IntArray
    first: IntArray
    """The given items ``order[first[t]:first[t + 1]]`` became item t of ``knapsack``."""

    @property
    def is_feasible(self) -> bool:
        """Whether anything can be packed at all."""
        return self.knapsack.capacity >= 0

    def packing_back(self, x: IntArray) -> IntArray:
        """Return the (n,) copies of given items for a packing of the reduced problem."""
        packed = self.fixed.copy()
        copies = self.given.copies[self.order]
        size = np.diff(self.first)
        if size.size == self.order.size:  # no two are equal
            packed[self.order] += self.sign[self.order] * x
            return packed
        before = np.cumsum(copies) - copies
        before -= np.repeat(before[self.first[:-1]] if size.size else before, size)
        taken = np.clip(np.repeat(x, size) - before, 0, copies)
        packed[self.order] += self.sign[self.order] * taken
        return packed


def normal_form(given: Knapsack) -> NormalForm:
    """Reduce a problem; a negative capacity of the result says that nothing is feasible."""
    profit, weight = given.profit.copy(), given.weight.copy()
    # an item that frees capacity is packed first; what is then decided is to leave it out
    turned = (weight < 0) | ((weight == 0) & (profit > 0))
    sign = np.where(turned, -1, 1).astype(np.int64)
    fixed = np.where(turned, given.copies, 0)
    capacity = given.capacity - int((weight * fixed).sum())
    base = int((profit * fixed).sum())
    profit *= sign
    weight *= sign
    kept = np.flatnonzero((profit > 0) & (weight <= capacity) & (given.copies > 0))
    order, first = _equal_items(profit, weight, kept)
    head = order[first[:-1]]
    copies = given.copies[order]
    if head.size < order.size:
        copies = np.add.reduceat(copies, first[:-1])
    heads_profit, profit_unit = _divided(profit[head])
    heads_weight, weight_unit = _divided(weight[head])
    room = capacity // weight_unit
    reduced = Knapsack(
        heads_profit,
        heads_weight,
        np.minimum(copies, room // np.maximum(heads_weight, 1)),
        room,
    )
    return NormalForm(reduced, given, fixed, sign, order, first, profit_unit=profit_unit, base=base)


def _divided(values: IntArray) -> tuple[IntArray, int]:
    """Return positive numbers divided by their greatest common divisor, and that."""
    unit = max(int(np.gcd.reduce(values[:FIRST_VALUES])), 1)
    if unit > 1:
        unit = int(np.gcd.reduce(values))
    return (values // unit if unit > 1 else values), unit


def _equal_items(profit: IntArray, weight: IntArray, kept: IntArray) -> tuple[IntArray, IntArray]:
    """Return kept items sorted into runs of equal ones, and where each run begins (and the end)."""
    if not kept.size:
        return kept, np.zeros(1, dtype=np.int64)
    profit, weight = profit[kept], weight[kept]
    span = int(weight.max()) + 1
    if int(profit.max()) < LARGEST // span:  # one key of both sorts several times as fast
        order = np.argsort(profit * span + weight)
    else:
        order = np.lexsort((weight, profit))
    profit, weight = profit[order], weight[order]
    new = np.ones(order.size + 1, dtype=bool)
    np.not_equal(profit[1:], profit[:-1], out=new[1:-1])
    new[1:-1] |= weight[1:] != weight[:-1]
    return kept[order], np.flatnonzero(new)
