"""Lists of undominated states: shifting, pruning, merging and pairing them.

A state is a selection: the items of the break solution, but for the classes in the core, of which
anything may be chosen. A list is sorted by weight, and profits rise with it.

Each state remembers its choices since the last checkpoint in 64 bits, as many for a class as tell
its remaining items apart, and by number its ancestor at that checkpoint.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.choice.control import (
    ANCESTOR,
    BEST_ITEM,
    BEST_STAGE,
    HISTORY,
    MODULUS,
    PROFIT,
    RESIDUE,
    STAGE,
)
from solvers.knapsack.items import IntArray
from solvers.knapsack.states import States
from solvers.knapsack.wide import RELATIVE_ERROR, exceeds


def chosen_states(states: States, count: int, flags: npt.NDArray[np.bool_]) -> States:
    """Return a list of those of the first ``count`` states whose flag is set."""
    return States(
        states.profit[:count][flags],
        states.weight[:count][flags],
        states.history[:count][flags],
        states.ancestor[:count][flags],
    )


def copy_states(source: States, count: int, target: States) -> None:
    """Copy the first ``count`` states into the arrays of another list."""
    target.profit[:count] = source.profit[:count]
    target.weight[:count] = source.weight[:count]
    target.history[:count] = source.history[:count]
    target.ancestor[:count] = source.ancestor[:count]


@inlined
def least_better(best: int, residue: int, modulus: int) -> int:
    """Return the least bound that a selection better than ``best`` can have."""
    return best + 1 + (residue - best - 1) % modulus


@inlined
def _reaches(profit: int, spare: int, needed: int, gain: int, extent: int) -> bool:
    """Whether profit + spare * gain / extent >= needed, exactly."""
    have, miss = float(spare) * float(gain), float(needed - profit) * float(extent)
    margin = RELATIVE_ERROR * (abs(have) + abs(miss))
    if have - miss > margin:
        return True
    if miss - have > margin:
        return False
    return not exceeds(needed - profit, extent, spare, gain)


@compiled
def shift_promising(
    now: States,
    count: int,
    then: States,
    place: int,
    item: int,
    steps: tuple[int, int],
    code: np.uint64,
    capacity: int,
    up: tuple[int, int],
    down: tuple[int, int],
    control: IntArray,
) -> int:
    """Append what of a shifted list may still beat the best profit behind ``place`` of another.

    ``steps`` are profit and weight to shift by, ``up`` and ``down`` the steps outside the core that
    bound what a state can become. Returns the end of what was appended, or -1 where there is no
    room for it.
    """
    room = then.profit.size
    best, residue, modulus = control[PROFIT], control[RESIDUE], control[MODULUS]
    needed = least_better(best, residue, modulus)
    for k in range(count):
        profit, weight = now.profit[k] + steps[0], now.weight[k] + steps[1]
        spare = capacity - weight
        if spare >= 0:
            if profit > best:
                best = profit
                needed = least_better(best, residue, modulus)
                control[PROFIT], control[HISTORY] = best, np.int64(now.history[k])
                control[ANCESTOR] = now.ancestor[k]
                control[BEST_STAGE], control[BEST_ITEM] = control[STAGE], item
            if not _reaches(profit, spare, needed, up[0], up[1]):
                continue
        else:
            if down[1] == 0:
                break  # all that follow are heavier, and nothing can become lighter any more
            if not _reaches(profit, spare, needed, down[0], down[1]):
                continue
        if place == room:
            return -1
        then.profit[place], then.weight[place] = profit, weight
        then.history[place] = now.history[k] | code
        then.ancestor[place] = now.ancestor[k]
        place += 1
    return place


@compiled
def shift_all(
    now: States, count: int, then: States, place: int, steps: tuple[int, int], code: np.uint64
) -> int:
    """Append a whole list, shifted; return the end, or -1 where there is no room."""
    if place + count > then.profit.size:
        return -1
    for k in range(count):
        then.profit[place + k] = now.profit[k] + steps[0]
        then.weight[place + k] = now.weight[k] + steps[1]
        then.history[place + k] = now.history[k] | code
        then.ancestor[place + k] = now.ancestor[k]
    return place + count


@compiled
def _merge(source: States, begin: int, middle: int, end: int, target: States, place: int) -> int:
    """Merge two neighbouring runs without what is dominated; return where the target ends."""
    highest = np.int64(-1) << 62
    i, j = begin, middle
    while i < middle or j < end:
        if j == end or (
            i < middle
            and (
                source.weight[i] < source.weight[j]
                or (source.weight[i] == source.weight[j] and source.profit[i] >= source.profit[j])
            )
        ):
            k = i
            i += 1
        else:
            k = j
            j += 1
        profit = source.profit[k]
        if profit <= highest:
            continue
        highest = profit
        target.profit[place], target.weight[place] = profit, source.weight[k]
        target.history[place], target.ancestor[place] = source.history[k], source.ancestor[k]
        place += 1
    return place


@compiled
def merge_pairs(source: States, target: States, run: IntArray, runs: int) -> int:
    """Merge runs in pairs from one list into another; return the other's length."""
    length, pairs = 0, (runs + 1) // 2
    for k in range(pairs):
        begin, middle = run[2 * k], run[2 * k + 1]
        end = run[min(2 * k + 2, runs)]
        start = length
        length = _merge(source, begin, middle, end, target, length)
        run[k] = start
    run[pairs] = length
    return length


@compiled
def best_pair(
    states: States, count: int, partners: States, others: int, capacity: int, best: int
) -> tuple[int, int, int]:
    """Return the largest sum of profits above ``best`` of a state and a partner, and who they are.

    Their weights together keep the capacity. As profits rise with weights, the best partner of a
    state is the heaviest that fits, and it is the lighter the heavier the state.
    """
    first, second = -1, -1
    j = others - 1
    for i in range(count):
        while j >= 0 and states.weight[i] + partners.weight[j] > capacity:
            j -= 1
        if j < 0:
            break
        profit = states.profit[i] + partners.profit[j]
        if profit > best:
            best, first, second = profit, i, j
    return best, first, second
