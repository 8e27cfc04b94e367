"""Depth-first branch and bound below one node, with a relaxation at every node.

A node's duals settle every item whose reduced cost exceeds what the bound has over the target, so
that after a few decisions hardly more items are free than there are rows.
"""

from __future__ import annotations

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.items import IntArray
from solvers.knapsack.rows.branching import branching_item
from solvers.knapsack.rows.levels import restore, save
from solvers.knapsack.rows.node import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    DEPTH,
    FREE,
    NODES,
    PROFIT,
    UNDECIDED,
    Int8Array,
    Levels,
    Node,
    Rows,
)
from solvers.knapsack.rows.relaxation import (
    CUT_OFF,
    OPTIMAL,
    reoptimise,
)

HALF = 0.5
"""Where values are rounded up."""

ROUNDING = 1e-9
"""Part of the bound by which a reduced cost must exceed what the bound has over the target."""

FINISHED, PAUSED = range(2)
"""Why :func:`explore` returns: the tree is done, or the nodes it was given are."""


@inlined
def decide(rows: Rows, node: Node, place_in_list: int, choice: int) -> None:
    """Give a value to the free item at a place of the list; the last one takes its place there."""
    j = node.free[place_in_list]
    last = node.counts[FREE] - 1
    node.free[place_in_list] = node.free[last]
    node.counts[FREE] = last
    node.value[j] = choice
    if choice == 1:
        node.counts[PROFIT] += rows.profit[j]
        for i in range(rows.scale.size):
            node.residual[i] -= rows.weight[j, i]
    if node.place[j] == BASIC or (node.place[j] == AT_UPPER) == (choice == 1):
        return
    node.place[j] = AT_UPPER if choice == 1 else AT_LOWER
    sign = 1.0 if choice == 1 else -1.0
    for i in range(rows.scale.size):
        node.side[i] -= sign * rows.column[j, i]


@compiled
def decide_item(rows: Rows, node: Node, item: int, choice: int) -> None:
    """Give a value to a free item."""
    for f in range(node.counts[FREE]):
        if node.free[f] == item:
            decide(rows, node, f, choice)
            return


@compiled
def settle(rows: Rows, node: Node, target: int) -> bool:
    """Decide items that have one value left; return whether the relaxation has changed.

    By reduced costs: with the other value the bound falls below the target. By capacities: the item
    does not fit any more.
    """
    m = rows.scale.size
    slack = node.bound[0] - target
    slack += ROUNDING * max(1.0, abs(node.bound[0]))
    free, reduced, weight, residual = node.free, node.reduced, rows.weight, node.residual
    changed = False
    f = 0
    while f < node.counts[FREE]:
        j = free[f]
        choice = UNDECIDED
        if abs(reduced[j]) > slack:
            choice = 1 if reduced[j] > 0.0 else 0
        else:
            for i in range(m):
                if weight[j, i] > residual[i]:
                    choice = 0
                    break
        if choice == UNDECIDED:
            f += 1
            continue
        if node.place[j] != (AT_UPPER if choice == 1 else AT_LOWER):
            changed = True
        decide(rows, node, f, choice)
    return changed


@compiled
def overfull(rows: Rows, node: Node) -> bool:
    """Whether the items decided alone break a capacity, or cannot meet an equation's count."""
    for i in range(rows.scale.size):
        if node.residual[i] < 0:
            return True
        if rows.equation[i] and node.counts[FREE] == 0 and node.residual[i] != 0:
            return True
    return False


@compiled
def _values_by_item(rows: Rows, node: Node) -> int:
    """Write the values of free items into ``row``; return the profit where they are rounded."""
    for k in range(node.basis.size):
        if node.basis[k] < node.row.size:
            node.row[node.basis[k]] = node.activity[k]
    profit = node.counts[PROFIT]
    for f in range(node.counts[FREE]):
        j = node.free[f]
        if node.place[j] != BASIC:
            node.row[j] = 1.0 if node.place[j] == AT_UPPER else 0.0
        if node.row[j] > HALF:
            profit += rows.profit[j]
    return int(profit)


@compiled
def keep_if_better(rows: Rows, node: Node, best: IntArray, packing: Int8Array) -> bool:
    """Round the relaxation's point; keep it if it fits exactly and is worth at least ``best[0]``.

    ``best[0]`` is the profit wanted and becomes one more than what was found. Return whether the
    point is a packing that fits.
    """
    profit = _values_by_item(rows, node)
    for i in range(rows.scale.size):
        left = node.residual[i]
        for f in range(node.counts[FREE]):
            j = node.free[f]
            if node.row[j] > HALF:
                left -= rows.weight[j, i]
        if left < 0 or (rows.equation[i] and left != 0):
            return False
    if profit >= best[0]:
        best[0] = profit + 1
        for j in range(packing.size):
            packing[j] = 1 if node.value[j] == 1 else 0
        for f in range(node.counts[FREE]):
            j = node.free[f]
            packing[j] = 1 if node.row[j] > HALF else 0
    return True


@compiled
def treat(rows: Rows, node: Node, best: IntArray, packing: Int8Array) -> tuple[int, int]:
    """Solve a node; return the item to branch on and its first value, or -1 if it is done."""
    while True:
        if overfull(rows, node):
            return -1, 0
        status = reoptimise(rows, node, best[0])
        if status == CUT_OFF:
            return -1, 0
        changed = settle(rows, node, best[0])
        if overfull(rows, node):
            return -1, 0
        if changed:
            continue
        item, first = -1, 0
        if status == OPTIMAL:
            item, first = branching_item(rows, node)
            if item < 0 and keep_if_better(rows, node, best, packing):
                return -1, 0
        elif node.counts[FREE] == 0 and keep_if_better(rows, node, best, packing):
            return -1, 0
        if item < 0:  # digits are lost: any decision makes the node smaller
            if node.counts[FREE] == 0:
                return -1, 0
            item, first = node.free[0], 0
        return item, first


@compiled
def explore(
    rows: Rows,
    node: Node,
    levels: Levels,
    best: IntArray,
    packing: Int8Array,
    nodes: int,
    stop: Int8Array,
) -> int:
    """Search below a node for packings worth ``best[0]`` and more, for so many nodes at a time.

    ``count[DEPTH]`` levels are open. The search pauses between nodes where ``stop[0]`` is set.
    """
    for _ in range(nodes):
        if stop[0] != 0:
            return PAUSED
        node.counts[NODES] += 1
        item, first = treat(rows, node, best, packing)
        depth = node.counts[DEPTH]
        if item >= 0:
            save(node, levels, depth)
            levels.item[depth] = item
            levels.other[depth] = 1 - first
            node.counts[DEPTH] = depth + 1
            decide_item(rows, node, item, first)
            continue
        while depth > 0:
            depth -= 1
            if levels.other[depth] != UNDECIDED and levels.bound[depth, 0] >= best[0]:
                break
            levels.other[depth] = UNDECIDED
        else:
            node.counts[DEPTH] = 0
            return FINISHED
        restore(node, levels, depth)
        node.counts[DEPTH] = depth
        decide_item(rows, node, levels.item[depth], levels.other[depth])
    return PAUSED
