"""Numba twins of ``nodes.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin
from solvers.knapsack.tree.kernels.nodes import (
    BEST,
    BEST_NODE,
    BLOCK,
    CAPACITY,
    ITEM,
    LENGTH,
)


@twin
def branch(count, items, item_profit, item_weight, weight, profit, slack, upper, control):
    """Leave an item out of every node."""
    k = control[ITEM]
    for e in prange(count):
        packed = k < slack[e]
        weight[count + e] = weight[e] - (item_weight[k] if packed else 0)
        profit[count + e] = profit[e] - (item_profit[k] if packed else 0)
        slack[count + e] = slack[e] if packed else slack[e] + 1
        if not packed:
            upper[e] = -1


@twin
def bound(count, items, item_profit, item_weight, weight, profit, slack, upper, lower, control):
    """Bound the new nodes."""
    capacity = control[CAPACITY]
    for e in prange(count):
        j = count + e
        w, p, i = weight[j], profit[j], slack[j]
        while i < items and w + item_weight[i] <= capacity:
            w += item_weight[i]
            p += item_profit[i]
            i += 1
        weight[j], profit[j], slack[j] = w, p, i
        upper[j] = p
        if i < items:
            upper[j] = p + (capacity - w) * item_profit[i] // item_weight[i]
        for later in range(i + 1, items):
            if w + item_weight[later] <= capacity:
                w += item_weight[later]
                p += item_profit[later]
        lower[j] = p


@twin
def best_of_blocks(count, lower, block_best, block_node):
    """Find the best new node of each block."""
    blocks = (count + BLOCK - 1) // BLOCK
    for b in prange(blocks):
        best = count + b * BLOCK
        for j in range(best + 1, min(count + (b + 1) * BLOCK, 2 * count)):
            if lower[j] > lower[best]:
                best = j
        block_best[b] = lower[best]
        block_node[b] = best


@twin
def best_of_all(blocks, block_best, block_node, control):
    """Find the best new node of all."""
    control[BEST_NODE] = -1
    for b in range(blocks):
        if block_best[b] > control[BEST]:
            control[BEST] = block_best[b]
            control[BEST_NODE] = block_node[b]


@twin
def count_promising(count, upper, block_count, control):
    """Count each block's promising nodes."""
    blocks = (2 * count + BLOCK - 1) // BLOCK
    for b in prange(blocks):
        found = 0
        for e in range(b * BLOCK, min((b + 1) * BLOCK, 2 * count)):
            if upper[e] > control[BEST]:
                found += 1
        block_count[b] = found


@twin
def places_of_blocks(blocks, block_count, control):
    """Turn counts into places."""
    total = 0
    for b in range(blocks):
        found = block_count[b]
        block_count[b] = total
        total += found
    control[LENGTH] = total


@twin
def gather(
    count,
    weight,
    profit,
    slack,
    upper,
    block_count,
    kept_weight,
    kept_profit,
    kept_slack,
    kept_upper,
    origin,
    control,
):
    """Copy promising nodes side by side."""
    blocks = (2 * count + BLOCK - 1) // BLOCK
    for b in prange(blocks):
        place = block_count[b]
        for e in range(b * BLOCK, min((b + 1) * BLOCK, 2 * count)):
            if upper[e] > control[BEST]:
                kept_weight[place] = weight[e]
                kept_profit[place] = profit[e]
                kept_slack[place] = slack[e]
                kept_upper[place] = upper[e]
                origin[place] = e
                place += 1
