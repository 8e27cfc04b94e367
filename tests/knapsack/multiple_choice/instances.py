"""Multiple-choice knapsack problems of several kinds, and the optima of small ones."""

from __future__ import annotations

from itertools import product

import numpy as np

from solvers.core.problem import Problem
from solvers.knapsack.multiple_choice.items import MultipleChoice

KINDS = ("uncorrelated", "weakly", "strongly", "strongly steep", "subset sum", "monotone")
"""Kinds of instances (Pisinger, "A minimal algorithm for the multiple-choice knapsack problem",
1995); monotone ones are those of Sinha and Zoltners, and steep ones have a constant that grows."""


def instance(kind: str, classes: int, size: int, largest: int, seed: int) -> MultipleChoice:
    """Return an instance with the middle of the least and the greatest weight as capacity."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, largest + 1, (classes, size))
    profit = rng.integers(1, largest + 1, (classes, size))
    if kind == "weakly":
        profit = np.maximum(1, weight + rng.integers(-10, 11, weight.shape))
    elif kind.startswith("strongly"):
        steps = np.sort(weight, axis=1)
        extra = largest // 10 if kind.endswith("steep") else 10
        weight, profit = np.cumsum(steps, axis=1), np.cumsum(steps + extra, axis=1)
    elif kind == "subset sum":
        profit = weight.copy()
    elif kind == "monotone":
        weight, profit = np.sort(weight, axis=1), np.sort(profit, axis=1)
    capacity = int(weight.min(axis=1).sum() + weight.max(axis=1).sum()) // 2
    first = np.arange(classes + 1) * size
    return MultipleChoice(profit.ravel(), weight.ravel(), first, capacity)


def best_profit(choice: MultipleChoice) -> int | None:
    """Return the largest profit of a selection that fits, by looking at each; None if none does."""
    ranges = [range(a, b) for a, b in zip(choice.first[:-1], choice.first[1:], strict=True)]
    selections = np.array(list(product(*ranges)), dtype=np.int64)
    fits = choice.weight[selections].sum(axis=1) <= choice.capacity
    return int(choice.profit[selections].sum(axis=1)[fits].max()) if fits.any() else None


def dense_profit(choice: MultipleChoice) -> int | None:
    """Return the optimum by a table over all capacities; weights must not be negative."""
    worthless = -(2**60)
    table = np.zeros(choice.capacity + 1, dtype=np.int64)
    for begin, end in zip(choice.first[:-1], choice.first[1:], strict=True):
        better = np.full(table.size, worthless)
        for profit, weight in zip(choice.profit[begin:end], choice.weight[begin:end], strict=True):
            if weight < table.size:
                shifted = table[: table.size - weight] + profit
                better[weight:] = np.maximum(better[weight:], shifted)
        table = better
    return int(table.max()) if table.max() > worthless // 2 else None


def model_of(choice: MultipleChoice, unit: float = 1.0) -> Problem:
    """Return a problem as a model, with weights and capacity times ``unit``."""
    group = np.repeat(np.arange(choice.num_classes), np.diff(choice.first))
    rows = (np.arange(choice.num_classes)[:, None] == group).astype(float)
    return Problem.from_arrays(
        choice.profit.astype(float),
        np.vstack([choice.weight * unit, rows]),
        row_lower=np.concatenate([[-np.inf], np.ones(choice.num_classes)]),
        row_upper=np.concatenate([[choice.capacity * unit], np.ones(choice.num_classes)]),
        upper=1.0,
        integrality=np.ones(choice.num_items, dtype=bool),
        maximize=True,
    )
