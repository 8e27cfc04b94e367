"""The best packings that a search has seen, no two of them the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack

MOST_ELITES = 12
"""Packings that are kept: with fewer they soon were much the same on published problems."""

BEST_SHARE = 0.5
"""How often the best one is drawn, beside its turns among all."""


class Elite(NamedTuple):
    """A packing and its profit."""

    profit: int
    x: BoolArray


class Elites:
    """The best packings of one problem, the best first."""

    def __init__(self, problem: MultidimensionalKnapsack) -> None:
        self._problem = problem
        self._kept: list[Elite] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._kept)

    @property
    def best(self) -> Elite:
        """The best packing; there must be one."""
        return self._kept[0]

    def add(self, x: BoolArray) -> bool:
        """Keep a packing that fits, is not there yet and is good enough; return whether it is."""
        if not self._problem.fits(x):
            return False
        profit = int(self._problem.profit[x].sum())
        for other in self._kept:
            if other.profit == profit and np.array_equal(other.x, x):
                return False
        place = sum(other.profit >= profit for other in self._kept)
        self._kept.insert(place, Elite(profit, x.copy()))
        del self._kept[MOST_ELITES:]
        return place < MOST_ELITES

    def dispute(self) -> FloatArray:
        """Return how far they are from agreeing on each item, (n,) numbers from 0 to 1."""
        share = np.mean([elite.x for elite in self._kept], axis=0)
        return np.asarray(4.0 * share * (1.0 - share))

    def draw(self, random: np.random.Generator) -> Elite:
        """Return one of them, mostly the best."""
        if random.random() < BEST_SHARE:
            return self.best
        return self._kept[int(random.integers(len(self._kept)))]
