"""Depth-first branch and bound below one node, with a relaxation at every node.

A node's duals settle every item whose reduced cost exceeds what the bound has over the target, so
that after a few decisions hardly more items are free than there are rows. The item to branch on
is basic and fractional; of those, the one whose nearest ratios promise the largest loss either way.
"""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.rows.node import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    DEPTH,
    FREE,
    NODES,
    PIVOTS,
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
    SMALLEST_PIVOT,
    STUCK,
    reoptimise,
)

FRACTION = 1e-7
"""Values nearer to a whole number than this are whole; whether a packing fits is decided exactly."""

MOST_CANDIDATES = 8
"""Fractional items whose losses are compared: more rows would make that dearer than a pivot."""

LEAST_LOSS = 1e-6
"""Factor of a product of losses where one of them is zero."""

FINISHED, PAUSED = range(2)
"""Why :func:`explore` returns: the tree is done, or the nodes it was given are."""


@compiled
def decide(rows: Rows, node: Node, place_in_list: int, choice: int) -> None:
    """Give a value to the free item at a place of the list; the last one takes its place there."""
    m = rows.scale.size
    j = node.free[place_in_list]
    last = node.count[FREE] - 1
    node.free[place_in_list] = node.free[last]
    node.count[FREE] = last
    node.value[j] = choice
    if choice == 1:
        node.count[PROFIT] += rows.profit[j]
        for i in range(m):
            node.residual[i] -= rows.weight[j, i]
    if node.place[j] == AT_LOWER and choice == 1:
        node.place[j] = AT_UPPER
        for i in range(m):
            node.side[i] -= rows.column[j, i]
    elif node.place[j] == AT_UPPER and choice == 0:
        node.place[j] = AT_LOWER
        for i in range(m):
            node.side[i] += rows.column[j, i]


@compiled
def decide_item(rows: Rows, node: Node, item: int, choice: int) -> None:
    """Give a value to a free item."""
    for f in range(node.count[FREE]):
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
    slack += 1e-9 * max(1.0, abs(node.bound[0]))
    changed = False
    f = 0
    while f < node.count[FREE]:
        j = node.free[f]
        choice = UNDECIDED
        if abs(node.reduced[j]) > slack:
            choice = 1 if node.reduced[j] > 0.0 else 0
        else:
            for i in range(m):
                if rows.weight[j, i] > node.residual[i]:
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
        if rows.equation[i] and node.count[FREE] == 0 and node.residual[i] != 0:
            return True
    return False


@compiled
def keep_if_better(rows: Rows, node: Node, best: IntArray, packing: Int8Array) -> bool:
    """Round the relaxation's point; keep it if it fits exactly and is worth at least ``best[0]``.

    ``best[0]`` is the profit wanted and becomes one more than what was found. Return whether the
    point is a packing that fits.
    """
    m = rows.scale.size
    profit = node.count[PROFIT]
    nf = node.count[FREE]
    for k in range(m):  # values of basic items, where they can be read by item
        if node.basis[k] < node.reduced.size:
            node.row[node.basis[k]] = node.activity[k]
    for i in range(m):
        left = node.residual[i]
        for f in range(nf):
            j = node.free[f]
            if node.place[j] == AT_UPPER or (node.place[j] == BASIC and node.row[j] > 0.5):
                left -= rows.weight[j, i]
        if left < 0 or (rows.equation[i] and left != 0):
            return False
    for f in range(nf):
        j = node.free[f]
        if node.place[j] == AT_UPPER or (node.place[j] == BASIC and node.row[j] > 0.5):
            profit += rows.profit[j]
    if profit >= best[0]:
        best[0] = profit + 1
        for j in range(packing.size):
            packing[j] = 1 if node.value[j] == 1 else 0
        for f in range(nf):
            j = node.free[f]
            if node.place[j] == AT_UPPER or (node.place[j] == BASIC and node.row[j] > 0.5):
                packing[j] = 1
    return True


