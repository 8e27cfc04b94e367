"""Multidimensional knapsack problems: drawn as Chu and Beasley do, and every packing of one."""

from __future__ import annotations

from itertools import product

import numpy as np

from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack


def best_profit(problem: MultidimensionalKnapsack) -> int | None:
    """Return the largest profit of a packing that fits, looking at all; None if none does."""
    packings = np.array(list(product((0, 1), repeat=problem.num_items)), dtype=np.int64)
    packings = packings.reshape(2**problem.num_items, problem.num_items)
    fits = (packings @ problem.weight.T <= problem.capacity).all(axis=1)
    return int((packings @ problem.profit)[fits].max()) if fits.any() else None


def drawn(items: int, rows: int, tightness: float, seed: int) -> MultidimensionalKnapsack:
    """Return a problem with profits correlated with weights ("A genetic algorithm for the
    multidimensional knapsack problem", 1998, section 4.1)."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 1001, (rows, items))
    profit = weight.sum(axis=0) // rows + (500 * rng.random(items)).astype(np.int64)
    return MultidimensionalKnapsack(
        profit, weight, (tightness * weight.sum(axis=1)).astype(np.int64)
    )
