"""Which capacities can be filled exactly, as bits, where profits follow from weights.

A stage shifts the table by its weight and adds the bits to those that are there, 64 columns at a
time (Pferschy, "Dynamic programming revisited: improving knapsack algorithms", 1999). The stage
that reached a column first is kept beside it: the rest of that packing was reached by stages before
it, so that following them leads back to nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.tables.dense import MOST_BYTES, Tabled
from solvers.knapsack.tables.plan import Plan

CALL_WORDS = 10**7
"""Words of all stages between two looks at the clock: some hundredths of a second."""

BYTES_PER_COLUMN = 4.125
"""A bit, and the number of a stage."""

UintArray = npt.NDArray[np.uint64]

ONE = np.uint64(1)
LAST = np.uint64(63)


def unit_profit(plan: Plan) -> int:
    """Return what a column more is worth, if every profit is that many times its weight; or 0."""
    unit = int(np.gcd.reduce(plan.profit))
    return unit if bool((plan.profit // unit == plan.weight).all()) else 0


def fits(plan: Plan, most_bytes: int = MOST_BYTES) -> bool:
    """Whether there is memory for a table of sums."""
    return plan.width * BYTES_PER_COLUMN <= most_bytes


def fill_sums(plan: Plan, profit: int, bound: int, stop: Callable[[], bool]) -> Tabled:
    """Mark the weights of all packings, and find the heaviest if it is better than ``profit``.

    Parameters
    ----------
    plan : Plan
        With profits proportional to weights, and without repeated stages.
    profit, bound : int
        Of the best packing known, and what none exceeds: reaching it ends the search.
    stop : callable
        Asked now and then whether time is up.
    """
    unit = unit_profit(plan)
    wanted = min((bound - plan.base) // unit, plan.width - 1)
    words = np.zeros((plan.width >> 6) + 1, dtype=np.uint64)
    words[0] = ONE
    stage = np.full(plan.width, -1, dtype=np.int32)
    start, count = 0, plan.num_stages
    work = np.cumsum((plan.high - plan.low) // 64 + 1)
    while start < count and not words[wanted >> 6] >> np.uint64(wanted & 63) & ONE:
        if stop():
            return Tabled(None, bound, False)
        done = int(work[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(work, done + CALL_WORDS, side="right")))
        start = int(mark(words, stage, plan.weight, plan.low, plan.high, start, end, wanted))
    column = highest(words, wanted)
    found = plan.base + unit * column
    if found <= profit:
        return Tabled(None, profit, True)
    taken = np.zeros(count, dtype=np.int64)
    while column:
        taken[stage[column]] += 1
        column -= int(plan.weight[stage[column]])
    return Tabled(taken, found, True)


@compiled
def mark(
    words: UintArray,
    stage: npt.NDArray[np.int32],
    weight: IntArray,
    low: IntArray,
    high: IntArray,
    first: int,
    last: int,
    wanted: int,
) -> int:
    """Add the columns that stages from ``first`` up to ``last`` reach; return the next stage.

    Columns beyond ``wanted`` are of no use, and the stage that reaches it is the last.
    """
    for t in range(first, last):
        shift, bits = weight[t] >> 6, np.uint64(weight[t] & 63)
        begin, end = max(low[t] >> 6, shift), min(high[t], wanted) >> 6
        for word in range(end, begin - 1, -1):
            come = words[word - shift] << bits
            if bits and word > shift:
                come |= words[word - shift - 1] >> (np.uint64(64) - bits)
            come &= ~words[word]
            if not come:
                continue
            if word == wanted >> 6:
                come &= ~np.uint64(0) >> (LAST - np.uint64(wanted & 63))
            words[word] |= come
            while come:
                bit = np.int64(_trailing_zeros(come))
                stage[(word << 6) + bit] = t
                come &= come - ONE
        if words[wanted >> 6] >> np.uint64(wanted & 63) & ONE:
            return int(t + 1)
    return int(last)


@compiled
def _trailing_zeros(word: np.uint64) -> int:
    """Return the number of the lowest bit that is set."""
    lowest, count = word & (~word + ONE), 0
    for step in (32, 16, 8, 4, 2, 1):
        if lowest >> np.uint64(step):
            lowest >>= np.uint64(step)
            count += step
    return count


@compiled
def highest(words: UintArray, wanted: int) -> int:
    """Return the last marked column up to ``wanted``; column 0 is always marked."""
    word = wanted >> 6
    left = words[word] & (~np.uint64(0) >> (LAST - np.uint64(wanted & 63)))
    while not left:
        word -= 1
        left = words[word]
    column = word << 6
    while left > ONE:
        left >>= ONE
        column += 1
    return int(column)