@compiled
def branching_item(rows: Rows, node: Node) -> tuple[int, int]:
    """Return the item to decide and the value to try first; item -1 where all are whole.

    A loss is what the first pivot of the dual simplex method would take off the bound.
    """
    n, m = rows.column.shape
    best, chosen, first, looked = -1.0, -1, 0, 0
    for k in range(m):
        j = node.basis[k]
        if j >= n or node.value[j] != UNDECIDED:
            continue
        value = node.activity[k]
        if value < FRACTION or value > 1.0 - FRACTION:
            continue
        if looked >= MOST_CANDIDATES:
            break
        looked += 1
        down, up = 1e300, 1e300
        for f in range(node.count[FREE]):
            other = node.free[f]
            if node.place[other] == BASIC:
                continue
            entry = 0.0
            for i in range(m):
                entry += node.inverse[k, i] * rows.column[other, i]
            if abs(entry) < SMALLEST_PIVOT:
                continue
            ratio = abs(node.reduced[other] / entry)
            if (entry > 0.0) == (node.place[other] == AT_LOWER):
                down = min(down, ratio)
            else:
                up = min(up, ratio)
        for i in range(m):
            entry = node.inverse[k, i]
            if node.place[n + i] == BASIC or rows.equation[i] or abs(entry) < SMALLEST_PIVOT:
                continue
            if entry > 0.0:
                down = min(down, node.dual[i] / entry)
            else:
                up = min(up, -node.dual[i] / entry)
        down, up = min(down, 1e12) * value, min(up, 1e12) * (1.0 - value)
        score = max(down, LEAST_LOSS) * max(up, LEAST_LOSS)
        if score > best:
            best, chosen = score, j
            first = 0 if down < up else 1
    return chosen, first


@compiled
def save(node: Node, levels: Levels, depth: int) -> None:
    """Keep a node at a level."""
    n, m = node.value.size, node.basis.size
    for f in range(node.count[FREE]):
        levels.free[depth, f] = node.free[f]
    for j in range(n):
        levels.value[depth, j] = node.value[j]
    for j in range(n + m):
        levels.place[depth, j] = node.place[j]
    for i in range(m):
        levels.basis[depth, i] = node.basis[i]
        levels.side[depth, i] = node.side[i]
        levels.residual[depth, i] = node.residual[i]
        for k in range(m):
            levels.inverse[depth, i, k] = node.inverse[i, k]
    levels.bound[depth, 0] = node.bound[0]
    levels.count[depth, FREE] = node.count[FREE]
    levels.count[depth, PIVOTS] = node.count[PIVOTS]
    levels.count[depth, PROFIT] = node.count[PROFIT]


@compiled
def restore(node: Node, levels: Levels, depth: int) -> None:
    """Go back to the node at a level."""
    n, m = node.value.size, node.basis.size
    for f in range(levels.count[depth, FREE]):
        node.free[f] = levels.free[depth, f]
    for j in range(n):
        node.value[j] = levels.value[depth, j]
    for j in range(n + m):
        node.place[j] = levels.place[depth, j]
    for i in range(m):
        node.basis[i] = levels.basis[depth, i]
        node.side[i] = levels.side[depth, i]
        node.residual[i] = levels.residual[depth, i]
        for k in range(m):
            node.inverse[i, k] = levels.inverse[depth, i, k]
    node.bound[0] = levels.bound[depth, 0]
    node.count[FREE] = levels.count[depth, FREE]
    node.count[PIVOTS] = levels.count[depth, PIVOTS]
    node.count[PROFIT] = levels.count[depth, PROFIT]


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
        elif node.count[FREE] == 0 and keep_if_better(rows, node, best, packing):
            return -1, 0
        if item < 0:  # digits are lost: any decision makes the node smaller
            if node.count[FREE] == 0:
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
        node.count[NODES] += 1
        item, first = treat(rows, node, best, packing)
        depth = node.count[DEPTH]
        if item >= 0:
            save(node, levels, depth)
            levels.item[depth] = item
            levels.other[depth] = 1 - first
            node.count[DEPTH] = depth + 1
            decide_item(rows, node, item, first)
            continue
        while depth > 0:
            depth -= 1
            if levels.other[depth] != UNDECIDED and levels.bound[depth, 0] >= best[0]:
                break
            levels.other[depth] = UNDECIDED
        else:
            node.count[DEPTH] = 0
            return FINISHED
        restore(node, levels, depth)
        node.count[DEPTH] = depth
        decide_item(rows, node, levels.item[depth], levels.other[depth])
    return PAUSED


@compiled
def open_bound(node: Node, levels: Levels) -> float:
    """Return a bound on what a paused search may still find."""
    bound = node.bound[0]
    for depth in range(node.count[DEPTH]):
        if levels.other[depth] != UNDECIDED:
            bound = max(bound, levels.bound[depth, 0])
    return bound
