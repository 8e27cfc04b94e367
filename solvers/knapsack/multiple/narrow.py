"""Making a node smaller: what is too dear goes, and prices are raised until it is.

Patterns beyond the budget of slack or of waste go, items that no pattern holds any more are left
out and paid for, and where an item is left out, so are patterns that would be better with it
(Martello and Toth's dominance, as in Fukunaga, "A branch-and-bound algorithm for hard multiple
knapsack problems", 2011, section 4). A few steps along subgradients fit prices to the node.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.node import (
    CHOSEN,
    FREE,
    KIND,
    LENGTH,
    OUTSIDE,
    PRICE,
    PROFIT,
    SCALE,
    SIZE,
    SLACK,
    SPARE,
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

STEPS, STEP, SHORTER = 5, 1.0, 0.7
"""Steps along subgradients at a node, the first one's length as a part of Polyak's, and by what it
is multiplied where a step led nowhere."""


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
    """Find the smallest slack and waste of each kind, and how many patterns hold an item.

    Slacks are those at the raised prices; ``least_of`` (3, t) gets the pattern besides.
    """
    n = cover.good.shape[1]
    begin = stack.node[level, START]
    for t in range(least_of.shape[1]):
        least_of[0, t] = least_of[1, t] = np.int64(1) << 62
    for i in range(holding.size):
        holding[i] = 0
    for place in range(begin, begin + stack.node[level, SIZE]):
        p = stack.active[place]
        t = cover.pattern[KIND, p]
        slack = cover.pattern[SLACK, p]
        for k in range(cover.pattern[LENGTH, p]):
            i = cover.item[p, k]
            holding[i] += 1
            slack -= stack.raised[level, i]
        holding[n + t] += 1
        least_of[1, t] = min(least_of[1, t], cover.pattern[WASTE, p])
        if slack < least_of[0, t]:
            least_of[0, t], least_of[2, t] = slack, p


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
def _least(cover: Cover, stack: Stack, level: int, least_of: IntArray) -> tuple[int, int]:
    """Return what a node costs and wastes at least."""
    least, wasted = stack.node[level, SPENT], stack.node[level, WASTED]
    for i in range(cover.good.shape[1]):
        if stack.state[level, i] == FREE:
            least += stack.raised[level, i]
    for t in range(least_of.shape[1]):
        if stack.left[level, t] > 0:
            least += stack.left[level, t] * least_of[0, t]
            wasted += stack.left[level, t] * least_of[1, t]
    return int(least), int(wasted)


@compiled
def _raise_prices(
    cover: Cover, stack: Stack, level: int, budget: int, least_of: IntArray, holding: IntArray
) -> int:
    """Change prices so that the node costs more, along subgradients; return what it costs at least.

    An item that several of the cheapest patterns hold becomes dearer, one that none holds cheaper,
    until every knapsack wants other items. No price exceeds what leaving the item out costs.
    """
    n = cover.good.shape[1]
    best, _ = _least(cover, stack, level, least_of)
    kept, slope = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    raised = stack.raised
    for i in range(n):
        kept[i] = raised[level, i]
    now, length = best, STEP
    for _ in range(STEPS):
        norm = 0
        for i in range(n):
            slope[i] = -1 if stack.state[level, i] == FREE else 0
        for t in range(least_of.shape[1]):
            p = least_of[2, t]
            for k in range(cover.pattern[LENGTH, p]):
                slope[cover.item[p, k]] += stack.left[level, t]
        for i in range(n):
            norm += slope[i] ** 2
        if norm == 0 or best > budget:
            break
        size = length * (float(budget) + 1.0 - float(now)) / norm
        for i in range(n):
            changed = raised[level, i] - np.int64(size * slope[i])
            raised[level, i] = min(changed, cover.good[PRICE, i])
        _count_patterns(cover, stack, level, least_of, holding)
        now, _ = _least(cover, stack, level, least_of)
        if now > best:
            best = now
            for i in range(n):
                kept[i] = raised[level, i]
        else:
            length *= SHORTER
    for i in range(n):
        raised[level, i] = kept[i]
    _count_patterns(cover, stack, level, least_of, holding)
    return int(best)


@compiled
def _keep_cheap(
    cover: Cover,
    stack: Stack,
    level: int,
    limits: tuple[int, int],
    least_of: IntArray,
    dropped: IntArray,
) -> bool:
    """Remove patterns beyond limits of slack and waste, or better with an item that was dropped.

    Return whether there were any.
    """
    active, begin = stack.active, stack.node[level, START]
    kept = begin
    for place in range(begin, begin + stack.node[level, SIZE]):
        p = active[place]
        t = cover.pattern[KIND, p]
        slack = cover.pattern[SLACK, p]
        for k in range(cover.pattern[LENGTH, p]):
            slack -= stack.raised[level, cover.item[p, k]]
        keep = slack - least_of[0, t] <= limits[0]
        keep &= cover.pattern[WASTE, p] - least_of[1, t] <= limits[1]
        k = 0
        while keep and k < dropped.size:
            keep = not _is_better_with(cover, p, dropped[k])
            k += 1
        if keep:
            active[kept] = p
            kept += 1
    changed = kept < begin + stack.node[level, SIZE]
    stack.node[level, SIZE] = kept - begin
    return bool(changed)


@compiled
def propagate(
    cover: Cover,
    stack: Stack,
    level: int,
    control: IntArray,
    least_of: IntArray,
    holding: IntArray,
) -> int:
    """Remove patterns until none is too dear; return what the node costs at least, or -1.

    ``least_of`` (3, t) gets the smallest slack and waste of each kind and the pattern of least
    slack, ``holding`` (n + t,) the number of patterns of each item and kind.
    """
    n = cover.good.shape[1]
    budget = control[TOTAL] - control[SCALE] * control[TARGET]
    dropped = np.empty(n, dtype=np.int64)
    to_raise = True
    while True:
        _count_patterns(cover, stack, level, least_of, holding)
        count = _leave_out(cover, stack, level, holding, dropped)
        if count < 0:
            return -1
        for t in range(least_of.shape[1]):
            if stack.left[level, t] > 0 and holding[n + t] == 0:
                return -1
        least, wasted = _least(cover, stack, level, least_of)
        if least > budget or wasted > control[SPARE]:
            return -1
        limits = budget - least, control[SPARE] - wasted
        if _keep_cheap(cover, stack, level, limits, least_of, dropped[:count]):
            continue
        if not to_raise or stack.left[level, least_of.shape[1]] == 0:
            return int(least)
        to_raise = False
        if _raise_prices(cover, stack, level, budget, least_of, holding) > budget:
            return -1
