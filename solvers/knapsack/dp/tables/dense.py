"""Tables over all capacities: of the best profits, and of the sums that weights have.

The table of profits (Bellman, 1957) is made twice. The first time only profits are kept, which
mostly say that the packing at hand was best. If there is a better one, the second time records in
bits which columns each stage raised, from the last stages backwards: before each segment of stages,
whose bits fit in memory together, the first time left a copy of the profits.

Where profits follow from weights, bits say which capacities can be filled exactly. A stage shifts
the table by its weight and adds the bits to those that are there, 64 columns at a time (Pferschy,
"Dynamic programming revisited: improving knapsack algorithms", 1999). The stage that reached a
column first is kept beside it: the rest of that packing was reached by stages before it, so that
following them leads back to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.tables.plan import Plan
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_tables_dense import highest, mark, trace, treat

MOST_BYTES = 2**30
"""Memory that a table may take: half of it for bits, half for profits and copies of them."""

CALL_CELLS = 2 * 10**7
"""Columns of all stages between two looks at the clock: some hundredths of a second."""

MOST_FOLLOWING = 64
"""Stages that follow each other over a block."""

BLOCK = 1 << 15
"""Columns that one stage of several treats before the next one: a part of a core's own cache."""

LAG = 32 * BLOCK
"""Columns, altogether, by which the last of them may lag: what they use together stays in a cache.
Four stages of weights of 300,000 columns took three quarters of the time of one after the other."""

CALL_WORDS = 10**7
"""Words of all stages between two looks at the clock: some hundredths of a second."""

BYTES_PER_COLUMN = 4.125
"""A bit, and the number of a stage."""


UintArray = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Tabled:
    """What a table says."""

    taken: IntArray | None
    """(stages,) int64: how often each stage's copies are taken in a packing of most profit; None
    where none is better than the one known, or time was up before it was read off."""
    profit: int
    """No packing that the plan left open has more; only if ``is_complete``."""
    is_complete: bool


@dataclass(frozen=True)
class Segment:
    """Stages from ``first`` up to ``last`` whose bits are kept at the same time."""

    first: int
    last: int


def profit_type(plan: Plan, bound: int) -> type[np.signedinteger[Any]]:
    """Return the type that holds every profit in the table, of which none exceeds ``bound``."""
    return np.int32 if bound - plan.base < np.iinfo(np.int32).max else np.int64


def segments(plan: Plan, bound: int, most_bytes: int = MOST_BYTES) -> list[Segment] | None:
    """Cut the stages into segments; None where they do not fit in memory."""
    size = plan.width * np.dtype(profit_type(plan, bound)).itemsize
    bits = np.cumsum(8 * _words(plan))
    found: list[Segment] = []
    first = 0
    while first < plan.num_stages:
        before = int(bits[first - 1]) if first else 0
        last = int(np.searchsorted(bits, before + most_bytes // 2, side="right"))
        if last == first or (len(found) + 1) * size > most_bytes // 2:
            return None
        found.append(Segment(first, last))
        first = last
    return found


def fill_table(
    plan: Plan,
    profit: int,
    bound: int,
    stop: Callable[[], bool],
    most_bytes: int = MOST_BYTES,
) -> Tabled:
    """Make a table, and find its packing if that is better than ``profit``.

    Parameters
    ----------
    plan : Plan
    profit, bound : int
        Of the best packing known, and what none exceeds.
    stop : callable
        Asked now and then whether time is up.
    most_bytes : int
        Memory; see :func:`segments`.
    """
    parts = segments(plan, bound, most_bytes)
    if parts is None:
        return Tabled(None, bound, False)
    kind = profit_type(plan, bound)
    values = np.zeros(plan.width, dtype=kind)
    gain = np.minimum(plan.profit, np.iinfo(kind).max).astype(kind)
    copies: list[npt.NDArray[Any]] = []
    for part in parts:
        copies.append(values.copy() if part.first else values[:0])
        if not _run(plan, values, gain, part, stop):
            return Tabled(None, bound, False)
    column = int(np.argmax(values))
    found = plan.base + int(values[column])
    if found <= profit:
        return Tabled(None, profit, True)
    taken = np.zeros(plan.num_stages, dtype=np.int64)
    for part in reversed(parts):
        if part.first:
            values = copies.pop()
        else:
            values[:] = 0
        traced = _trace(plan, values, gain, part, column, taken, stop)
        if traced is None:
            return Tabled(None, found, True)
        column = traced
    return Tabled(taken, found, True)


def _words(plan: Plan) -> IntArray:
    """Return how many words the bits of each stage's columns take."""
    words: IntArray = (plan.high >> 6) - (plan.low >> 6) + 1
    return words


def _trace(
    plan: Plan,
    values: npt.NDArray[Any],
    gain: npt.NDArray[Any],
    part: Segment,
    column: int,
    taken: IntArray,
    stop: Callable[[], bool],
) -> int | None:
    """Make a segment again, as far as the column it ends in, and read off; None if time is up."""
    words = _words(plan)[part.first : part.last]
    before = np.cumsum(words) - words
    bits = np.zeros(int(words.sum()), dtype=np.uint64)
    first = before - (plan.low[part.first : part.last] >> 6)
    if not _run(plan, values, gain, part, stop, column, bits, first):
        return None
    stages = slice(part.first, part.last)
    return trace(
        plan.weight[stages],
        plan.repeated[stages],
        plan.low[stages],
        plan.high[stages],
        bits,
        first,
        column,
        taken[stages],
    )


NO_BITS: UintArray = np.zeros(1, dtype=np.uint64)
NO_PLACES: IntArray = np.zeros(0, dtype=np.int64)


def _run(
    plan: Plan,
    values: npt.NDArray[Any],
    gain: npt.NDArray[Any],
    part: Segment,
    stop: Callable[[], bool],
    last_column: int | None = None,
    bits: UintArray = NO_BITS,
    first: IntArray = NO_PLACES,
) -> bool:
    """Treat a segment's stages, as far as ``last_column``; return whether there was time."""
    recording = first.size > 0
    high = plan.high if last_column is None else np.minimum(plan.high, last_column)
    for start, end in following(plan, part):
        if stop():
            return False
        stages = slice(start, end)
        places = first[start - part.first : end - part.first] if recording else plan.low[stages]
        treat(
            values,
            plan.weight[stages],
            gain[stages],
            bool(plan.repeated[start]),
            plan.low[stages],
            high[stages],
            bits,
            places,
            recording,
        )
    return True


def following(plan: Plan, part: Segment) -> list[tuple[int, int]]:
    """Return runs of stages that follow each other over blocks."""
    runs, start = [], part.first
    while start < part.last:
        end, lag, cells = start, 0, 0
        while end < part.last and plan.repeated[end] == plan.repeated[start]:
            lag += int(plan.weight[end])
            cells += int(plan.high[end] - plan.low[end]) + 1
            if end > start and (lag > LAG or cells > CALL_CELLS or end - start >= MOST_FOLLOWING):
                break
            end += 1
        runs.append((start, end))
        start = end
    return runs


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
