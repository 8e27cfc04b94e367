"""Numba twins of ``stages.cu``: the same stages by one core, a state at a time."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled, inlined, twin
from solvers.knapsack.lists.kernels.fields import Field, Mode, Reason
from solvers.knapsack.lists.kernels.stages import TILE
from solvers.knapsack.wide import exceeds

STAGES = 64
LOWEST = -(1 << 62)

COUNT, LEFT, RIGHT, STAGE = (int(Field[name]) for name in ("COUNT", "LEFT", "RIGHT", "STAGE"))
PROFIT, HISTORY, ANCESTOR = int(Field.PROFIT), int(Field.HISTORY), int(Field.ANCESTOR)
VISITED, TARGET, SIDE = int(Field.VISITED), int(Field.TARGET), int(Field.SIDE)
REASON, UNTIL, CAPACITY = int(Field.REASON), int(Field.UNTIL), int(Field.CAPACITY)
BEFORE, LEVEL, TILES = int(Field.BEFORE), int(Field.LEVEL), int(Field.TILES)
PROFIT_STEP, WEIGHT_STEP = int(Field.PROFIT_STEP), int(Field.WEIGHT_STEP)
COMES_PROFIT, COMES_WEIGHT = int(Field.COMES_PROFIT), int(Field.COMES_WEIGHT)
GOES_PROFIT, GOES_WEIGHT = int(Field.GOES_PROFIT), int(Field.GOES_WEIGHT)
EPOCH, TICKET, NEXT_COUNT = int(Field.EPOCH), int(Field.TICKET), int(Field.NEXT_COUNT)
NONE, EMPTY, CHECKPOINT = int(Reason.NONE), int(Reason.EMPTY), int(Reason.CHECKPOINT)
FULL, PAUSE = int(Reason.FULL), int(Reason.PAUSE)
BELOW, PLACES, COUNTING = int(Mode.BELOW), int(Mode.PLACES), int(Mode.COUNTING)


@inlined
def _reaches(profit, weight, level, control):
    """Whether a state's bound is at least ``level``."""
    spare = control[CAPACITY] - weight
    if spare >= 0:
        return not exceeds(level - profit, control[COMES_WEIGHT], spare, control[COMES_PROFIT])
    return not exceeds(level - profit, control[GOES_WEIGHT], spare, control[GOES_PROFIT])


@inlined
def _skip(items, opposite, control):
    """Pass items that stay as the break solution has them."""
    while control[RIGHT] < items and opposite[control[RIGHT]] <= control[PROFIT]:
        control[RIGHT] += 1
    while control[LEFT] >= 0 and opposite[control[LEFT]] <= control[PROFIT]:
        control[LEFT] -= 1


