"""Calls of the kernel of replicas, by the names of its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import ANNEAL, LANES
from solvers.knapsack.multidimensional.parallel_tempering import NONE, Setting, scaled
from tests.knapsack.multidimensional.instances import drawn

SETTINGS = (Setting(0.9, 1.0, 1.0, 5.0, 100), Setting(0.8, 4.0, 2.0, 10.0, 100))

SIZES = (
    (2, 1),
    (20, 1),
    (31, 5),
    (32, 31),
    (33, 32),
    (64, 33),
    (100, 30),
    (200, 64),
    (255, 3),
    (256, 97),
    (60, 128),
)
"""Items that move and rows, around the sizes of a warp."""


def call(
    problem: MultidimensionalKnapsack,
    *,
    replicas: int = 9,
    trials: int = 500,
    setting: Setting = SETTINGS[0],
    seed: int = 0,
) -> dict[str, Any]:
    """Return the arguments of a call in which all items move, from nothing packed."""
    nothing = np.zeros(problem.num_items, dtype=np.bool_)
    movable = np.arange(problem.num_items)
    dual = 0.5 * problem.profit.sum() / problem.weight.sum(axis=1).clip(1) / problem.num_rows
    data = scaled(problem, dual, setting, movable, nothing)
    heat = np.resize(data.heat, replicas)
    words = np.zeros(replicas * LANES, dtype=np.int32)
    values = (
        *data.arrays(), heat, words, words.copy(), np.full(replicas, NONE), np.zeros(replicas),
        replicas, problem.num_items, problem.num_rows, trials, seed, 3,
    )  # fmt: skip
    return dict(ANNEAL.by_name(values))


def awkward() -> list[MultidimensionalKnapsack]:
    """Return problems that kernels may stumble over."""
    ordinary = drawn(40, 4, 0.5, seed=1)
    empty_row = ordinary.weight.copy()
    empty_row[2] = 0
    large = np.random.default_rng(0).integers(1, 2**40, (3, 50))
    return [
        MultidimensionalKnapsack(ordinary.profit, empty_row, ordinary.capacity),
        MultidimensionalKnapsack(ordinary.profit, ordinary.weight, ordinary.capacity * 0),
        MultidimensionalKnapsack(ordinary.profit, ordinary.weight, ordinary.capacity * 10),
        MultidimensionalKnapsack(large.sum(axis=0) // 3, large, large.sum(axis=1) // 3),
        MultidimensionalKnapsack(
            np.ones(30, dtype=int), np.ones((2, 30), dtype=int), np.array([7, 9])
        ),
    ]
