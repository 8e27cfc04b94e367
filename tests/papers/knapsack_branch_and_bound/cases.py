"""Lists of nodes, and levels of them, for tests on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.items import normal_form
from solvers.papers.knapsack_branch_and_bound.nodes import Nodes
from tests.knapsack.brute import instance

KINDS = ("strongly", "uncorrelated", "subset sum")


def some_items(kind: str, largest: int = 1000) -> Ordered:
    """Return 80 items of a class."""
    return by_efficiency(normal_form(instance(kind, 80, largest, 3)).knapsack)


def some_nodes(items: Ordered, count: int) -> tuple[int, list[Any]]:
    """Return an item to branch on and columns of nodes that may stand before it."""
    rng = np.random.default_rng(count)
    item = max(1, items.break_item // 2)
    slack = rng.integers(item, items.num_items + 1, count)
    before = np.minimum(slack, items.break_item)
    room = np.minimum(items.capacity - items.weight_before[before], 50)
    columns = [
        items.weight_before[before] + room - rng.integers(0, 100, count) % (room + 1),
        items.profit_before[before] - rng.integers(0, 50, count),
        slack,
    ]
    return item, columns


def level(module: Any, items: Ordered, count: int, lead: int) -> list[Any]:
    """Return all that a level of so many nodes leaves, and its best profit ``lead`` too good."""
    item, columns = some_nodes(items, count)
    nodes = Nodes(module, items, threads=1)
    nodes.put(columns, items.dantzig_bound - lead)
    bound = nodes.largest_bound()
    best, node, length = nodes.branch(item)
    step = nodes.shrink(item, length, 2 * count)
    gathered = nodes.get()
    places = sorted({0, length // 3, length // 2, length - 1} & set(range(length)))
    origins = [step.ancestor(place) for place in places]
    step = step.on_host()
    left = [step.chunk_count, step.tile_place, step.kept]
    order = nodes.merge()
    return [bound, best, node, length, origins, *left, *gathered, as_array(order), *nodes.get()]


def as_array(values: Any) -> Any:
    """Return an array of any device as NumPy's."""
    return values if isinstance(values, np.ndarray) else values.get()


def assert_same(one: list[Any], other: list[Any]) -> None:
    """See that two levels have left the same."""
    for here, there in zip(one, other, strict=True):
        np.testing.assert_array_equal(here, there)
