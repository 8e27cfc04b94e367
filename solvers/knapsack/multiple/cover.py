"""Choosing listed patterns that pack items at most once: a search within a budget of slack.

A packing is worth the bound less the slacks of its patterns and the prices of the items left out,
so that a target leaves a budget. At every node, patterns that exceed it go, items that no pattern
holds any more are left out and paid for, and where an item is left out, so are patterns that would
be better with it (Martello and Toth's dominance, as in Fukunaga, "A branch-and-bound algorithm for
hard multiple knapsack problems", 2011, section 4). The node then branches on the item or kind of
knapsack with the fewest patterns: with the cheapest of them, and without it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.patterns import Int16Array
from solvers.knapsack.multiple.subset_sum import best_subset

Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]

SURROGATE_NODES = 300
"""Nodes of a search for the surrogate problem of a node; without its end nothing is concluded."""

FREE, PACKED, OUTSIDE = range(3)
"""What is known of an item."""

LENGTH, KIND, SLACK, WASTE = range(4)
"""Rows of ``pattern``."""

PROFIT, WEIGHT, PRICE = range(3)
"""Rows of ``good``."""

START, SIZE, CHOSEN, SPENT, WASTED = range(5)
"""Columns of ``node``."""

LEVEL, TARGET, NODES, TOTAL, SCALE, SPARE = range(6)
"""Places in ``control``: open levels, smallest profit of interest, nodes so far; the bound and what
it and slacks are multiplied by; the capacity that no packing of interest leaves unused."""

FINISHED, PAUSED, NO_ROOM = range(3)
"""Why :func:`search` returns."""


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
    fill, and their sum, ``state`` (levels, n) is what is known of items.
    """

    active: Int32Array
    node: IntArray
    left: IntArray
    state: Int8Array


def first_node(cover: Cover, count: IntArray) -> Stack:
    """Return a stack that holds the root; ``count`` has the knapsacks of each kind."""
    levels, patterns = int(count.sum()) + 2, cover.item.shape[0]
    stack = Stack(
        np.zeros(ROOM_PER_PATTERN * patterns + LEAST_ROOM, dtype=np.int32),
        np.zeros((levels, 5), dtype=np.int64),
        np.zeros((levels, count.size + 1), dtype=np.int64),
        np.zeros((levels, cover.good.shape[1]), dtype=np.int8),
    )
    stack.active[:patterns] = np.arange(patterns)
    stack.node[0, SIZE] = patterns
    stack.left[0] = np.append(count, count.sum())
    return stack


ROOM_PER_PATTERN, LEAST_ROOM = 6, 100_000
"""Places for the lists of patterns of all open nodes; they shrink quickly from one to the next."""


@compiled
def _is_better_with(cover: Cover, pattern: int, item: int) -> bool:
    """Whether a pattern could take an item that is left out, instead of one that is worth less.

    Ties are broken by weight and number, so that not each of two items bars the other.
    """
    waste = cover.pattern[WASTE, pattern]
    if waste >= cover.good[WEIGHT, item]:
        return True
    for k in range(cover.pattern[LENGTH, pattern]):
        other = cover.item[pattern, k]
        if waste + cover.good[WEIGHT, other] < cover.good[WEIGHT, item]:
            continue
        if cover.good[PROFIT, other] != cover.good[PROFIT, item]:
            if cover.good[PROFIT, other] < cover.good[PROFIT, item]:
                return True
        elif cover.good[WEIGHT, other] != cover.good[WEIGHT, item]:
            if cover.good[WEIGHT, other] > cover.good[WEIGHT, item]:
                return True
        elif other > item:
            return True
    return False


@compiled
def _count_patterns(
    cover: Cover, stack: Stack, level: int, least_of: IntArray, holding: IntArray
) -> None:
    """Find the smallest slack and waste of each kind, and how many patterns hold an item."""
    n = cover.good.shape[1]
    begin = stack.node[level, START]
    for t in range(least_of.shape[1]):
        least_of[0, t] = least_of[1, t] = np.int64(1) << 62
    for i in range(holding.size):
        holding[i] = 0
    for place in range(begin, begin + stack.node[level, SIZE]):
        p = stack.active[place]
        t = cover.pattern[KIND, p]
        least_of[0, t] = min(least_of[0, t], cover.pattern[SLACK, p])
        least_of[1, t] = min(least_of[1, t], cover.pattern[WASTE, p])
        holding[n + t] += 1
        for k in range(cover.pattern[LENGTH, p]):
            holding[cover.item[p, k]] += 1


@compiled
def _leave_out(cover: Cover, stack: Stack, level: int, holding: IntArray, dropped: IntArray) -> int:
    """Leave out, and pay for, items that no pattern holds; return their number.

    -1 where a pattern that was chosen would be better with one of them.
    """
    count = 0
    for i in range(cover.good.shape[1]):
        if stack.state[level, i] == FREE and holding[i] == 0:
            stack.state[level, i] = OUTSIDE
            stack.node[level, SPENT] += cover.good[PRICE, i]
            dropped[count] = i
            count += 1
    for k in range(count):
        for above in range(1, level + 1):
            if _is_better_with(cover, stack.node[above, CHOSEN], dropped[k]):
                return -1
    return count


@compiled
def _propagate(
    cover: Cover,
    stack: Stack,
    level: int,
    control: IntArray,
    least_of: IntArray,
    holding: IntArray,
) -> int:
    """Remove patterns until none is too dear; return what the node costs at least, or -1.

    ``least_of`` (2, t) gets the smallest slack and waste of each kind, ``holding`` (n + t,) the
    number of patterns of each item and kind.
    """
    n = cover.good.shape[1]
    begin = stack.node[level, START]
    active = stack.active
    budget = control[TOTAL] - control[SCALE] * control[TARGET]
    dropped = np.empty(n, dtype=np.int64)
    while True:
        _count_patterns(cover, stack, level, least_of, holding)
        count = _leave_out(cover, stack, level, holding, dropped)
        if count < 0:
            return -1
        least, wasted = stack.node[level, SPENT], stack.node[level, WASTED]
        for t in range(least_of.shape[1]):
            left = stack.left[level, t]
            if left > 0:
                if holding[n + t] == 0:
                    return -1
                least += left * least_of[0, t]
                wasted += left * least_of[1, t]
        if least > budget or wasted > control[SPARE]:
            return -1
        kept = begin
        for place in range(begin, begin + stack.node[level, SIZE]):
            p = active[place]
            t = cover.pattern[KIND, p]
            keep = least + cover.pattern[SLACK, p] - least_of[0, t] <= budget
            keep &= wasted + cover.pattern[WASTE, p] - least_of[1, t] <= control[SPARE]
            k = 0
            while keep and k < count:
                keep = not _is_better_with(cover, p, dropped[k])
                k += 1
            if keep:
                active[kept] = p
                kept += 1
        if kept == begin + stack.node[level, SIZE]:
            return int(least)
        stack.node[level, SIZE] = kept - begin


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
    least_of = np.empty((2, kinds), dtype=np.int64)
    holding = np.empty(n + kinds, dtype=np.int64)
    for _ in range(nodes):
        level = control[LEVEL]
        if level < 0:
            return FINISHED
        control[NODES] += 1
        least = _propagate(cover, stack, level, control, least_of, holding)
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
