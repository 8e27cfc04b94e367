"""Nodes kept at the levels of a depth-first search, to come back to."""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.knapsack.rows.node import DEPTH, FREE, PIVOTS, PROFIT, UNDECIDED, Levels, Node


@compiled
def save(node: Node, levels: Levels, depth: int) -> None:
    """Keep a node at a level."""
    n, m = node.value.size, node.basis.size
    free, value, place, basis = node.free, node.value, node.place, node.basis
    side, residual, inverse = node.side, node.residual, node.inverse
    kept_free, kept_value, kept_place = levels.free, levels.value, levels.place
    kept_basis, kept_side = levels.basis, levels.side
    kept_residual, kept_inverse = levels.residual, levels.inverse
    for f in range(node.counts[FREE]):
        kept_free[depth, f] = free[f]
    for j in range(n):
        kept_value[depth, j] = value[j]
    for j in range(n + m):
        kept_place[depth, j] = place[j]
    for i in range(m):
        kept_basis[depth, i] = basis[i]
        kept_side[depth, i] = side[i]
        kept_residual[depth, i] = residual[i]
        for k in range(m):
            kept_inverse[depth, i, k] = inverse[i, k]
    levels.bound[depth, 0] = node.bound[0]
    levels.counts[depth, FREE] = node.counts[FREE]
    levels.counts[depth, PIVOTS] = node.counts[PIVOTS]
    levels.counts[depth, PROFIT] = node.counts[PROFIT]


@compiled
def restore(node: Node, levels: Levels, depth: int) -> None:
    """Go back to the node at a level."""
    n, m = node.value.size, node.basis.size
    free, value, place, basis = node.free, node.value, node.place, node.basis
    side, residual, inverse = node.side, node.residual, node.inverse
    kept_free, kept_value, kept_place = levels.free, levels.value, levels.place
    kept_basis, kept_side = levels.basis, levels.side
    kept_residual, kept_inverse = levels.residual, levels.inverse
    for f in range(levels.counts[depth, FREE]):
        free[f] = kept_free[depth, f]
    for j in range(n):
        value[j] = kept_value[depth, j]
    for j in range(n + m):
        place[j] = kept_place[depth, j]
    for i in range(m):
        basis[i] = kept_basis[depth, i]
        side[i] = kept_side[depth, i]
        residual[i] = kept_residual[depth, i]
        for k in range(m):
            inverse[i, k] = kept_inverse[depth, i, k]
    node.bound[0] = levels.bound[depth, 0]
    node.counts[FREE] = levels.counts[depth, FREE]
    node.counts[PIVOTS] = levels.counts[depth, PIVOTS]
    node.counts[PROFIT] = levels.counts[depth, PROFIT]


@compiled
def open_bound(node: Node, levels: Levels) -> float:
    """Return a bound on what a paused search may still find."""
    bound = node.bound[0]
    for depth in range(node.counts[DEPTH]):
        if levels.other[depth] != UNDECIDED:
            bound = max(bound, levels.bound[depth, 0])
    return float(bound)
