"""Numba twin of ``subtrees.cu``: searches, each one node after the other."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.knapsack.rows.kernels.subtrees import (
    EVALUATIONS,
    IDLE,
    LANES,
    LONGEST_STEP,
)

UNDECIDED = -1

LENGTH, PROFIT, FREE, BOUND = range(4)
"""Places among the numbers of a search: entries of its trail, profit decided, free items, bound."""


@twin
def grow(
    weight, column, profit, capacity, ceiling, shift, unit, root, count, multiplier, trail, level,
    length, bound, waits, value, champion, visited, searches, items, rows, nodes, fraction,
):  # fmt: skip
    """Let every search treat its nodes."""
    by_item = column.reshape(items, rows)
    for s in prange(searches):
        visited[s], waits[s] = 0, -1
        if bound[s] == IDLE:
            continue
        here, mine = slice(s * items, (s + 1) * items), slice(s * rows, (s + 1) * rows)
        left = capacity.copy()
        left[rows - 1] = count[s]
        now = np.array([length[s], 0, items, root[s]])
        visited[s], value[s] = _search(
            by_item, profit, ceiling, shift, unit, root[s], left, multiplier[mine], trail[here],
            level[here], now, value[s], champion[s * LANES : (s + 1) * LANES], nodes, fraction,
        )  # fmt: skip
        length[s], bound[s] = now[LENGTH], now[BOUND]
        if bound[s] == IDLE:
            continue
        target = (value[s] + 1) << fraction
        for place in range(length[s]):
            if trail[s * items + place] & 1 and level[s * items + place] >= target:
                if waits[s] < 0:
                    waits[s] = place
                bound[s] = max(bound[s], level[s * items + place])


@twin
def share(
    giver, taker, root, count, multiplier, trail, level, length, bound, waits, pairs, items, rows,
):  # fmt: skip
    """Give values that wait to idle searches."""
    for pair in prange(pairs):
        a, b = giver[pair], taker[pair]
        last = waits[a]
        for place in range(last + 1):
            trail[b * items + place] = trail[a * items + place] & ~1
            level[b * items + place] = level[a * items + place]
        trail[b * items + last] ^= 2
        trail[a * items + last] &= ~1
        for i in range(rows):
            multiplier[b * rows + i] = multiplier[a * rows + i]
        root[b], count[b], length[b] = root[a], count[a], last + 1
        bound[b] = level[a * items + last]


@compiled
def _search(
    column, profit, ceiling, shift, unit, root, left, multiplier, trail, level, now, best, champion,
    nodes, fraction,
):  # fmt: skip
    """Treat nodes; return how many, and the best profit."""
    decided = np.full(profit.size, UNDECIDED, dtype=np.int64)
    reduced = np.zeros(profit.size, dtype=np.int64)
    for place in range(now[LENGTH]):
        _apply(column, profit, left, decided, now, trail[place] >> 2, (trail[place] >> 1) & 1)
    if now[LENGTH] > 0:
        now[BOUND] = level[now[LENGTH] - 1]
    for node in range(nodes):
        is_open = _bounds(
            column, profit, ceiling, shift, unit, left, multiplier, trail, level, decided, reduced,
            now, (best + 1) << fraction,
        )  # fmt: skip
        if is_open:
            found = _complete(column, profit, left, decided, reduced, now[PROFIT], champion, best,
                              fraction)  # fmt: skip
            best = max(best, found)
            is_open = now[FREE] > 0 and now[BOUND] >= (best + 1) << fraction
        if is_open:
            item = _branching_item(decided, reduced)
            first = 1 if reduced[item] > 0 else 0
            _decide(column, profit, left, trail, level, decided, now, item, first, 1)
        elif not _next(column, profit, left, trail, level, decided, now, (best + 1) << fraction):
            now[BOUND] = IDLE
            return node + 1, best
    return nodes, best


@compiled
def _apply(column, profit, left, decided, now, item, choice):
    """Give a value to a free item, or take it back where ``choice`` is -1."""
    before = decided[item]
    decided[item] = choice
    now[FREE] += 1 if choice == UNDECIDED else -1
    change = max(choice, 0) - max(before, 0)
    if change != 0:
        now[PROFIT] += change * profit[item]
        for i in range(left.size):
            left[i] -= change * column[item, i]


@compiled
def _decide(column, profit, left, trail, level, decided, now, item, choice, other):
    """Give a value to an item and note it."""
    trail[now[LENGTH]] = 4 * item + 2 * choice + other
    level[now[LENGTH]] = now[BOUND]
    now[LENGTH] += 1
    _apply(column, profit, left, decided, now, item, choice)


@compiled
def _bounds(  # noqa: C901 (one hot loop)
    column, profit, ceiling, shift, unit, left, multiplier, trail, level, decided, reduced, now,
    target,
):  # fmt: skip
    """Take bounds and decide items; return whether the node is open."""
    items, rows = column.shape
    step = np.zeros(rows, dtype=np.int64)
    for evaluation in range(EVALUATIONS):
        bound = now[PROFIT]
        for i in range(rows):
            bound += multiplier[i] * left[i]
        for j in range(items):
            if decided[j] != UNDECIDED:
                continue
            cost, fits = profit[j], True
            for i in range(rows):
                cost -= multiplier[i] * column[j, i]
                fits = fits and column[j, i] <= left[i]
            if fits:
                reduced[j] = cost
                bound += max(cost, 0)
            else:
                _decide(column, profit, left, trail, level, decided, now, j, 0, 0)
        if bound < target or now[FREE] < left[rows - 1]:
            return False
        now[BOUND] = min(now[BOUND], bound)
        slack = bound - target
        for j in range(items):
            if decided[j] == UNDECIDED and abs(reduced[j]) > slack:
                choice = 1 if reduced[j] > 0 else 0
                _decide(column, profit, left, trail, level, decided, now, j, choice, 0)
        for i in range(rows):
            if left[i] < 0:
                return False
        if now[FREE] < left[rows - 1]:
            return False
        if evaluation == EVALUATIONS - 1 or now[FREE] == 0:
            break
        step[:] = left
        for j in range(items):
            if decided[j] == UNDECIDED and reduced[j] > 0:
                for i in range(rows):
                    step[i] -= column[j, i]
        norm = 0
        for i in range(rows):
            step[i] >>= shift[i]
            if i < rows - 1 and multiplier[i] == 0 and step[i] > 0:
                step[i] = 0
            norm += step[i] * step[i]
        if norm == 0:
            break
        theta = float(slack + 1) / float(norm)
        for i in range(rows):
            move = theta * float(step[i]) * unit[i]
            move = min(max(np.rint(move), -LONGEST_STEP), LONGEST_STEP)
            least = 0 if i < rows - 1 else -ceiling[i]
            multiplier[i] = min(max(multiplier[i] - np.int64(move), least), ceiling[i])
    return True


@compiled
def _complete(column, profit, left, decided, reduced, sum_decided, champion, best, fraction):
    """Pack free items as long as they fit, those that the bound packs first; keep a better one."""
    items, rows = column.shape
    packed = decided == 1
    room = left[: rows - 1].copy()
    total = sum_decided
    for later in range(2):
        for j in range(items):
            if decided[j] != UNDECIDED or (reduced[j] > 0) == (later == 1):
                continue
            fits = True
            for i in range(rows - 1):
                if column[j, i] > room[i]:
                    fits = False
                    break
            if fits:
                packed[j] = True
                total += profit[j]
                for i in range(rows - 1):
                    room[i] -= column[j, i]
    found = total >> fraction
    if found > best:
        champion[:] = 0
        for j in range(items):
            if packed[j]:
                champion[j % LANES] |= np.int64(1) << np.int64(j // LANES)
    return found


@compiled
def _branching_item(decided, reduced):
    """Return the first of the free items with the smallest reduced cost."""
    chosen = -1
    for j in range(decided.size):
        if decided[j] == UNDECIDED and (chosen < 0 or abs(reduced[j]) < abs(reduced[chosen])):
            chosen = j
    return chosen


@compiled
def _next(column, profit, left, trail, level, decided, now, target):
    """Go back to the last value that waits; return whether there is one."""
    while now[LENGTH] > 0:
        now[LENGTH] -= 1
        entry = trail[now[LENGTH]]
        item = entry >> 2
        _apply(column, profit, left, decided, now, item, UNDECIDED)
        if entry & 1 and level[now[LENGTH]] >= target:
            now[BOUND] = level[now[LENGTH]]
            _decide(
                column, profit, left, trail, level, decided, now, item, 1 - ((entry >> 1) & 1), 0
            )
            return True
    return False
