"""Lists of undominated states, and what one more item does to them.

A state is a packing of the items treated so far: its weight, its profit, and how it came about. A
list is sorted by weight, and profits rise with it, because a state that weighs no less than another
and brings no more is dominated. Treating an item merges the list with a shifted copy of itself.

Each state remembers the last 64 stages as bits and its ancestor before those by number, so that a
packing can be read off at the end without solving anything again (``core`` keeps the ancestors).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.efficiency import opposite_bound
from solvers.knapsack.items import IntArray
from solvers.knapsack.wide import RELATIVE_ERROR, exceeds

STAGES = 64
"""Stages that a state's history holds."""

COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET = range(9)
"""Places in the array that controls a search: states in the list; the next item to the left and to
the right of those treated; stages in this history; the best profit, and the history and ancestor of
the state that has it; states visited so far; the profit that no packing exceeds."""

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why :func:`advance` returns: the list is empty, there is no room for the next stage, the history
is full, or the work it was given is done."""

ROUNDINGS = 8.0
"""Rounding errors that a bound from the relaxation's prices has, and then some."""

UintArray = npt.NDArray[np.uint64]


class States(NamedTuple):
    """Arrays of a list; only the first entries are in use."""

    profit: IntArray
    weight: IntArray
    history: UintArray
    ancestor: npt.NDArray[np.int32]


def empty_states(room: int) -> States:
    """Return arrays for ``room`` states."""
    return States(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.uint64),
        np.empty(room, dtype=np.int32),
    )


def copy_states(source: States, count: int, target: States) -> None:
    """Copy the first ``count`` states into the arrays of another list."""
    target.profit[:count] = source.profit[:count]
    target.weight[:count] = source.weight[:count]
    target.history[:count] = source.history[:count]
    target.ancestor[:count] = source.ancestor[:count]


def first_states(states: States, count: int) -> States:
    """Return the first ``count`` states, without a copy."""
    return States(
        states.profit[:count],
        states.weight[:count],
        states.history[:count],
        states.ancestor[:count],
    )


@inlined
def _relaxed(profit: int, spare: int, gain: float, loss: float) -> float:
    """Return the bound of a state, in double precision, from prices on both sides of capacity."""
    return float(profit) + float(spare) * (gain if spare >= 0 else loss)


