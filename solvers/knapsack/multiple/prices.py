"""Prices of items that make the bound of Lagrange's relaxation small, by column generation.

The master problem chooses patterns, one for each knapsack and at most one for each item; its duals
are prices, at which better patterns are looked for (Martello and Monaci, "Algorithmic approaches to
the multiple knapsack assignment problem", 2020; Dell'Amico and others, "Mathematical models and
decomposition methods for the multiple knapsack problem", 2019, section 3.3). Prices are smoothed
towards those of the best bound so far (Pessoa and others, 2018). What counts in the end is the
bound in whole numbers at rounded prices, which holds for any prices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import NOWHERE, BoolArray, MultipleKnapsack
from solvers.native.knapsack_multiple_patterns import best_pattern

SMOOTHING = 0.6
"""Weight of the best prices so far in those at which patterns are looked for."""

MOST_ROUNDS = 400
"""Rounds of column generation at most."""

EXACT_BITS = 50
"""Scaled profits stay below 2 to this power, so that doubles hold them."""

MOST_SCALE_BITS = 30
"""More digits of prices than this are of no use."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of items and the bound they give, both times ``scale``."""

    scale: int
    price: IntArray
    """(n,) int64."""
    best: IntArray
    """(t,) int64: a bound on the value of each kind of knapsack's patterns."""
    total: int
    """The bound: all prices, and every knapsack's best pattern."""

    @property
    def bound(self) -> int:
        """An upper bound on the profit of every packing."""
        return self.total // self.scale


class PriceSearch:
    """Column generation for one problem, whose packings it improves in passing."""

    def __init__(self, problem: MultipleKnapsack) -> None:
        self.problem = problem
        self.kinds, self.count = np.unique(problem.capacity, return_counts=True)
        self.first = np.searchsorted(problem.capacity, self.kinds)
        bits = EXACT_BITS - int(problem.profit.sum()).bit_length()
        self.scale = 1 << max(0, min(bits, MOST_SCALE_BITS))
        self.best: Prices | None = None
        self._patterns: set[tuple[int, bytes]] = set()
        self._columns: list[tuple[int, IntArray]] = []

    def run(
        self,
        place: IntArray,
        profit: int,
        stop: Callable[[int], bool],
        better: Callable[[IntArray], int],
    ) -> None:
        """Lower the bound until no price does; ``stop`` is told the bound in every round.

        ``better`` is given packings and returns the profit of the best one.
        """
        self._take_packing(place)
        start = np.linspace(0.7, 1.1, 5)
        for factor in start:
            self._price(self._critical(factor), better)
        for _ in range(MOST_ROUNDS):
            solved = self._master()
            if solved is None:
                return
            value, duals = solved
            assert self.best is not None
            if stop(self.best.bound) or self.best.bound <= value + 1e-6 * max(1.0, value * 1e-3):
                return
            centre = self.best.price / self.scale
            before = len(self._columns)
            self._price(SMOOTHING * centre + (1.0 - SMOOTHING) * duals, better)
            if len(self._columns) == before:
                self._price(duals, better)
            if len(self._columns) == before:
                return

    def _critical(self, factor: float) -> FloatArray:
        """Return prices of the surrogate's relaxation; capacity costs so much of its own price."""
        problem = self.problem
        before = np.cumsum(problem.weight) <= int(problem.capacity.sum())
        last = min(int(before.sum()), problem.num_items - 1)
        rate = factor * problem.profit[last] / problem.weight[last]
        return np.asarray(np.maximum(problem.profit - rate * problem.weight, 0.0))

    def _price(self, price: FloatArray, better: Callable[[IntArray], int]) -> None:
        """Look for the best patterns at some prices, and for a packing of good ones."""
        problem = self.problem
        scaled = np.clip(np.floor(price * self.scale), 0, problem.profit * self.scale)
        rounded = scaled.astype(np.int64)
        value = problem.profit * self.scale - rounded
        order = np.argsort(-(value / problem.weight), kind="stable")
        best = np.empty(self.kinds.size, dtype=np.int64)
        for kind, capacity in enumerate(self.kinds):
            used = np.zeros(problem.num_items, dtype=np.bool_)
            _, best[kind] = best_pattern(value, problem.weight, order, int(capacity), used)
            self._add(kind, used)
        total = int(rounded.sum()) + int((self.count * best).sum())
        if self.best is None or total < self.best.total:
            self.best = Prices(self.scale, rounded, best, total)
        # one after the other, from what is left: patterns that go together
        packed = np.zeros(problem.num_items, dtype=np.bool_)
        place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        rank = np.random.default_rng(len(self._columns)).permutation(problem.num_knapsacks)
        for j in rank:
            before = packed.copy()
            best_pattern(value, problem.weight, order, int(problem.capacity[j]), packed)
            place[packed & ~before] = j
            self._add(int(np.searchsorted(self.kinds, problem.capacity[j])), packed & ~before)
        better(place)

    def _take_packing(self, place: IntArray) -> None:
        for kind, first in enumerate(self.first):
            for j in range(int(first), int(first) + int(self.count[kind])):
                self._add(kind, place == j)

    def _add(self, kind: int, pattern: BoolArray) -> None:
        key = kind, np.packbits(pattern).tobytes()
        if key not in self._patterns:
            self._patterns.add(key)
            self._columns.append((kind, np.flatnonzero(pattern)))

    def _master(self) -> tuple[float, FloatArray] | None:
        """Solve the relaxation over the patterns at hand; return its value and the items' duals."""
        problem, columns = self.problem, self._columns
        kinds = self.kinds.size
        rows = np.concatenate([np.append(items + kinds, kind) for kind, items in columns])
        size = np.array([items.size + 1 for _, items in columns])
        profit = np.array([float(problem.profit[items].sum()) for _, items in columns])
        matrix = sp.csc_array(
            (np.ones(rows.size), rows, np.concatenate([[0], np.cumsum(size)])),
            shape=(kinds + problem.num_items, len(columns)),
        )
        unit = max(profit.max(initial=0.0), 1.0)
        side = np.concatenate([self.count.astype(float), np.ones(problem.num_items)])
        found = scipy.optimize.linprog(-profit / unit, A_ub=matrix, b_ub=side, method="highs-ds")
        if found.status != 0:
            return None
        return -float(found.fun) * unit, -np.asarray(found.ineqlin.marginals)[kinds:] * unit
