"""Which capacities can be filled exactly, as bits, where profits follow from weights.

A stage shifts the table by its weight and adds the bits to those that are there, 64 columns at a
time (Pferschy, "Dynamic programming revisited: improving knapsack algorithms", 1999). The stage
that reached a column first is kept beside it: the rest of that packing was reached by stages before
it, so that following them leads back to nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.knapsack.dp.tables.dense import MOST_BYTES, Tabled
from solvers.knapsack.dp.tables.plan import Plan
from solvers.native.knapsack_dp_tables_sums import highest, mark

CALL_WORDS = 10**7
"""Words of all stages between two looks at the clock: some hundredths of a second."""

BYTES_PER_COLUMN = 4.125
"""A bit, and the number of a stage."""

ONE = np.uint64(1)


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
        start = mark(words, stage, plan.weight, plan.low, plan.high, start, end, wanted)
    column = highest(words, wanted)
    found = plan.base + unit * column
    if found <= profit:
        return Tabled(None, profit, True)
    taken = np.zeros(count, dtype=np.int64)
    while column:
        taken[stage[column]] += 1
        column -= int(plan.weight[stage[column]])
    return Tabled(taken, found, True)
