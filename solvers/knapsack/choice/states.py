"""Lists of undominated states, and what one more class does to them.

A state is a selection: the items of the break solution, but for the classes in the core, of which
anything may be chosen. A list is sorted by weight, and profits rise with it. A class enters the
core by shifting the list to each of its items, dropping what cannot beat the best profit any more,
and merging the shifted lists in pairs.

Each state remembers its choices since the last checkpoint in 64 bits, as many for a class as tell
its remaining items apart, and by number its ancestor at that checkpoint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.choice.core_order import Core
from solvers.knapsack.efficiency import relaxed
from solvers.knapsack.items import IntArray
from solvers.knapsack.wide import RELATIVE_ERROR, exceeds

HISTORY_BITS = 64
"""Bits of a state's history, which is also the number of stages it holds at most."""

COUNT, PLACE, STAGE, SHIFT, ITEMS = range(5)
"""Places in the array that controls a search: states in the list; classes in the core; stages in
this history, the bits they take and the items they chose from."""

PROFIT, HISTORY, ANCESTOR, BEST_STAGE, BEST_ITEM = range(5, 10)
"""The best profit; history and ancestor of the state that has it, with how many stages were over
then, and the item of the stage after them."""

VISITED, TARGET, RESIDUE, MODULUS, SWAPPED = range(10, 15)
"""States visited so far; the profit that no selection exceeds; the numbers that bound a profit; and
whether the list is in the second pair of arrays."""

CONTROLS = 15

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why :func:`advance` returns: the list is empty, there is no room for the next class, the history
is full, or the work it was given is done."""

UintArray = npt.NDArray[np.uint64]


class States(NamedTuple):
    """Arrays of a list; only the first entries are in use."""

    profit: IntArray
    weight: IntArray
    history: UintArray
    ancestor: npt.NDArray[np.int32]


class Stages(NamedTuple):
    """The stages of this history: stage s chose among ``item[begin[s]:begin[s + 1]]``.

    The number of the one chosen is in the history from bit ``shift[s]`` to ``shift[s + 1]``.
    ``run`` is where the shifted lists of a class begin.
    """

    begin: IntArray
    shift: IntArray
    item: IntArray
    run: IntArray


def empty_states(room: int) -> States:
    """Return arrays for ``room`` states."""
    return States(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.uint64),
        np.empty(room, dtype=np.int32),
    )


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


def empty_stages(most_items: int, largest_class: int) -> Stages:
    """Return arrays for the stages of one history."""
    return Stages(
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(most_items, dtype=np.int64),
        np.zeros(largest_class + 1, dtype=np.int64),
    )


@inlined
def _least_better(best: int, residue: int, modulus: int) -> int:
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
def shift_to(
    now: States,
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
    """Append the list, shifted by profit and weight ``steps``, behind ``place`` of another.

    ``up`` and ``down`` are the steps outside the core that bound what a state can become. Returns
    the end of what was appended, or -1 where there is no room for it.
    """
    count, room = control[COUNT], then.profit.size
    best, residue, modulus = control[PROFIT], control[RESIDUE], control[MODULUS]
    needed = _least_better(best, residue, modulus)
    for k in range(count):
        profit, weight = now.profit[k] + steps[0], now.weight[k] + steps[1]
        spare = capacity - weight
        if spare >= 0:
            if profit > best:
                best = profit
                needed = _least_better(best, residue, modulus)
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
def _remaining_items(
    core: Core, group: int, capacity: int, needed: int, item: IntArray, begin: int
) -> int:
    """List a class's items with which the relaxation reaches ``needed``; return their number.

    The bound is that of all classes' steps at the capacity that the item leaves to them.
    """
    count = 0
    stays = core.break_item[group]
    total = core.weight_before[-1]
    for j in range(core.first[group], core.first[group + 1]):
        left = capacity - (core.weight[j] - core.weight[stays])
        bound = core.profit[j] - core.profit[stays]
        bound += relaxed(
            core.step_profit, core.step_weight, core.profit_before, core.weight_before, left
        )
        bound += core.spare_gain * max(left - total, 0)
        if bound >= needed:
            item[begin + count] = j
            count += 1
    return count


@compiled
def _bits(count: int) -> int:
    """Return how many bits tell so many things apart."""
    bits = 0
    while (np.int64(1) << bits) < count:
        bits += 1
    return bits


@compiled
def advance(
    core: Core,
    capacity: int,
    one: States,
    other: States,
    stages: Stages,
    control: IntArray,
    work: int,
) -> int:
    """Let classes into the core one by one; return why it stopped.

    The list is in ``one`` before, and after in ``one`` or where ``control[SWAPPED]`` is set in
    ``other``. A class of which only the break solution's item can be chosen needs no stage.
    """
    now, then = one, other
    control[SWAPPED] = 0
    until = control[VISITED] + work
    while control[VISITED] < until:
        place, stage = control[PLACE], control[STAGE]
        if place == core.sequence.size:
            control[COUNT] = 0  # every class is in the core, and the best profit is known
        if control[COUNT] == 0 or control[PROFIT] >= control[TARGET]:
            return EMPTY
        group = core.sequence[place]
        stays = core.break_item[group]
        needed = _least_better(control[PROFIT], control[RESIDUE], control[MODULUS])
        begin = control[ITEMS]
        if begin + core.first[group + 1] - core.first[group] > stages.item.size:
            return CHECKPOINT
        kept = _remaining_items(core, group, capacity, needed, stages.item, begin)
        control[VISITED] += kept
        if kept == 1 and stages.item[begin] == stays:
            control[PLACE] += 1
            continue
        shift = control[SHIFT]
        bits = _bits(kept)
        if stage == HISTORY_BITS or shift + bits > HISTORY_BITS:
            return CHECKPOINT
        up = (core.up_profit[place + 1], core.up_weight[place + 1])
        down = (core.down_profit[place + 1], core.down_weight[place + 1])
        runs, length = 0, 0
        for k in range(kept):
            item = stages.item[begin + k]
            stages.run[runs] = length
            steps = (
                core.profit[item] - core.profit[stays],
                core.weight[item] - core.weight[stays],
            )
            # no class needs all bits, so that a shift by 64 has only the code 0 to move
            code = np.uint64(0) if k == 0 else np.uint64(k) << np.uint64(shift)
            length = shift_to(now, then, length, item, steps, code, capacity, up, down, control)
            if length < 0:
                return FULL
            if length > stages.run[runs]:
                runs += 1
        stages.run[runs] = length
        control[VISITED] += kept * control[COUNT]
        now, then = then, now
        control[SWAPPED] = 1 - control[SWAPPED]
        while runs > 1:
            length = _merge_pairs(now, then, stages.run, runs)
            runs = (runs + 1) // 2
            now, then = then, now
            control[SWAPPED] = 1 - control[SWAPPED]
        control[COUNT] = length
        control[PLACE] += 1
        control[STAGE] += 1
        control[SHIFT] += bits
        control[ITEMS] += kept
        stages.begin[stage + 1], stages.shift[stage + 1] = control[ITEMS], control[SHIFT]
    return PAUSE


@compiled
def _merge_pairs(source: States, target: States, run: IntArray, runs: int) -> int:
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
