"""The violated rows as ``tree.cuh`` has them: bits under a tree of counts."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import part

MOST_LEVELS = 7


class Tree(NamedTuple):
    """The nodes (uint32), where each level begins, and the number of the top level."""

    nodes: Any
    first: Any
    top: Any


@part
def tree_of(nodes, rows):
    """Return the tree over so many rows."""
    first = np.zeros(MOST_LEVELS, np.int64)
    level, width = 0, (rows + 31) // 32
    size = (max(width, 1) + 31) // 32 * 32
    while True:
        width = (width + 31) // 32
        level += 1
        first[level] = size
        size += (max(width, 1) + 31) // 32 * 32
        if width <= 32:
            return Tree(nodes, first, level)


@part
def set_violated(tree, row, enters):
    """Note that a row has become violated or holds again."""
    tree.nodes[row >> 5] ^= np.uint32(1) << np.uint32(row & 31)
    node = row >> 10
    for level in range(1, tree.top + 1):
        at = tree.first[level] + node
        tree.nodes[at] = tree.nodes[at] + np.uint32(1) if enters else tree.nodes[at] - np.uint32(1)
        node >>= 5


@part
def count_violated(tree):
    """Return the number of violated rows."""
    total = np.int64(0)
    for lane in range(32):
        total += np.int64(tree.nodes[tree.first[tree.top] + lane])
    return total


@part
def find_violated(tree, rank):
    """Return the violated row with ``rank`` lower ones before it."""
    node = 0
    for level in range(tree.top, 0, -1):
        node *= 32
        while rank >= np.int64(tree.nodes[tree.first[level] + node]):
            rank -= np.int64(tree.nodes[tree.first[level] + node])
            node += 1
    word = 32 * node
    row = 32 * word
    while True:
        bits = tree.nodes[row >> 5]
        if (bits >> np.uint32(row & 31)) & np.uint32(1):
            if rank == 0:
                return row
            rank -= 1
        row += 1
