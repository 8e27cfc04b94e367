"""Generators of knapsack instances: the paper's class and Pisinger's.

The classes are those of "Where are the hard knapsack problems?" (Pisinger, 2005), with numbers from
NumPy instead of the original stream, and half of the total weight as capacity.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.knapsack import Knapsack
from solvers.knapsack.items import IntArray

Generator = np.random.Generator
Rule = Callable[[Generator, IntArray, int], tuple[IntArray, IntArray]]


def paper_instance(items: int, seed: int) -> Knapsack:
    """Return an instance of the paper's class: weights of 1 to 100, profits 10 more."""
    weight = np.random.default_rng(seed).integers(1, 101, items)
    return Knapsack.binary(weight + 10, weight, int(weight.sum()) // 2)


def instance(kind: str, items: int, largest: int, seed: int) -> Knapsack:
    """Return an instance of a class with coefficients up to about ``largest``."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, largest + 1, items)
    profit, weight = CLASSES[kind](rng, weight, largest)
    capacity = int(weight.sum()) // 2
    if kind.startswith("even-odd"):
        capacity |= 1
    return Knapsack.binary(np.maximum(profit, 1), weight, max(capacity, int(weight.max())))


def _similar(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    profit = rng.integers(1, largest + 1, weight.size)
    return profit, 100 * largest + rng.integers(0, max(largest // 10, 1), weight.size)


def _inverse(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    profit = rng.integers(1, largest + 1, weight.size)
    return profit, profit + largest // 10


def _weakly(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    tenth = largest // 10
    return np.maximum(1, weight + rng.integers(-tenth, tenth + 1, weight.size)), weight


def _almost(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    spread = largest // 1000
    return weight + largest // 10 + rng.integers(-spread, spread + 1, weight.size), weight


def _even_odd(extra: int) -> Rule:
    def rule(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
        even = 2 * ((weight + 1) // 2)
        return even + extra * (largest // 10), even

    return rule


def _spanner(inner: Rule) -> Rule:
    """Items are multiples of two items of another class, each divided by five."""

    def rule(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
        profits, weights = inner(rng, weight[:2], largest)
        which = rng.integers(0, 2, weight.size)
        times = rng.integers(1, 11, weight.size)
        return times * -(-profits[which] // 5), times * -(-weights[which] // 5)

    return rule


def _uncorrelated(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    return rng.integers(1, largest + 1, weight.size), weight


def _strongly(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    return weight + largest // 10, weight


def _multiple(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    return weight + np.where(weight % 6 == 0, 3, 2) * (largest // 10), weight


def _circle(rng: Generator, weight: IntArray, largest: int) -> tuple[IntArray, IntArray]:
    arc = np.sqrt(4.0 * largest**2 - (weight - 2.0 * largest) ** 2)
    return (2.0 / 3.0 * arc).astype(np.int64), weight


CLASSES: dict[str, Rule] = {
    "uncorrelated": _uncorrelated,
    "weakly": _weakly,
    "strongly": _strongly,
    "inverse": _inverse,
    "almost": _almost,
    "subset-sum": lambda rng, weight, largest: (weight.copy(), weight),
    "even-odd": _even_odd(0),
    "even-odd strongly": _even_odd(1),
    "similar": _similar,
    "span uncorrelated": _spanner(_uncorrelated),
    "span weakly": _spanner(_weakly),
    "span strongly": _spanner(_strongly),
    "multiple strongly": _multiple,
    "profit ceiling": lambda rng, weight, largest: (3 * -(-weight // 3), weight),
    "circle": _circle,
}
"""Classes by name; a rule gets weights of 1 to the largest and returns profits and weights."""
