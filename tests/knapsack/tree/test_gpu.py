"""The kernels of the tree against their twins, on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.device import find_device
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.normal_form import normal_form
from solvers.knapsack.tree.nodes import Nodes
from solvers.knapsack.tree.run import TreeSettings, branch_and_bound
from solvers.knapsack.tree.solve import solve_by_tree
from tests.knapsack.brute import CLASSES, dense_profit, instance

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("count", [1, 2, 191, 192, 193, 5000, 200_000])
@pytest.mark.parametrize("kind", ["strongly", "uncorrelated", "subset sum"])
def test_a_level_is_the_same_on_both_devices(kind: str, count: int) -> None:
    device = find_device("cuda")
    items = by_efficiency(normal_form(instance(kind, 80, 1000, 3)).knapsack)
    rng = np.random.default_rng(count)
    first = max(1, items.break_item // 2)
    slack = rng.integers(first, items.num_items + 1, count)
    columns = [
        items.weight_before[np.minimum(slack, items.break_item)] - rng.integers(0, 50, count),
        items.profit_before[np.minimum(slack, items.break_item)] - rng.integers(0, 50, count),
        slack,
        rng.integers(0, 2 * items.dantzig_bound, count),
    ]
    found = []
    with device.activate():
        for module in (np, device.xp):
            nodes = Nodes(module, items, 2 * count)
            nodes.put(columns)
            best, node, origin = nodes.level(first, items.dantzig_bound - 100)
            origins = [origin if module is np else origin.get()]
            origins.append(nodes.merge(origin) if module is np else nodes.merge(origin).get())
            found.append((best, node, *origins, *nodes.get()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


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
