"""Stages of dynamic programming over items of falling weight, and the bounds that prune them.

What is left to come is light, so that a state's spare capacity is bounded by items that fit: a
relaxation for each of a few suffixes of the items, of which a state uses the last one that all
items it has room for are in. Filling a state up greedily with those items gives a packing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.efficiency import sums_before
from solvers.knapsack.items import IntArray
from solvers.knapsack.states import ANCESTOR, HISTORY, PROFIT, VISITED, States

SUFFIX, PLACES = 9, 10
"""Places in the control array behind those of ``states``: of the best packing, the row of suffixes
and how many of that row's items follow its state."""

NEXT, NEXT_SHIFTED, LENGTH, HIGHEST, ROW, PLACE = range(11, 17)
"""Places behind these, of a stage that goes on later: the next states of the list and of its
shifted copy, how many are kept and the highest profit of them, the row of suffixes in use, and the
number of its items that fit."""

CONTROL = 17
"""Length of the control array."""

FULL, PAUSED = -1, -2
"""Instead of a length: there is no room for more states, or as many were looked at as allowed."""

ROUNDING = 1e-14
"""Relative error, and more, of a relaxation's value in double precision."""


class Suffixes(NamedTuple):
    """For each row, items from one place on, by falling efficiency; row 0 is the next stage's.

    Parameters
    ----------
    start, size : (k,) int64 arrays
        First place in the order of falling weight, and number of items.
    above : (k,) int64 array
        The lightest weight before ``start``.
    profit_before, weight_before : (k, n + 1) int64 arrays
        Sums over the first items of each row.
    ratio : (k, n + 1) float64 array
        Efficiency of each row's items, and 0 behind them.
    """

    start: IntArray
    size: IntArray
    above: IntArray
    profit_before: IntArray
    weight_before: IntArray
    ratio: npt.NDArray[np.float64]


def suffixes(profit: IntArray, weight: IntArray, efficient: IntArray, starts: IntArray) -> Suffixes:
    """Return suffixes from places in the order of falling weight, with row 0 still to be set.

    ``efficient`` are the same items' places by falling efficiency.
    """
    rows, n = starts.size + 1, profit.size
    made = Suffixes(
        np.concatenate([[0], starts]),
        np.zeros(rows, dtype=np.int64),
        np.concatenate([[0], weight[np.maximum(starts - 1, 0)]]),
        np.zeros((rows, n + 1), dtype=np.int64),
        np.zeros((rows, n + 1), dtype=np.int64),
        np.zeros((rows, n + 1), dtype=np.float64),
    )
    for row in range(1, rows):
        set_suffix(made, row, int(starts[row - 1]), profit, weight, efficient)
    return made


def set_suffix(
    made: Suffixes, row: int, start: int, profit: IntArray, weight: IntArray, efficient: IntArray
) -> None:
    """Make a row that of the items from ``start`` on."""
    places = efficient[efficient >= start]
    size = places.size
    made.start[row], made.size[row] = start, size
    made.profit_before[row, : size + 1] = sums_before(profit[places])
    made.weight_before[row, : size + 1] = sums_before(weight[places])
    made.ratio[row, :size] = profit[places] / weight[places]
    made.ratio[row, size] = 0.0


def begin_stage(known: Suffixes, control: IntArray) -> None:
    """Make the next call of :func:`descend` begin at the first states."""
    control[[NEXT, NEXT_SHIFTED, LENGTH, HIGHEST, ROW]] = 0, 0, 0, -1, 0
    control[PLACE] = known.size[0]


@compiled
def descend(
    now: States,
    count: int,
    then: States,
    profit_step: int,
    weight_step: int,
    bit: np.uint64,
    capacity: int,
    known: Suffixes,
    control: IntArray,
    most: int,
) -> int:
    """Merge a list with its copy shifted by one item; return the length of ``then``.

    ``known`` has in row 0 the items that come later. The length is FULL where ``then`` has no room,
    and PAUSED after ``most`` states: then the same call goes on.
    """
    best = control[PROFIT]
    highest = control[HIGHEST]
    i, j, length = int(control[NEXT]), int(control[NEXT_SHIFTED]), int(control[LENGTH])
    row, place = control[ROW], control[PLACE]
    room = then.profit.size
    until = i + j + most
    while i < count or j < count:
        if i + j >= until:
            control[PROFIT] = best
            control[NEXT], control[NEXT_SHIFTED], control[LENGTH] = i, j, length
            control[HIGHEST], control[ROW], control[PLACE] = highest, row, place
            return PAUSED
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
        if weight > capacity:
            j = count  # and so are all the others of the copy
            continue
        if profit <= highest:
            continue
        highest = profit
        spare = capacity - weight
        while row + 1 < known.start.size and (
            known.start[row + 1] <= known.start[0] or known.above[row + 1] > spare
        ):
            row += 1
            place = known.size[row]
        use = row if known.start[row] > known.start[0] else 0
        place = min(place, known.size[use])
        while known.weight_before[use, place] > spare:
            place -= 1
        filled = profit + known.profit_before[use, place]
        if filled > best:
            best = filled
            control[HISTORY], control[ANCESTOR] = np.int64(history), ancestor
            control[SUFFIX], control[PLACES] = use, place
        part = float(spare - known.weight_before[use, place]) * known.ratio[use, place]
        # only a gain of a whole unit counts
        if part + ROUNDING * float(best) < float(best + 1 - filled):
            continue
        if length == room:
            control[PROFIT] = best
            return FULL
        then.profit[length], then.weight[length] = profit, weight
        then.history[length], then.ancestor[length] = history, ancestor
        length += 1
    control[PROFIT] = best
    control[VISITED] += 2 * count
    return length
