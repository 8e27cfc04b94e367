"""A node of the search: a problem with some items decided, and the basis of its relaxation.

The relaxation is

    maximise profit'x   subject to   A x + s = b,   0 <= x <= 1,   s >= 0  (s = 0 in an equation)

with few rows and many columns. Every column of x has two bounds, so the basis of slacks with each x
at the bound that its profit asks for is dual feasible: the dual simplex method needs no first
phase, not here and not after any decision. Rows are scaled by powers of two, which rounds nothing,
and capacities left are kept in whole numbers as well, because those decide what fits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray

FREE, PIVOTS, PROFIT, NODES, DEPTH = range(5)
"""Places in ``Node.counts``: free items, pivots since the inverse was computed, profit of the items
that are decided; nodes treated and open levels of a search."""

AT_LOWER, AT_UPPER, BASIC = 0, 1, 2
"""Where a column of the relaxation stands."""

UNDECIDED = -1
"""Value of an item that is free."""

OPTIMAL, CUT_OFF, STUCK = range(3)
"""What solving a relaxation ends with: an optimal basis; a proof that the node holds nothing better
than the target; or neither, because digits are lost."""

FINISHED, PAUSED = range(2)
"""Why exploring a tree ends: it is done, or the nodes it was given are."""

Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]


class Rows(NamedTuple):
    """What no decision changes; items are columns of the relaxation, then come slacks.

    ``column`` (n, m) float64 is ``weight`` (n, m) int64 scaled by ``scale`` (m,); ``price``
    (n,) float64 and ``profit`` (n,) int64 are the same numbers; ``equation`` (m,) int8 marks rows
    that hold with equality.
    """

    column: FloatArray
    weight: IntArray
    scale: FloatArray
    price: FloatArray
    profit: IntArray
    equation: Int8Array


class Node(NamedTuple):
    """What a decision changes.

    ``free`` (n,) int32 lists the undecided items, as many as ``counts[FREE]``; ``value`` (n,) int8
    has the decisions; ``place`` (n + m,) int8 where a column stands; ``basis`` (m,) int32 and
    ``inverse`` (m, m) the basis; ``side`` (m,) float64 the right side without nonbasic columns at
    their upper bound; ``residual`` (m,) int64 the right side without items decided to be packed;
    ``dual``, ``activity`` (m,) duals and values of the basic columns; ``reduced`` (n,) reduced
    costs and ``row`` (n,) entries of the pivot row, of free items; ``bound`` (1,) float64.
    """

    free: Int32Array
    counts: IntArray
    value: Int8Array
    place: Int8Array
    basis: Int32Array
    inverse: FloatArray
    side: FloatArray
    residual: IntArray
    dual: FloatArray
    activity: FloatArray
    reduced: FloatArray
    row: FloatArray
    bound: FloatArray


class Levels(NamedTuple):
    """The nodes above the current one, each with a decision that waits; one more axis than there.

    ``item`` and ``other`` are the item decided at a level and the value not tried yet, or
    UNDECIDED.
    """

    item: Int32Array
    other: Int8Array
    free: Int32Array
    counts: IntArray
    value: Int8Array
    place: Int8Array
    basis: Int32Array
    inverse: FloatArray
    side: FloatArray
    residual: IntArray
    bound: FloatArray


def make_rows(profit: IntArray, weight: IntArray, equations: int = 0) -> Rows:
    """Return rows for (m, n) weights, the last ``equations`` of which hold with equality."""
    largest = np.maximum(weight.max(axis=1, initial=1), 1).astype(np.float64)
    scale = 2.0 ** -np.ceil(np.log2(largest))
    equation = np.zeros(weight.shape[0], dtype=np.int8)
    equation[weight.shape[0] - equations :] = 1
    by_item = np.ascontiguousarray(weight.T, dtype=np.int64)
    return Rows(by_item * scale, by_item, scale, profit.astype(np.float64), profit, equation)


def root_node(rows: Rows, capacity: IntArray) -> Node:
    """Return the node where nothing is decided, with the basis of slacks."""
    n, m = rows.column.shape
    node = Node(
        np.arange(n, dtype=np.int32),
        np.array([n, 0, 0, 0, 0], dtype=np.int64),
        np.full(n, UNDECIDED, dtype=np.int8),
        np.full(n + m, AT_LOWER, dtype=np.int8),
        np.arange(n, n + m, dtype=np.int32),
        np.eye(m),
        capacity * rows.scale,
        capacity.astype(np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(n),
        np.zeros(n),
        np.array([np.inf]),
    )
    node.place[n:] = BASIC
    return node


def copy_node(node: Node) -> Node:
    """Return a node that shares nothing with another."""
    return Node._make(field.copy() for field in node)


def make_levels(node: Node) -> Levels:
    """Return room for the levels below a node; each decides at least one free item."""
    depth = int(node.counts[FREE]) + 1
    kept = [getattr(node, name) for name in Levels._fields[2:]]
    room = [np.zeros((depth, *field.shape), dtype=field.dtype) for field in kept]
    return Levels(np.zeros(depth, dtype=np.int32), np.zeros(depth, dtype=np.int8), *room)


def node_at(node: Node, levels: Levels, depth: int) -> Node:
    """Return a copy of the node at a level, without the decision made there."""
    fresh = copy_node(node)
    for name in Levels._fields[2:]:
        getattr(fresh, name)[...] = getattr(levels, name)[depth]
    return fresh