@compiled
def relaxed_bounds(
    states: States, count: int, step: int, capacity: int, gain: float, loss: float
) -> npt.NDArray[np.float64]:
    """Return the bounds of every ``step``-th of the first ``count`` states."""
    found = np.empty((count + step - 1) // step)
    for k in range(found.size):
        i = k * step
        found[k] = _relaxed(states.profit[i], capacity - states.weight[i], gain, loss)
    return found


@compiled
def put_aside(
    states: States,
    count: int,
    capacity: int,
    gain: float,
    loss: float,
    threshold: float,
    first: int,
    aside: States,
) -> tuple[int, float]:
    """Move states with bounds below a threshold, and all from ``first`` on, to another list.

    Returns how many are left, close together, and the largest bound among those moved.
    """
    length, moved, largest = 0, 0, -np.inf
    for i in range(count):
        profit, weight = states.profit[i], states.weight[i]
        bound = _relaxed(profit, capacity - weight, gain, loss)
        if bound < threshold or i >= first:
            aside.profit[moved], aside.weight[moved] = profit, weight
            aside.history[moved], aside.ancestor[moved] = states.history[i], states.ancestor[i]
            moved += 1
            largest = max(largest, bound)
        else:
            states.profit[length], states.weight[length] = profit, weight
            states.history[length], states.ancestor[length] = states.history[i], states.ancestor[i]
            length += 1
    return length, largest


@inlined
def _can_improve(profit: int, spare: int, best: int, bound_profit: int, bound_weight: int) -> bool:
    """Whether profit + spare * bound_profit / bound_weight >= best + 1, exactly.

    ``spare`` is capacity left, or negative for a state that is too heavy; then the ratio is that of
    the least efficient item that may still go.
    """
    gain, need = float(spare) * float(bound_profit), float(best + 1 - profit) * float(bound_weight)
    margin = RELATIVE_ERROR * (abs(gain) + abs(need))
    if gain - need > margin:
        return True
    if need - gain > margin:
        return False
    return not exceeds(best + 1 - profit, bound_weight, spare, bound_profit)


@compiled
def merge(
    now: States,
    count: int,
    then: States,
    profit_step: int,
    weight_step: int,
    bit: np.uint64,
    capacity: int,
    right: tuple[int, int],
    left: tuple[int, int],
    control: IntArray,
) -> int:
    """Merge a list with its copy shifted by one item; return the length of ``then``.

    ``right`` and ``left`` are profit and weight of the most efficient item that may still come in
    and the least efficient that may still go out: (0, 1) and (1, 0) where there is none.
    """
    best = control[PROFIT]
    highest = np.int64(-1) << 62
    i, j, length = 0, 0, 0
    while i < count or j < count:
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
        if profit <= highest:
            continue
        highest = profit
        spare = capacity - weight
        if spare >= 0:
            if profit > best:
                best = profit
                control[HISTORY], control[ANCESTOR] = np.int64(history), ancestor
            if not _can_improve(profit, spare, best, right[0], right[1]):
                continue
        else:
            if left[1] == 0:
                break  # all that follow are heavier, and nothing can be taken out any more
            if not _can_improve(profit, spare, best, left[0], left[1]):
                continue
        then.profit[length], then.weight[length] = profit, weight
        then.history[length], then.ancestor[length] = history, ancestor
        length += 1
    control[PROFIT] = best
    control[VISITED] += 2 * count
    return length


@compiled
def advance(
    profit: IntArray,
    weight: IntArray,
    opposite: IntArray,
    profit_before: IntArray,
    weight_before: IntArray,
    capacity: int,
    break_item: int,
    one: States,
    other: States,
    treated: npt.NDArray[np.int32],
    control: IntArray,
    work: int,
) -> int:
    """Treat items right and left of those treated, in turn; return why it stopped.

    The list is in ``one`` before and after. ``treated[k]`` is the item of stage k of this history.
    An item whose opposite bound does not exceed the best profit needs no stage. Those bounds are
    computed here when first looked at, and negative before.
    """
    room = one.profit.size
    now, then = one, other
    swapped = False
    reason = PAUSE
    until = control[VISITED] + work
    while control[VISITED] < until:
        if control[COUNT] == 0 or control[PROFIT] >= control[TARGET]:
            reason = EMPTY
            break
        if control[STAGE] == STAGES:
            reason = CHECKPOINT
            break
        if 2 * control[COUNT] > room:
            reason = FULL
            break
        _skip(profit, weight, opposite, profit_before, weight_before, capacity, break_item, control)
        to_right = control[RIGHT] < profit.size
        if to_right and control[LEFT] >= 0:
            to_right = control[STAGE] % 2 == 0
        if to_right:
            item, sign = control[RIGHT], 1
            control[RIGHT] += 1
        elif control[LEFT] >= 0:
            item, sign = control[LEFT], -1
            control[LEFT] -= 1
        else:
            control[COUNT] = 0  # every item is treated, and the best profit is known
            continue
        _skip(profit, weight, opposite, profit_before, weight_before, capacity, break_item, control)
        right, left = (np.int64(0), np.int64(1)), (np.int64(1), np.int64(0))
        if control[RIGHT] < profit.size:
            right = (profit[control[RIGHT]], weight[control[RIGHT]])
        if control[LEFT] >= 0:
            left = (profit[control[LEFT]], weight[control[LEFT]])
        bit = np.uint64(1) << np.uint64(control[STAGE])
        treated[control[STAGE]] = item
        control[STAGE] += 1
        control[COUNT] = merge(
            now,
            control[COUNT],
            then,
            sign * profit[item],
            sign * weight[item],
            bit,
            capacity,
            right,
            left,
            control,
        )
        now, then = then, now
        swapped = not swapped
    if swapped:
        for k in range(control[COUNT]):
            one.profit[k], one.weight[k] = other.profit[k], other.weight[k]
            one.history[k], one.ancestor[k] = other.history[k], other.ancestor[k]
    return reason


@compiled
def _skip(
    profit: IntArray,
    weight: IntArray,
    opposite: IntArray,
    profit_before: IntArray,
    weight_before: IntArray,
    capacity: int,
    break_item: int,
    control: IntArray,
) -> None:
    """Pass items that stay as the break solution has them.

    Most do by the relaxation's own prices already, clear of rounding: an item costs what its profit
    differs from its weight's price. Only the others need a bound of their own.
    """
    best = control[PROFIT]
    efficiency = 0.0
    if break_item < profit.size:
        efficiency = float(profit[break_item]) / float(weight[break_item])
    spare = efficiency * float(capacity - weight_before[break_item])
    gap = float(profit_before[break_item] - best) + spare
    error = RELATIVE_ERROR * (float(best) + spare)
    for place, step in ((RIGHT, 1), (LEFT, -1)):
        j = control[place]
        while 0 <= j < profit.size:
            price = efficiency * float(weight[j])
            if abs(float(profit[j]) - price) - gap < ROUNDINGS * (error + RELATIVE_ERROR * price):
                if opposite[j] < 0:
                    opposite[j] = opposite_bound(
                        profit, weight, profit_before, weight_before, capacity, break_item, j
                    )
                if opposite[j] > best:
                    break
            j += step
        control[place] = j


@compiled
def keep_promising(
    states: States,
    count: int,
    capacity: int,
    best: int,
    right: tuple[int, int],
    left: tuple[int, int],
) -> int:
    """Drop states that cannot improve on ``best`` any more, in place; return how many are left."""
    length = 0
    for i in range(count):
        profit, weight = states.profit[i], states.weight[i]
        side = right if weight <= capacity else left
        if side[1] == 0 or not _can_improve(profit, capacity - weight, best, side[0], side[1]):
            continue
        states.profit[length], states.weight[length] = profit, weight
        states.history[length], states.ancestor[length] = states.history[i], states.ancestor[i]
        length += 1
    return length
