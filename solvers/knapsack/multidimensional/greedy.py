"""A packing to begin with: by profit over priced weight, then by exchanges."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack

MOST_ROUNDS = 100
"""Improving exchanges after which the rest is left to the search."""

MOST_CHECKS = 500_000_000
"""Comparisons of a pair of items in a row after which it is too: less than a second."""


def greedy(problem: MultidimensionalKnapsack, dual: FloatArray) -> BoolArray:
    """Pack items by profit over weight at the prices of ``dual`` (m,), as long as they fit.

    Rows that have no price count by their share of the capacity.
    """
    share = problem.weight / np.maximum(problem.capacity, 1)[:, None]
    cost = dual @ problem.weight + 1e-9 * problem.profit.max(initial=1) * share.sum(axis=0)
    order = np.argsort(-problem.profit / np.maximum(cost, 1e-300), kind="stable")
    x = np.zeros(problem.num_items, dtype=np.bool_)
    left = problem.capacity.copy()
    for item in order:
        if (problem.weight[:, item] <= left).all():
            x[item] = True
            left -= problem.weight[:, item]
    return exchange(problem, x)


def exchange(problem: MultidimensionalKnapsack, x: BoolArray) -> BoolArray:
    """Add items, or exchange one for another, as long as that is worth more."""
    x = x.copy()
    packed = int(x.sum())
    checks = max(packed * (x.size - packed) * problem.num_rows, 1)
    for _ in range(min(MOST_ROUNDS, 1 + MOST_CHECKS // checks)):
        left = problem.capacity - problem.weight[:, x].sum(axis=1)
        outside, inside = np.flatnonzero(~x), np.flatnonzero(x)
        fits = (problem.weight[:, outside] <= left[:, None]).all(axis=0)
        if fits.any():
            candidates = outside[fits]
            x[candidates[np.argmax(problem.profit[candidates])]] = True
            continue
        gain = problem.profit[outside][:, None] - problem.profit[inside][None, :]
        for row in range(problem.num_rows):
            weight = problem.weight[row]
            heavy = weight[outside][:, None] - weight[inside][None, :] > left[row]
            gain[heavy] = 0
        if gain.size == 0 or gain.max() <= 0:
            break
        add, drop = np.unravel_index(int(np.argmax(gain)), gain.shape)
        x[outside[add]], x[inside[drop]] = True, False
    return x
