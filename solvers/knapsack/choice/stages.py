"""Classes that enter the core one by one, and what each of them makes of a list.

A class enters by shifting the list to each of its items, dropping what cannot beat the best profit
any more, and merging the shifted lists in pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.choice.control import (
    CHECKPOINT,
    COUNT,
    EMPTY,
    FULL,
    HISTORY_BITS,
    ITEMS,
    KEPT,
    MODULUS,
    NO_ROOM,
    PAUSE,
    PLACE,
    PROFIT,
    RESIDUE,
    SHIFT,
    STAGE,
    STOP,
    STOPPED,
    SWAPPED,
    TARGET,
    VISITED,
)
from solvers.knapsack.choice.core_order import Core
from solvers.knapsack.choice.states import least_better, merge_pairs, shift_all, shift_promising
from solvers.knapsack.efficiency import relaxed
from solvers.knapsack.items import IntArray
from solvers.knapsack.states import States

LONGEST = 50_000_000
"""States that a class may make of a list at most, before any is dropped: some tenths of a second,
and seldom more than half a second to merge. A list that is too long for that is cut."""

FEW_RUNS = 4
"""Shifted lists that are merged without a look at whether to stop: two passes over the list."""


class Stages(NamedTuple):
    """The stages of this history: stage s chose among ``item[begin[s]:begin[s + 1]]``.

    The number of the one chosen is in the history from bit ``shift[s]`` to ``shift[s + 1]``.
    ``run`` is where the shifted lists of a class begin.
    """

    begin: IntArray
    shift: IntArray
    item: IntArray
    run: IntArray


def empty_stages(core: Core) -> Stages:
    """Return arrays for the stages of one history."""
    largest = int(np.diff(core.first).max(initial=1))
    return Stages(
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(max(min(HISTORY_BITS * largest, core.profit.size), 1), dtype=np.int64),
        np.zeros(largest + 1, dtype=np.int64),
    )


@compiled
def remaining_items(
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
def bits_for(count: int) -> int:
    """Return how many bits tell so many things apart."""
    bits = 0
    while (np.int64(1) << bits) < count:
        bits += 1
    return bits


@compiled
def has_room(core: Core, group: int, stages: Stages, control: IntArray) -> bool:
    """Whether the stages of this history have room for one more, of any items of a class."""
    most = control[ITEMS] + core.first[group + 1] - core.first[group]
    return bool(control[STAGE] < HISTORY_BITS and most <= stages.item.size)


@compiled
def expand(
    core: Core,
    now: States,
    count: int,
    then: States,
    stages: Stages,
    group: int,
    kept: int,
    pruned: bool,
    capacity: int,
    up: tuple[int, int],
    down: tuple[int, int],
    control: IntArray,
) -> tuple[int, int]:
    """Let a class in with those of its items that were listed, and count the stage.

    Returns the new list's length, and how often the arrays changed roles: an odd number leaves the
    list in ``then``. Where there is no room for it the length is ``NO_ROOM``, and where
    ``control[STOP]`` is set ``STOPPED``; then nothing has changed, and the list is in ``now``.
    """
    begin, shift, stage = control[ITEMS], control[SHIFT], control[STAGE]
    stays = core.break_item[group]
    runs, length = 0, 0
    for k in range(kept):
        if control[STOP] != 0:
            return STOPPED, 0
        item = stages.item[begin + k]
        stages.run[runs] = length
        steps = (core.profit[item] - core.profit[stays], core.weight[item] - core.weight[stays])
        # where all bits are in use a stage has the code 0 only, which needs no shift
        code = np.uint64(0) if k == 0 else np.uint64(k) << np.uint64(shift)
        if pruned:
            length = shift_promising(
                now, count, then, length, item, steps, code, capacity, up, down, control
            )
        else:
            length = shift_all(now, count, then, length, steps, code)
        if length < 0:
            return NO_ROOM, 0
        if length > stages.run[runs]:
            runs += 1
    stages.run[runs] = length
    swaps = 1
    source = now
    before = _copied(now, count if runs > FEW_RUNS else 0)
    while runs > 1:
        if runs > FEW_RUNS and control[STOP] != 0:
            _put_back(before, source)
            return STOPPED, 0
        now, then = then, now
        length = merge_pairs(now, then, stages.run, runs)
        runs = (runs + 1) // 2
        swaps += 1
    control[STAGE] += 1
    control[SHIFT] += bits_for(kept)
    control[ITEMS] += kept
    stages.begin[stage + 1], stages.shift[stage + 1] = control[ITEMS], control[SHIFT]
    return length, swaps


@compiled
def _copied(states: States, count: int) -> States:
    """Return a copy of the first states of a list."""
    return States(
        states.profit[:count].copy(),
        states.weight[:count].copy(),
        states.history[:count].copy(),
        states.ancestor[:count].copy(),
    )


@compiled
def _put_back(copy: States, states: States) -> None:
    """Copy states to the beginning of a list."""
    for k in range(copy.profit.size):
        states.profit[k], states.weight[k] = copy.profit[k], copy.weight[k]
        states.history[k], states.ancestor[k] = copy.history[k], copy.ancestor[k]


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
        place = control[PLACE]
        if place == core.sequence.size:
            control[COUNT] = 0  # every class is in the core, and the best profit is known
        if control[COUNT] == 0 or control[PROFIT] >= control[TARGET]:
            return EMPTY
        group = core.sequence[place]
        stays = core.break_item[group]
        needed = least_better(control[PROFIT], control[RESIDUE], control[MODULUS])
        if not has_room(core, group, stages, control):
            return CHECKPOINT
        begin = control[ITEMS]
        kept = remaining_items(core, group, capacity, needed, stages.item, begin)
        control[VISITED] += kept
        control[KEPT] = kept
        if kept == 1 and stages.item[begin] == stays:
            control[PLACE] += 1
            continue
        if control[SHIFT] + bits_for(kept) > HISTORY_BITS:
            return CHECKPOINT
        if kept * control[COUNT] > LONGEST and control[COUNT] > 1:
            return FULL
        up = (core.up_profit[place + 1], core.up_weight[place + 1])
        down = (core.down_profit[place + 1], core.down_weight[place + 1])
        length, swaps = expand(
            core, now, control[COUNT], then, stages, group, kept, True, capacity, up, down, control
        )
        if length == STOPPED:
            return PAUSE
        if length < 0:
            return FULL
        control[VISITED] += kept * control[COUNT]
        if swaps % 2:
            now, then = then, now
            control[SWAPPED] = 1 - control[SWAPPED]
        control[COUNT] = length
        control[PLACE] += 1
    return PAUSE
