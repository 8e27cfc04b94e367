"""Forests of problems, and kernels that are compared with their twins at every launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.device import Device
from solvers.knapsack.rows.forest import Forest
from solvers.knapsack.rows.items import RowsKnapsack
from solvers.knapsack.rows.kernels.subtrees import FAMILY
from solvers.knapsack.rows.node import make_rows, root_node
from solvers.knapsack.rows.relaxation import reoptimise
from solvers.knapsack.rows.subproblems import by_count
from solvers.progress import Progress
from tests.knapsack.rows.instances import drawn

STOP = np.zeros(1, dtype=np.int8)

Launch = Callable[[str, tuple[Any, ...]], None]


def planted(problem: RowsKnapsack, device: Device, searches: int, target: int = 1) -> Forest:
    """Return a forest that is to search a whole problem for packings worth ``target``."""
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    found = by_count(problem, target, Progress())
    assert found is not None
    forest = Forest(problem, found.rows, root.dual * rows.scale, device, searches)
    for node in found.nodes:
        forest.add(node)
    return forest


def searched(forest: Forest, problem: RowsKnapsack, rounds: int = 100_000) -> int:
    """Search to the end, or for so many rounds; return the best profit."""
    profit = 0
    for _ in range(rounds):
        if forest.is_done:
            break
        x = forest.run(profit + 1, 1, STOP)
        if x is not None:
            assert problem.fits(x)
            assert problem.profit[x].sum() > profit
            profit = int(problem.profit[x].sum())
    return profit


class Compared:
    """Kernels that run their twin on copies as well, and see that all arrays are equal."""

    def __init__(self, device: Device, launch: Launch) -> None:
        self._device, self._launch = device, launch
        self.launches: list[str] = []

    def __getitem__(self, name: str) -> Callable[..., None]:
        def call(*values: Any) -> None:
            twin = [self._on_host(value) for value in values]
            FAMILY[name](*twin, threads=1)
            self._launch(name, values)
            for argument, here, there in zip(
                FAMILY.kernels[name].arguments, twin, map(self._on_host, values), strict=True
            ):
                np.testing.assert_array_equal(there, here, err_msg=f"{name}: {argument.name}")
            self.launches.append(name)

        return call

    def _on_host(self, value: Any) -> Any:
        return value if isinstance(value, int) else self._device.to_host(value)


def awkward() -> list[RowsKnapsack]:
    """Return problems that kernels may stumble over."""
    ordinary = drawn(40, 4, 0.5, seed=1)
    empty_row = ordinary.weight.copy()
    empty_row[2] = 0
    large = np.random.default_rng(0).integers(1, 2**40, (3, 24))
    return [
        RowsKnapsack(ordinary.profit, empty_row, ordinary.capacity),
        RowsKnapsack(ordinary.profit, ordinary.weight, ordinary.capacity * 0),
        RowsKnapsack(ordinary.profit, ordinary.weight, ordinary.capacity * 10),
        RowsKnapsack(large.sum(axis=0) // 3, large, large.sum(axis=1) // 3),
        RowsKnapsack(np.ones(30, dtype=int), np.ones((2, 30), dtype=int), np.array([7, 9])),
        RowsKnapsack(np.array([5]), np.array([[3]]), np.array([3])),
        RowsKnapsack(np.arange(1, 34), np.arange(2, 35)[None, :], np.array([100])),
    ]
