"""The item to branch on: of those that are basic and fractional, the one with the largest losses.

A loss is what the first pivot of the dual simplex method would take off the bound after a decision
(Driebeek, "An algorithm for the solution of mixed integer programming problems", 1966).
"""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.knapsack.rows.basis import SMALLEST_PIVOT
from solvers.knapsack.rows.node import AT_LOWER, BASIC, FREE, UNDECIDED, Node, Rows

FRACTION = 1e-7
"""Values nearer to a whole number than this are whole; what fits is decided exactly."""

MOST_CANDIDATES = 8
"""Fractional items whose losses are compared: more would make that dearer than a pivot."""

LEAST_LOSS = 1e-6
"""Factor of a product of losses where one of them is zero."""

LARGEST_RATIO = 1e12
"""Stands for a decision that no pivot can answer: nothing fits then."""


@compiled
def branching_item(rows: Rows, node: Node) -> tuple[int, int]:
    """Return the item to decide and the value to try first; item -1 where all are whole."""
    n, m = rows.column.shape
    best, chosen, first, looked = -1.0, -1, 0, 0
    for k in range(m):
        j = node.basis[k]
        if j >= n or node.value[j] != UNDECIDED:
            continue
        value = node.activity[k]
        if value < FRACTION or value > 1.0 - FRACTION:
            continue
        down, up = _ratios(rows, node, k)
        down, up = down * value, up * (1.0 - value)
        score = max(down, LEAST_LOSS) * max(up, LEAST_LOSS)
        if score > best:
            best, chosen = score, j
            first = 0 if down < up else 1
        looked += 1
        if looked == MOST_CANDIDATES:
            break
    return chosen, first


@compiled
def _ratios(rows: Rows, node: Node, k: int) -> tuple[float, float]:
    """Return what a unit less and a unit more of a basic item costs, up to the first pivot."""
    n, m = rows.column.shape
    free, place, reduced = node.free, node.place, node.reduced
    inverse, column = node.inverse, rows.column
    down, up = LARGEST_RATIO, LARGEST_RATIO
    for f in range(node.counts[FREE]):
        j = free[f]
        if place[j] == BASIC:
            continue
        entry = 0.0
        for i in range(m):
            entry += inverse[k, i] * column[j, i]
        if abs(entry) < SMALLEST_PIVOT:
            continue
        ratio = abs(reduced[j] / entry)
        if (entry > 0.0) == (place[j] == AT_LOWER):
            down = min(down, ratio)
        else:
            up = min(up, ratio)
    for i in range(m):
        entry = inverse[k, i]
        if place[n + i] == BASIC or rows.equation[i] or abs(entry) < SMALLEST_PIVOT:
            continue
        if entry > 0.0:
            down = min(down, node.dual[i] / entry)
        else:
            up = min(up, -node.dual[i] / entry)
    return down, up