@inlined
def _last_that_fits(weight, first, count, limit):
    """Return the place of the heaviest of ``count`` states that weighs at most ``limit``, or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if weight[first + middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low - 1


@inlined
def _see_best(room, profit, weight, history, ancestor, control):
    """Put the best packing among the states of the stage into control."""
    first, count = control[SIDE] * room, control[COUNT]
    profit_step, weight_step = control[PROFIT_STEP], control[WEIGHT_STEP]
    i = _last_that_fits(weight, first, count, control[CAPACITY])
    j = _last_that_fits(weight, first, count, control[CAPACITY] - weight_step)
    of_own, of_shifted = LOWEST, LOWEST
    if i >= 0:
        of_own = profit[first + i]
    if j >= 0:
        of_shifted = profit[first + j] + profit_step
    if max(of_own, of_shifted) > control[PROFIT]:
        shifted = of_shifted > of_own
        if of_shifted == of_own:
            shifted = weight[first + i] > weight[first + j] + weight_step
        control[PROFIT] = max(of_own, of_shifted)
        at = first + (j if shifted else i)
        bits = np.uint64(history[at])
        if shifted:
            bits |= np.uint64(1) << np.uint64(control[STAGE])
        control[HISTORY] = np.int64(bits)
        control[ANCESTOR] = ancestor[at]


@compiled
def _why_not(room, control):
    """Return why no stage can begin, or NONE."""
    if control[VISITED] >= control[UNTIL]:
        return PAUSE
    if control[COUNT] == 0 or control[PROFIT] >= control[TARGET]:
        return EMPTY
    if control[STAGE] == STAGES:
        return CHECKPOINT
    return FULL if 2 * control[COUNT] > room else NONE


@twin
def turn(
    begin, items, room, item_profit, item_weight, opposite, profit, weight, history, ancestor,
    treated, control,
):  # fmt: skip
    """End the stage under way, and begin the next one."""
    if control[TILES] > 0:
        control[COUNT] = control[NEXT_COUNT]
        control[SIDE] = 1 - control[SIDE]
    control[TILES] = 0
    if not begin or control[REASON] != NONE:
        return
    control[REASON] = _why_not(room, control)
    if control[REASON] != NONE:
        return
    _skip(items, opposite, control)
    if control[RIGHT] < items and (control[LEFT] < 0 or control[STAGE] % 2 == 0):
        item, sign = control[RIGHT], 1
        control[RIGHT] += 1
    elif control[LEFT] >= 0:
        item, sign = control[LEFT], -1
        control[LEFT] -= 1
    else:
        control[COUNT] = 0
        control[REASON] = EMPTY
        return
    _skip(items, opposite, control)
    control[PROFIT_STEP], control[WEIGHT_STEP] = sign * item_profit[item], sign * item_weight[item]
    control[COMES_PROFIT], control[COMES_WEIGHT] = 0, 1
    if control[RIGHT] < items:
        control[COMES_PROFIT] = item_profit[control[RIGHT]]
        control[COMES_WEIGHT] = item_weight[control[RIGHT]]
    control[GOES_PROFIT], control[GOES_WEIGHT] = 1, 0
    if control[LEFT] >= 0:
        control[GOES_PROFIT] = item_profit[control[LEFT]]
        control[GOES_WEIGHT] = item_weight[control[LEFT]]
    control[BEFORE] = control[PROFIT]
    _see_best(room, profit, weight, history, ancestor, control)
    control[TILES] = (2 * control[COUNT] + TILE - 1) // TILE
    control[EPOCH] += 1
    control[TICKET] = 0
    control[VISITED] += 2 * control[COUNT]
    treated[control[STAGE]] = item
    control[STAGE] += 1


@twin
def merge(blocks, room, profit, weight, history, ancestor, words, control):
    """Merge the list with its shifted copy."""
    if control[TILES] == 0:
        return
    source = control[SIDE] * room
    target = room - source
    count, length = control[COUNT], target
    profit_step, weight_step = control[PROFIT_STEP], control[WEIGHT_STEP]
    bit = np.uint64(1) << np.uint64(control[STAGE] - 1)
    highest = LOWEST
    i, j = 0, 0
    while i < count or j < count:
        ours = i < count
        if ours and j < count:
            shifted = weight[source + j] + weight_step
            ours = weight[source + i] < shifted or (
                weight[source + i] == shifted
                and profit[source + i] >= profit[source + j] + profit_step
            )
        if ours:
            at, p, w = source + i, profit[source + i], weight[source + i]
            bits = np.uint64(history[at])
            i += 1
        else:
            at = source + j
            p, w = profit[at] + profit_step, weight[at] + weight_step
            bits = np.uint64(history[at]) | bit
            j += 1
        if p <= highest:
            continue
        highest = p
        best = max(control[BEFORE], p) if w <= control[CAPACITY] else control[PROFIT]
        if _reaches(p, w, best + 1, control):
            profit[length], weight[length] = p, w
            history[length], ancestor[length] = np.int64(bits), ancestor[at]
            length += 1
    control[NEXT_COUNT] = length - target


@twin
def choose(mode, blocks, room, profit, weight, history, ancestor, words, control):
    """Copy states by their bounds or places."""
    if control[TILES] == 0:
        return
    source = control[SIDE] * room
    target = room - source
    length = target
    for k in range(control[COUNT]):
        at = source + k
        if mode & PLACES:
            high = k >= control[LEVEL]
        else:
            high = _reaches(profit[at], weight[at], control[LEVEL], control)
        if high == ((mode & BELOW) != 0):
            continue
        if not mode & COUNTING:
            profit[length], weight[length] = profit[at], weight[at]
            history[length], ancestor[length] = history[at], ancestor[at]
        length += 1
    control[NEXT_COUNT] = length - target


@twin
def renew(blocks, room, history, ancestor, control):
    """Begin a history."""
    first = control[SIDE] * room
    for k in range(control[COUNT]):
        history[first + k] = 0
        ancestor[first + k] = k
