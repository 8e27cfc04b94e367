"""Trees of the search: nodes with their open levels, grown a while at a time, and cut in two."""

from __future__ import annotations

import numpy as np

from solvers.knapsack.multidimensional.items import BoolArray
from solvers.knapsack.multidimensional.node import (
    DEPTH,
    FINISHED,
    NODES,
    UNDECIDED,
    Int8Array,
    Levels,
    Node,
    Rows,
    make_levels,
    node_at,
)
from solvers.native.knapsack_multidimensional_tree import decide_item, explore

PASSES, FREE_ITEMS = 4, 40
"""Passes over the free items of a node and its basis, and how many items are free in the mean."""

LEAST_NODES = 20
"""Nodes by which a tree grows at least."""


class Tree:
    """A search below a node; its levels get their memory when it grows for the first time."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.levels: Levels | None = None
        self.is_done = False

    @property
    def bound(self) -> float:
        """A bound on what the tree may still find."""
        bound = float(self.node.bound[0])
        if self.levels is None:
            return bound
        depth = int(self.node.counts[DEPTH])
        is_open = self.levels.other[:depth] != UNDECIDED
        return float(self.levels.bound[:depth, 0].max(where=is_open, initial=bound))

    @property
    def nodes(self) -> int:
        """Nodes treated so far."""
        return int(self.node.counts[NODES])


def steps_per_node(rows: Rows) -> int:
    """Return the elementary steps of a node: a few passes over its free items and its basis."""
    m = int(rows.scale.size)
    return PASSES * m * (m + FREE_ITEMS)


def run_tree(rows: Rows, tree: Tree, target: int, work: int, stop: Int8Array) -> BoolArray | None:
    """Grow a tree for so many elementary steps.

    Return a packing worth ``target`` or more, if one was found.
    """
    if tree.levels is None:
        tree.levels = make_levels(tree.node)
    nodes = max(work // steps_per_node(rows), LEAST_NODES)
    best = np.array([target], dtype=np.int64)
    packing: Int8Array = np.zeros(rows.profit.size, dtype=np.int8)
    status = explore(rows, tree.node, tree.levels, best, packing, nodes, stop)
    tree.is_done = status == FINISHED
    return packing.astype(np.bool_) if best[0] > target else None


def split(rows: Rows, trees: list[Tree], target: int) -> Tree | None:
    """Cut the highest open branch off the tree with the best bound that has one."""
    best, place = -np.inf, (-1, -1)
    for number, tree in enumerate(trees):
        if tree.levels is None:
            continue
        depth = int(tree.node.counts[DEPTH])
        bounds = tree.levels.bound[:depth, 0]
        is_open = (tree.levels.other[:depth] != UNDECIDED) & (bounds >= target)
        highest = int(np.argmax(is_open)) if depth else 0
        if depth and is_open[highest] and bounds[highest] > best:
            best, place = float(bounds[highest]), (number, highest)
    number, level = place
    if number < 0:
        return None
    tree = trees[number]
    assert tree.levels is not None  # it has an open level
    node = node_at(tree.node, tree.levels, level)
    node.counts[NODES] = node.counts[DEPTH] = 0
    decide_item(rows, node, int(tree.levels.item[level]), int(tree.levels.other[level]))
    tree.levels.other[level] = UNDECIDED
    return Tree(node)
