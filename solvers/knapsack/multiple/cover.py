"""Choosing listed patterns that pack items at most once: a search within a budget of slack.

A packing is worth the bound less the slacks of its patterns and the prices of the items left out,
so that a target leaves a budget; and what it weighs at least leaves one of waste. Every node is
made smaller first (``narrow``), and dropped where its surrogate problem, one knapsack with all the
room left, is worth too little. It then branches on the item or kind of knapsack with the fewest
patterns: with the cheapest of them, and without it.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.narrow import propagate
from solvers.knapsack.multiple.node import (
    CHOSEN,
    FREE,
    KIND,
    LENGTH,
    LEVEL,
    NODES,
    PACKED,
    PRICE,
    PROFIT,
    SCALE,
    SIZE,
    SLACK,
    SPENT,
    START,
    TARGET,
    TOTAL,
    WASTE,
    WASTED,
    WEIGHT,
    Cover,
    Stack,
)
from solvers.knapsack.multiple.subset_sum import best_subset

SURROGATE_NODES = 300
"""Nodes of a search for the surrogate problem of a node; without its end nothing is concluded."""

FINISHED, PAUSED, NO_ROOM = range(3)
"""Why :func:`search` returns."""


@compiled
def _branching_place(
    cover: Cover, stack: Stack, level: int, slack: int, least_of: IntArray, holding: IntArray
) -> int:
    """Return the place of the pattern to branch on: of the scarcest item or kind, the cheapest."""
    n = cover.good.shape[1]
    scarce, fewest = -1, np.int64(1) << 62
    for i in range(n):
        # an item that may be left out has that as one more choice
        if stack.state[level, i] == FREE:
            choices = holding[i] + (cover.good[PRICE, i] <= slack)
            if choices < fewest:
                scarce, fewest = i, choices
    for t in range(cover.capacity.size):
        if stack.left[level, t] > 0 and holding[n + t] < fewest:
            scarce, fewest = n + t, holding[n + t]
    begin = stack.node[level, START]
    best, least = -1, np.int64(1) << 62
    for place in range(begin, begin + stack.node[level, SIZE]):
        p = stack.active[place]
        over = cover.pattern[SLACK, p] - least_of[0, cover.pattern[KIND, p]]
        for k in range(cover.pattern[LENGTH, p]):
            over -= stack.raised[level, cover.item[p, k]]
        if over >= least:
            continue
        holds = cover.pattern[KIND, p] == scarce - n
        k = 0
        while not holds and k < cover.pattern[LENGTH, p]:
            holds = cover.item[p, k] == scarce
            k += 1
        if holds:
            best, least = place, over
    return int(best)


@compiled
def _push(cover: Cover, stack: Stack, level: int, place: int) -> bool:
    """Choose a pattern in a node below, and take it out of this one; False without room."""
    active, begin = stack.active, stack.node[level, START]
    p = active[place]
    end = begin + stack.node[level, SIZE]
    active[place] = active[end - 1]
    stack.node[level, SIZE] -= 1
    child, kind = level + 1, cover.pattern[KIND, p]
    if end + stack.node[level, SIZE] + 1 > active.size:
        return False
    stack.node[child, START], stack.node[child, CHOSEN] = end, p
    stack.node[child, SPENT] = stack.node[level, SPENT] + cover.pattern[SLACK, p]
    stack.node[child, WASTED] = stack.node[level, WASTED] + cover.pattern[WASTE, p]
    for t in range(stack.left.shape[1]):
        stack.left[child, t] = stack.left[level, t]
    stack.left[child, kind] -= 1
    stack.left[child, cover.capacity.size] -= 1
    state = stack.state
    for i in range(state.shape[1]):
        state[child, i] = state[level, i]
        stack.raised[child, i] = stack.raised[level, i]
    for k in range(cover.pattern[LENGTH, p]):
        state[child, cover.item[p, k]] = PACKED
    size = 0
    exhausted = stack.left[child, kind] == 0
    for source in range(begin, end - 1):
        other = active[source]
        keep = not (exhausted and cover.pattern[KIND, other] == kind)
        k = 0
        while keep and k < cover.pattern[LENGTH, other]:
            keep = state[child, cover.item[other, k]] != PACKED
            k += 1
        if keep:
            active[end + size] = other
            size += 1
    if not exhausted and cover.pattern[LENGTH, p] == 0:  # several knapsacks may stay empty
        active[end + size] = p
        size += 1
    stack.node[child, SIZE] = size
    return True


@compiled
def _falls_short(cover: Cover, stack: Stack, level: int, target: int, least_of: IntArray) -> bool:
    """Whether the surrogate problem of a node, one knapsack with all room that may be used, does.

    Every knapsack wastes what the fullest of its patterns does at least.
    """
    n = cover.good.shape[1]
    profit, weight = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    state = stack.state
    count, packed, room, total = 0, np.int64(0), np.int64(0), np.int64(0)
    for i in range(n):
        if state[level, i] == PACKED:
            packed += cover.good[PROFIT, i]
        elif state[level, i] == FREE:
            profit[count], weight[count] = cover.good[PROFIT, i], cover.good[WEIGHT, i]
            total += cover.good[PROFIT, i]
            count += 1
    for t in range(cover.capacity.size):
        if stack.left[level, t] > 0:
            room += stack.left[level, t] * (cover.capacity[t] - least_of[1, t])
    floor = target - 1 - packed
    if floor < 0 or total <= floor:
        return bool(total <= floor)
    chosen = np.zeros(count, dtype=np.bool_)
    found, finished = best_subset(profit, weight, count, room, floor, SURROGATE_NODES, chosen)
    return bool(finished and found <= floor)


@compiled
def search(cover: Cover, stack: Stack, control: IntArray, found: IntArray, nodes: int) -> int:
    """Search for choices of patterns worth ``control[TARGET]``; return why it ended.

    ``found`` gets the patterns of the best one, and -1 behind them.
    """
    kinds, n = cover.capacity.size, cover.good.shape[1]
    least_of = np.zeros((3, kinds), dtype=np.int64)
    holding = np.empty(n + kinds, dtype=np.int64)
    for _ in range(nodes):
        level = control[LEVEL]
        if level < 0:
            return FINISHED
        control[NODES] += 1
        least = propagate(cover, stack, level, control, least_of, holding)
        last = stack.left[level, kinds] == 0
        target = control[TARGET]
        if least < 0 or (not last and _falls_short(cover, stack, level, target, least_of)):
            control[LEVEL] -= 1
            continue
        if last:
            control[TARGET] = (control[TOTAL] - least) // control[SCALE] + 1
            for k in range(found.size):
                found[k] = stack.node[k + 1, CHOSEN] if k < level else -1
            control[LEVEL] -= 1
            continue
        budget = control[TOTAL] - control[SCALE] * control[TARGET]
        place = _branching_place(cover, stack, level, budget - least, least_of, holding)
        if not _push(cover, stack, level, place):
            return NO_ROOM
        control[LEVEL] += 1
    return PAUSED
