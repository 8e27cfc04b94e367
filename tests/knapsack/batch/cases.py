"""Batches of small knapsack problems, easy, hard and awkward, and a call of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from solvers.knapsack.batch.kernels.many import NEAR_ROOM
from solvers.knapsack.items import IntArray, Knapsack

OUTPUTS = ("packed", "value", "ending", "visited")


def awkward(count: int, largest_items: int, seed: int) -> list[Knapsack]:
    """Return problems with all signs of profits and weights, and capacities from -1 up."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n = int(rng.integers(0, largest_items + 1))
        size = int(rng.choice([2, 5, 30, 1000]))
        low = -size if rng.random() < 0.5 else 1
        profit, weight = rng.integers(low, size + 1, n), rng.integers(low, size + 1, n)
        lowest = int(weight[weight < 0].sum()) - 1  # where nothing fits any more
        capacity = int(rng.integers(lowest, max(int(np.abs(weight).sum()), 1) + 1))
        if rng.random() < 0.1:
            capacity = lowest
        found.append(Knapsack.binary(profit, weight, capacity))
    return found


def flat(problems: Sequence[Knapsack]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return starts, profits, weights and capacities of all problems, one after the other."""
    starts = np.cumsum([0, *(problem.num_items for problem in problems)]).astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    profit = np.concatenate([none, *(problem.profit for problem in problems)])
    weight = np.concatenate([none, *(problem.weight for problem in problems)])
    capacity = np.array([problem.capacity for problem in problems], dtype=np.int64)
    return starts, profit, weight, capacity


def run_kernel(
    problems: Sequence[Knapsack],
    run: Callable[[tuple[Any, ...]], None],
    *,
    words: int = 1,
    room: int = 1 << 13,
    near: int = NEAR_ROOM,
    slots: int = 3,
    most: int = 1 << 20,
) -> dict[str, IntArray]:
    """Call the kernel as ``run`` does; return what it writes."""
    count = len(problems)
    outputs = {name: np.full(count, -7, dtype=np.int64) for name in OUTPUTS}
    outputs["packed"] = np.full(count * words, -7, dtype=np.int64)
    lists = np.full(slots * 2 * (2 + words) * room, -7, dtype=np.int64)
    queue = np.zeros(1, dtype=np.int64)
    run(
        (
            *flat(problems),
            lists,
            queue,
            *(outputs[name] for name in OUTPUTS),
            count,
            slots,
            words,
            room,
            near,
            most,
        )
    )
    return outputs
