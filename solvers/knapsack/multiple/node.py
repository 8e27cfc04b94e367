"""The data of a search among listed patterns: patterns, items, and the open nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.knapsack.items import IntArray

Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]

LENGTH, KIND, SLACK, WASTE = range(4)
"""Rows of ``pattern``."""

SIZE = 1
"""Column of ``node`` with the number of patterns."""

LEVEL, TARGET, NODES, TOTAL, SCALE, SPARE = range(6)
"""Places in ``control``: open levels, smallest profit of interest, nodes so far; the bound and what
it and slacks are multiplied by; the capacity that no packing of interest leaves unused."""

ROOM_PER_PATTERN, LEAST_ROOM = 6, 100_000
"""Places for the lists of patterns of all open nodes; they shrink quickly from one to the next."""


class Cover(NamedTuple):
    """Listed patterns of t kinds of knapsacks, and items by falling efficiency.

    ``item`` (p, longest) has the items of each pattern, ``pattern`` (4, p) their number, the kind,
    the slack and the waste; ``good`` (3, n) profits, weights and prices of items, ``capacity`` (t,)
    is of kinds. Prices and slacks are times a scale.
    """

    item: Int16Array
    pattern: IntArray
    good: IntArray
    capacity: IntArray


class Stack(NamedTuple):
    """Open nodes: ``active`` lists the patterns left of each, one after the other.

    ``node`` (levels, 5) says where they begin and how many they are, the pattern that the node
    began with, and what was paid and wasted so far; ``left`` (levels, t + 1) are the knapsacks to
    fill, and their sum, ``state`` (levels, n) is what is known of items, ``raised`` (levels, n)
    what was added to their prices since.
    """

    active: Int32Array
    node: IntArray
    left: IntArray
    state: Int8Array
    raised: IntArray


def first_node(cover: Cover, count: IntArray) -> Stack:
    """Return a stack that holds the root; ``count`` has the knapsacks of each kind."""
    levels, patterns = int(count.sum()) + 2, cover.item.shape[0]
    stack = Stack(
        np.zeros(ROOM_PER_PATTERN * patterns + LEAST_ROOM, dtype=np.int32),
        np.zeros((levels, 5), dtype=np.int64),
        np.zeros((levels, count.size + 1), dtype=np.int64),
        np.zeros((levels, cover.good.shape[1]), dtype=np.int8),
        np.zeros((levels, cover.good.shape[1]), dtype=np.int64),
    )
    stack.active[:patterns] = np.arange(patterns)
    stack.node[0, SIZE] = patterns
    stack.left[0] = np.append(count, count.sum())
    return stack
