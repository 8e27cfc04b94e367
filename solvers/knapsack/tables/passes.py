"""Passes over the columns of a table: what one more stage makes of the best profits.

``values[i]`` is the best profit known of packings that weigh i at most, and a stage makes it
``max(values[i], values[i - weight] + profit)``, in place: from the last column downwards, or
upwards where copies may come in any number of times, so that raised columns are raised further.

Long tables are not walked along once for each stage. A few stages follow each other over a block
that stays in the cache; each lags behind the one before by its own weight, because it reads columns
that far below, in which the one before has to be done (Wolf: "More iteration space tiling", 1989).

A column that a stage raised can be recorded by a bit, from which the packing is read off later.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled, inlined
from solvers.knapsack.items import IntArray

CHUNK = 1024
"""Columns that are raised before they are written back: a part of the nearest cache."""

BLOCK = 1 << 15
"""Columns that one stage of several treats before the next one: a part of a core's own cache."""

SHORT = 32
"""Weights below which copies that come in any number of times are treated column by column."""

UintArray = npt.NDArray[np.uint64]

ONE = np.uint64(1)


@inlined
def _record(
    raised: Any, values: Any, start: int, stop: int, changed: UintArray, first: int
) -> None:
    """Set the bits of the columns that are higher now; bit 0 of word ``first`` is column 0's."""
    word = start >> 6
    while word << 6 < stop:
        begin, end = max(start, word << 6), min(stop, (word + 1) << 6)
        one, other = raised[begin - start : end - start], values[begin:end]
        bits, offset = np.uint64(0), np.uint64(begin & 63)
        for j in range(one.size):
            bits |= np.uint64(one[j] != other[j]) << np.uint64(j)
        changed[first + word] |= bits << offset
        word += 1


@inlined
def _copy(raised: Any, values: Any, start: int, stop: int) -> None:
    """Write the columns back; an assignment of slices takes several times as long."""
    made, old = raised[: stop - start], values[start:stop]
    for j in range(old.size):
        old[j] = made[j]


@inlined
def _raise(values: Any, raised: Any, start: int, stop: int, weight: int, profit: Any) -> None:
    """Put into ``raised`` what the columns from ``start`` up to ``stop`` become."""
    one, other = values[start:stop], values[start - weight : stop - weight]
    made = raised[: stop - start]
    for j in range(one.size):
        now, then = one[j], other[j] + profit
        made[j] = then if then > now else now


@compiled
def _downwards(
    values: Any,
    raised: Any,
    start: int,
    stop: int,
    weight: int,
    profit: Any,
    changed: UintArray,
    first: int,
    recording: bool,
) -> None:
    """Treat columns for a stage that takes its copies once."""
    start = max(start, weight)
    while stop > start:
        begin = max(start, (stop - 1) // CHUNK * CHUNK)
        _raise(values, raised, begin, stop, weight, profit)
        if recording:
            _record(raised, values, begin, stop, changed, first)
        _copy(raised, values, begin, stop)
        stop = begin


@compiled
def _upwards(
    values: Any,
    raised: Any,
    start: int,
    stop: int,
    weight: int,
    profit: Any,
    changed: UintArray,
    first: int,
    recording: bool,
) -> None:
    """Treat columns for a stage that takes its copies any number of times."""
    start = max(start, weight)
    if weight < SHORT:
        for i in range(start, stop):
            then = values[i - weight] + profit
            if then > values[i]:
                values[i] = then
                if recording:
                    changed[first + (i >> 6)] |= ONE << np.uint64(i & 63)
        return
    while start < stop:
        end = min(stop, start + min(CHUNK, weight))
        _raise(values, raised, start, end, weight, profit)
        if recording:
            _record(raised, values, start, end, changed, first)
        _copy(raised, values, start, end)
        start = end


@compiled
def treat(
    values: Any,
    weight: IntArray,
    profit: Any,
    upwards: bool,
    low: IntArray,
    high: IntArray,
    changed: UintArray,
    first: IntArray,
    recording: bool,
) -> None:
    """Treat the columns of a few stages that follow each other over blocks.

    Parameters
    ----------
    values : (columns,) int32 or int64 array
        In and out.
    weight : (k,) int64 array
    profit : (k,) array of the type of ``values``
    upwards : bool
        Whether the stages take their copies any number of times.
    low, high : (k,) int64 arrays
        First and last column of each stage.
    changed : uint64 array
        Bits of columns that rose, where ``recording``; zero before.
    first : (k,) int64 array
        Word of each stage's column 0, were it there.
    """
    raised = np.empty(CHUNK, dtype=values.dtype)
    stages = weight.size
    lag = np.zeros(stages, dtype=np.int64)
    begin, end = np.int64(1) << 62, -(np.int64(1) << 62)
    for t in range(stages):
        if t:
            # upwards, the stage before still reads as far below as it weighs itself
            behind = weight[t - 1] if upwards else weight[t]
            lag[t] = lag[t - 1] + (-behind if upwards else behind)
        begin, end = min(begin, low[t] - lag[t]), max(end, high[t] + 1 - lag[t])
    steps = (end - begin + BLOCK - 1) // BLOCK
    for step in range(steps):
        place = begin + step * BLOCK if upwards else end - (step + 1) * BLOCK
        for t in range(stages):
            start, stop = max(low[t], place + lag[t]), min(high[t] + 1, place + lag[t] + BLOCK)
            if start >= stop:
                continue
            if upwards:
                _upwards(
                    values, raised, start, stop, weight[t], profit[t], changed, first[t], recording
                )
            else:
                _downwards(
                    values, raised, start, stop, weight[t], profit[t], changed, first[t], recording
                )


@compiled
def trace(
    weight: IntArray,
    repeated: npt.NDArray[np.bool_],
    low: IntArray,
    high: IntArray,
    changed: UintArray,
    first: IntArray,
    column: int,
    taken: IntArray,
) -> int:
    """Read off from the last stage backwards how often each one's copies were taken.

    Returns the column before the first stage.
    """
    for t in range(weight.size - 1, -1, -1):
        while low[t] <= column <= high[t]:
            if not (changed[first[t] + (column >> 6)] >> np.uint64(column & 63)) & ONE:
                break
            taken[t] += 1
            column -= weight[t]
            if not repeated[t]:
                break
    return int(column)
