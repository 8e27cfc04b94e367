"""A problem in the small whole numbers that replicas reckon in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import FRACTION_BITS, LANES, TABLE
from solvers.knapsack.multidimensional.node import Int32Array

RUNGS = 6
"""Temperatures of a ladder: neighbours change places in four of ten turns."""

PRICE_UNIT, MOST_WEIGHT = 2**22, 2**16
"""Largest worth or price of an item's weights after scaling, and largest weight: what the kernel
asks for, with room for rounding."""

LEAST_PRICE = 0.1
"""Price of a row's violation, as a part of the largest one, at least."""


@dataclass(frozen=True)
class Setting:
    """How replicas see a problem.

    ``charge`` of the duals' price is charged for capacity, ``penalty`` times it for violation;
    temperatures go from ``coldest`` to ``hottest``, in units of profit; ``movable`` items move.
    """

    charge: float
    penalty: float
    coldest: float
    hottest: float
    movable: int


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem of the items that move, as the kernel takes it, and temperatures (rungs,)."""

    weight: Int32Array
    price: Int32Array
    worth: Int32Array
    profit: FloatArray
    capacity: Int32Array
    heat: Int32Array

    def arrays(self) -> tuple[Any, ...]:
        """Return the kernel's first arguments."""
        weight = np.ascontiguousarray(self.weight).ravel()
        table = exponential_draws()
        return (weight, self.price, self.worth, self.profit, self.capacity, table)


def scaled(
    problem: MultidimensionalKnapsack,
    dual: FloatArray,
    setting: Setting,
    movable: IntArray,
    x: BoolArray,
) -> Scaled:
    """Return the items ``movable`` as a problem of small whole numbers; others stay as in ``x``.

    Weights that are too large are rounded up and capacities down: what fits here, fits.
    """
    fixed = x.copy()
    fixed[movable] = False
    room = problem.capacity - problem.weight[:, fixed].sum(axis=1)
    unit = -(-problem.weight[:, movable].max(axis=1, initial=1) // MOST_WEIGHT)
    unit = np.maximum(unit, 1)
    weight = -(-problem.weight[:, movable] // unit[:, None])
    capacity = np.minimum(room // unit, weight.sum(axis=1))
    rate = np.maximum(dual, LEAST_PRICE * dual.max()) * setting.penalty
    worth = problem.profit[movable] - setting.charge * (dual @ problem.weight[:, movable])
    dearest = float((rate * unit * weight.max(axis=1, initial=1)).sum())
    scale = PRICE_UNIT / max(dearest, float(np.abs(worth).max(initial=1.0)))
    heat = scale * np.geomspace(setting.coldest, setting.hottest, RUNGS)
    return Scaled(
        np.append(weight.T, np.zeros((1, problem.num_rows), dtype=np.int64), axis=0).astype(
            np.int32
        ),
        np.maximum(np.round(scale * rate * unit), 1.0).astype(np.int32),
        np.append(np.round(scale * worth), 0.0).astype(np.int32),
        np.append(problem.profit[movable], 0).astype(np.float64),
        capacity.astype(np.int32),
        np.maximum(np.round(heat), 1.0).astype(np.int32),
    )


def words_of(flags: BoolArray) -> Int32Array:
    """Return flags as the kernel's 32 words: item j is bit j / 32 of word j % 32."""
    bits = np.zeros(-(-flags.size // LANES) * LANES, dtype=np.int64)
    bits[: flags.size] = flags
    by_bit = bits.reshape(-1, LANES)
    words: Int32Array = (by_bit << np.arange(by_bit.shape[0])[:, None]).sum(axis=0).astype(np.int32)
    return words


def flags_of(words: Int32Array, items: int) -> BoolArray:
    """Return the flags of so many items."""
    item = np.arange(items)
    return np.asarray((words[item % LANES] >> (item // LANES)) & 1, dtype=np.bool_)


def exponential_draws() -> Int32Array:
    """Return equally likely draws from the exponential distribution, in units of 2^-16."""
    middle = (np.arange(TABLE) + 0.5) / TABLE
    draws: Int32Array = np.round(-np.log(middle) * 2**FRACTION_BITS).astype(np.int32)
    return draws
