"""Numba twin of ``many.cu``: many small knapsack problems, one after the other in each thread."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, twin
from solvers.knapsack.many.kernels.many import INFEASIBLE, OUTGROWN, SOLVED, TOO_LARGE, WORD
from solvers.knapsack.many.kernels.start_cpu import (
    arrange,
    best_exchange,
    greedy_packing,
    opposite_bounds,
    too_large,
)

PROFIT, WEIGHT, HISTORY = range(3)
"""Rows of a list: profits, weights, and the words of histories from there on."""


@twin
def many(
    starts, profit, weight, capacity, lists, queue, packed, value, ending, visited,
    count, slots, words, room, near, most,
):  # fmt: skip
    """Solve problems 0 to ``count``; a slot takes every ``slots``-th of them."""
    numbers = 2 * (2 + words) * room
    for slot in prange(slots):
        own = lists[slot * numbers : (slot + 1) * numbers].reshape(2, 2 + words, room)
        items = np.empty((6, WORD * words + 1), dtype=np.int64)
        flags = np.empty((3, words), dtype=np.uint64)
        for k in range(slot, count, slots):
            first, last = starts[k], starts[k + 1]
            ending[k], value[k], visited[k] = _solve_one(
                profit[first:last], weight[first:last], capacity[k], own, items, flags, most
            )
            for word in range(words):
                packed[k * words + word] = np.int64(flags[2, word])


@compiled
def _solve_one(profit, weight, given_capacity, lists, items, flags, most):
    """Solve one problem; its packing is left in the last row of ``flags``."""
    flags[:] = np.uint64(0)
    if profit.size > WORD * flags.shape[1] or too_large(profit, weight):
        return TOO_LARGE, 0, 0
    count, capacity, profit_unit, base = arrange(profit, weight, given_capacity, items, flags[2])
    if capacity < 0:
        flags[:] = np.uint64(0)
        return INFEASIBLE, 0, 0
    origin, start, best_flags = items[5], flags[0], flags[1]
    # flags[0]: the break solution; flags[1]: the best packing, both by place in the sorted order
    broken = np.searchsorted(items[3, : count + 1], capacity, side="right") - 1
    for j in range(broken):
        start[j // WORD] |= np.uint64(1) << np.uint64(j % WORD)
    best_flags[:] = start
    best, seen, outcome = items[2, broken], 0, SOLVED
    if broken < count:
        best = greedy_packing(items, count, capacity, broken, best_flags)
        best = best_exchange(items, count, capacity, broken, best, start, best_flags)
        opposite_bounds(items, count, capacity, broken)
        best, seen, outcome = _search(
            items, count, capacity, broken, best, lists, start, best_flags, most
        )
    for j in range(count):
        if best_flags[j // WORD] >> np.uint64(j % WORD) & np.uint64(1):
            at = origin[j]
            flags[2, at // WORD] ^= np.uint64(1) << np.uint64(at % WORD)
    return outcome, best * profit_unit + base, seen


@compiled
def _search(items, count, capacity, broken, best, lists, start, best_flags, most):
    """Treat items from the break item outwards; return best profit, states seen, and the ending."""
    profit, weight, opposite = items[0], items[1], items[4]
    now, then = lists[0], lists[1]
    now[PROFIT, 0], now[WEIGHT, 0] = items[2, broken], items[3, broken]
    now[HISTORY:, 0] = 0
    length, seen, stage = 1, 0, 0
    left, right = broken - 1, broken
    while length > 0:
        while right < count and opposite[right] <= best:
            right += 1
        while left >= 0 and opposite[left] <= best:
            left -= 1
        if right < count and (left < 0 or stage % 2 == 0):
            item, sign = right, 1
            right += 1
        elif left >= 0:
            item, sign = left, -1
            left -= 1
        else:
            break
        if 2 * length > now.shape[1] or seen + 2 * length > most:
            return best, seen, OUTGROWN
        stage += 1
        seen += 2 * length
        profit_step, weight_step = sign * profit[item], sign * weight[item]
        best = _best_shifted(
            now, length, profit_step, weight_step, capacity, best, item, start, best_flags
        )
        while right < count and opposite[right] <= best:
            right += 1
        while left >= 0 and opposite[left] <= best:
            left -= 1
        # without an item to come nothing can be gained, without one to go nothing lost
        in_profit, in_weight, out_profit, out_weight = 0, 1, 1, 0
        if right < count:
            in_profit, in_weight = profit[right], weight[right]
        if left >= 0:
            out_profit, out_weight = profit[left], weight[left]
        length = _merge(
            now, length, then, profit_step, weight_step, item, capacity, best,
            in_profit, in_weight, out_profit, out_weight,
        )  # fmt: skip
        now, then = then, now
    return best, seen, SOLVED


@compiled
def _best_shifted(
    now, length, profit_step, weight_step, capacity, best, item, start, best_flags
):  # fmt: skip
    """Return the best profit once the shifted states are seen, and keep the packing it has."""
    low, high = 0, length
    while low < high:
        middle = (low + high) // 2
        if now[WEIGHT, middle] + weight_step <= capacity:
            low = middle + 1
        else:
            high = middle
    if low == 0 or now[PROFIT, low - 1] + profit_step <= best:
        return best
    for word in range(start.size):
        best_flags[word] = start[word] ^ np.uint64(now[HISTORY + word, low - 1])
    best_flags[item // WORD] ^= np.uint64(1) << np.uint64(item % WORD)
    return now[PROFIT, low - 1] + profit_step


@compiled
def _merge(
    now, length, then, profit_step, weight_step, item, capacity, best,
    in_profit, in_weight, out_profit, out_weight,
):  # fmt: skip
    """Merge a list with itself shifted by one item; return the length of what is kept."""
    words = now.shape[0] - HISTORY
    bit_word = item // WORD
    bit = np.int64(np.uint64(1) << np.uint64(item % WORD))
    highest = np.int64(-1) << 62
    i, j, kept = 0, 0, 0
    while j < length:  # the shifted list
        shifted_weight, shifted_profit = now[WEIGHT, j] + weight_step, now[PROFIT, j] + profit_step
        take = i < length and (
            now[WEIGHT, i] < shifted_weight
            or (now[WEIGHT, i] == shifted_weight and now[PROFIT, i] >= shifted_profit)
        )
        at = i if take else j
        profit = now[PROFIT, i] if take else shifted_profit
        weight = now[WEIGHT, i] if take else shifted_weight
        i += take
        j += not take
        if profit <= highest:
            continue
        highest = profit
        spare = capacity - weight
        by_profit, by_weight = (in_profit, in_weight) if spare >= 0 else (out_profit, out_weight)
        if spare * by_profit < (best + 1 - profit) * by_weight:
            continue
        then[PROFIT, kept], then[WEIGHT, kept] = profit, weight
        for word in range(words):
            then[HISTORY + word, kept] = now[HISTORY + word, at]
        if not take:
            then[HISTORY + bit_word, kept] ^= bit
        kept += 1
    while i < length:  # what is left of the list itself
        profit, weight = now[PROFIT, i], now[WEIGHT, i]
        at = i
        i += 1
        if profit <= highest:
            continue
        spare = capacity - weight
        by_profit, by_weight = (in_profit, in_weight) if spare >= 0 else (out_profit, out_weight)
        if spare * by_profit < (best + 1 - profit) * by_weight:
            continue
        then[PROFIT, kept], then[WEIGHT, kept] = profit, weight
        for word in range(words):
            then[HISTORY + word, kept] = now[HISTORY + word, at]
        kept += 1
    return kept
