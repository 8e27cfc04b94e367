"""The kernels of the tree against their twins, on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import find_device
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.items import normal_form
from solvers.papers.knapsack_branch_and_bound.engine import (
    TreeSettings,
    branch_and_bound,
    solve_by_tree,
)
from tests.knapsack.brute import CLASSES, dense_profit, instance
from tests.papers.knapsack_branch_and_bound.cases import KINDS, assert_same, level, some_items

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("count", [1, 2, 255, 257, 5000, 200_000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [1000, 10**6])
def test_a_level_is_the_same_on_both_devices(kind: str, count: int, largest: int) -> None:
    device = find_device("cuda")
    items = some_items(kind, largest)
    for lead in (0, 100, 10_000):
        with device.activate():
            there = level(device.xp, items, count, lead)
        assert_same(level(np, items, count, lead), there)


@pytest.mark.parametrize("kind", CLASSES)
def test_problems_on_the_gpu(kind: str) -> None:
    problem = instance(kind, 32, 100 if kind != "similar" else 10, 4)
    answer = solve_by_tree(problem, find_device("cuda"), settings=TreeSettings(switch=16))
    assert answer.profit == answer.bound == dense_profit(problem)


def test_long_lists_go_to_the_gpu_and_back() -> None:
    items = by_efficiency(normal_form(instance("strongly", 30, 100, 0)).knapsack)
    settings = TreeSettings(switch=100, merged=False)
    there = branch_and_bound(items, find_device("cuda"), lambda: False, settings)
    here = branch_and_bound(items, find_device("cpu"), lambda: False, settings)
    assert there.on_gpu > 0
    assert (there.profit, there.nodes, there.longest) == (here.profit, here.nodes, here.longest)
    np.testing.assert_array_equal(there.flags, here.flags)
