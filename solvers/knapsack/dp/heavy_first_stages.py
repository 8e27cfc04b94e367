"""Stages of dynamic programming over items of falling weight, and the bounds that prune them.

What is left to come is light, so that a state's spare capacity is bounded by items that fit: a
relaxation for each of a few suffixes of the items, of which a state uses the last one that all
items it has room for are in. Filling a state up greedily with those items gives a packing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import sums_before
from solvers.knapsack.items import IntArray

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
    """Make the next call of ``advance`` begin at the first states."""
    control[[NEXT, NEXT_SHIFTED, LENGTH, HIGHEST, ROW]] = 0, 0, 0, -1, 0
    control[PLACE] = known.size[0]
