"""Trees of the search: one for each number of items packed, grown a while at a time and cut in two.

The relaxation packs some number of items and a fraction. Asking for a whole number k of them cuts
it off, and each k has its own duals, bound and reduced costs (Vimont, Boussier, Vasquez, "Reduced
costs propagation in an efficient implicit enumeration for the 01 multidimensional knapsack
problem", 2008, section 3). Only the few k whose bound exceeds the best packing are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.knapsack.items import IntArray
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack
from solvers.native.knapsack_multidimensional_tree import decide_item, explore, reoptimise

# A node of the search: a problem with some items decided, and the basis of its relaxation.
#
# The relaxation is
#
#     maximise profit'x   subject to   A x + s = b,   0 <= x <= 1,   s >= 0  (s = 0 in an equation)
#
# with few rows and many columns. Every column of x has two bounds, so the basis of slacks with
# each x at the bound that its profit asks for is dual feasible: the dual simplex method needs no
# first phase, not here and not after any decision. Rows are scaled by powers of two, which rounds
# nothing, and capacities left are kept in whole numbers as well, because those decide what fits.


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
        free=np.arange(n, dtype=np.int32),
        counts=np.array([n, 0, 0, 0, 0], dtype=np.int64),
        value=np.full(n, UNDECIDED, dtype=np.int8),
        place=np.full(n + m, AT_LOWER, dtype=np.int8),
        basis=np.arange(n, n + m, dtype=np.int32),
        inverse=np.eye(m),
        side=capacity * rows.scale,
        residual=capacity.astype(np.int64),
        dual=np.zeros(m),
        activity=np.zeros(m),
        reduced=np.zeros(n),
        row=np.zeros(n),
        bound=np.array([np.inf]),
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


PASSES, FREE_ITEMS = 4, 40
"""Passes over the free items of a node and its basis, and how many items are free in the mean."""

LEAST_NODES = 20
"""Nodes by which a tree grows at least."""


@dataclass(frozen=True, eq=False)
class Subproblems:
    """The sub-problems that are open: rows (the last one counts items) and a node for each."""

    rows: Rows
    nodes: tuple[Node, ...]


def largest_count(problem: MultidimensionalKnapsack) -> int:
    """Return how many items the row that allows fewest has room for, lightest first."""
    weights = np.cumsum(np.sort(problem.weight, axis=1), axis=1)
    return int((weights <= problem.capacity[:, None]).sum(axis=1).min())


def by_count(
    problem: MultidimensionalKnapsack, target: int, progress: Progress
) -> Subproblems | None:
    """Return the sub-problems that may hold a packing worth ``target``, the best bound first.

    None where ``progress`` says stop before all are known.
    """
    weight = np.vstack([problem.weight, np.ones((1, problem.num_items), dtype=np.int64)])
    rows = make_rows(problem.profit, weight, equations=1)
    free = make_rows(problem.profit, problem.weight)
    start = root_node(free, problem.capacity)
    if reoptimise(free, start, target) == CUT_OFF:
        return Subproblems(rows, ())
    most = largest_count(problem)
    middle = min(int((start.place[: problem.num_items] == AT_UPPER).sum()), most)
    found = []
    for step, first in ((1, middle), (-1, middle - 1)):
        count = first
        node = root_node(rows, np.append(problem.capacity, count))
        while 0 <= count <= most:
            if progress.should_stop() is not None:
                return None
            status = reoptimise(rows, node, target)
            if status != CUT_OFF:
                found.append(node)
            elif node.bound[0] < target and node.dual[-1] * step <= 0.0:
                break  # the same duals cut off all that are farther away
            count += step
            node = _next_count(rows, node, step)
    found.sort(key=lambda node: -float(node.bound[0]))
    return Subproblems(rows, tuple(found))


def _next_count(rows: Rows, node: Node, step: int) -> Node:
    """Return the node for ``step`` items more, with the basis of this one: a few pivots away."""
    further = copy_node(node)
    further.residual[-1] += step
    further.side[-1] += step * rows.scale[-1]
    return further


def core_threshold(node: Node, size: int) -> float:
    """Return the reduced cost that leaves about ``size`` items free."""
    costs = np.sort(np.abs(node.reduced))
    return float(costs[min(size, costs.size - 1)])


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
