"""One more item: for lists of completions, and for lists of packings that they prune."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.states import States

ROUNDING = 1e-14
"""Relative error, and more, of a relaxation's value in double precision."""


@compiled
def add_to_completions(
    weight: IntArray,
    profit: IntArray,
    count: int,
    then_weight: IntArray,
    then_profit: IntArray,
    weight_step: int,
    profit_step: int,
    capacity: int,
    target: int,
    profit_before: IntArray,
    weight_before: IntArray,
    ratio: npt.NDArray[np.float64],
    grain: int,
) -> int:
    """Merge a list by weight with its shifted copy; return the new one's length.

    Dominated states go, and those that lighter items cannot bring to ``target``: these have
    ``profit_before`` and ``weight_before`` (n + 1,) by falling efficiency ``ratio`` (n + 1,), which
    is 0 behind the last. Weights less than ``grain`` apart become the smallest of them with the
    highest profit, which completes no worse. The length is -1 where the new list has no room.
    """
    highest = np.int64(-1)
    room, place = then_weight.size, profit_before.size - 1
    i, j, length = 0, 0, 0
    while i < count or j < count:
        w, p = np.int64(0), np.int64(0)
        if j < count:
            w, p = weight[j] + weight_step, profit[j] + profit_step
        if i < count and (j == count or weight[i] < w or (weight[i] == w and profit[i] >= p)):
            w, p = weight[i], profit[i]
            i += 1
        else:
            j += 1
        if w > capacity:
            break
        if p <= highest:
            continue
        spare = capacity - w
        while weight_before[place] > spare:
            place -= 1
        part = float(spare - weight_before[place]) * ratio[place]
        if part + ROUNDING * float(target) < float(target - p - profit_before[place]):
            continue
        highest = p
        if length > 0 and w - then_weight[length - 1] < grain:
            then_profit[length - 1] = p
            continue
        if length == room:
            return -1
        then_weight[length], then_profit[length] = w, p
        length += 1
    return length


@compiled
def best_completed(
    weight: IntArray,
    profit: IntArray,
    capacity: int,
    profit_before: IntArray,
    weight_before: IntArray,
    ratio: npt.NDArray[np.float64],
) -> float:
    """Return what completions bring at most with parts of lighter items, rounded up; or -1."""
    best = -1.0
    place = profit_before.size - 1
    for i in range(weight.size):
        spare = capacity - weight[i]
        while weight_before[place] > spare:
            place -= 1
        part = float(spare - weight_before[place]) * ratio[place]
        best = max(best, float(profit[i] + profit_before[place]) + part)
    return best * (1.0 + ROUNDING) if best > 0.0 else best


@compiled
def add_to_packings(
    now: States,
    count: int,
    then: States,
    profit_step: int,
    weight_step: int,
    bit: np.uint64,
    capacity: int,
    target: int,
    heavier_weight: IntArray,
    heavier_profit: IntArray,
) -> int:
    """Merge a list of packings with its shifted copy; return the length of ``then``, or -1.

    States go that are dominated, or worth less than ``target`` with the best of the completions
    that still fit; these are sorted by weight, and profits rise with it.
    """
    highest = np.int64(-1)
    room, best = then.profit.size, heavier_weight.size - 1
    i, j, length = 0, 0, 0
    while i < count or j < count:
        weight, profit = np.int64(0), np.int64(0)
        if j < count:
            weight, profit = now.weight[j] + weight_step, now.profit[j] + profit_step
        if i < count and (
            j == count
            or now.weight[i] < weight
            or (now.weight[i] == weight and now.profit[i] >= profit)
        ):
            weight, profit = now.weight[i], now.profit[i]
            history, ancestor = now.history[i], now.ancestor[i]
            i += 1
        else:
            history, ancestor = now.history[j] | bit, now.ancestor[j]
            j += 1
        while best >= 0 and heavier_weight[best] > capacity - weight:
            best -= 1
        if best < 0:
            break
        if profit <= highest or profit + heavier_profit[best] < target:
            continue
        highest = profit
        if length == room:
            return -1
        then.profit[length], then.weight[length] = profit, weight
        then.history[length], then.ancestor[length] = history, ancestor
        length += 1
    return length
