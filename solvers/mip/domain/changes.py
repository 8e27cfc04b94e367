"""Changing bounds: the trail, the activities that depend on them, the rows to be woken."""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.activities import may_act
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.state import (
    CONFLICT,
    INFEASIBLE,
    INFINITE,
    LEVEL,
    NOISE,
    QUEUE_HEAD,
    QUEUE_SIZE,
    TRAIL,
    WIDEST,
    WORK,
    Box,
    Matrix,
)

LARGEST_BOUND = 1e15
"""Bounds beyond this are not taken: there a double no longer tells integers apart."""

ROUNDING = 1e-6
"""Slack when a bound of an integer column is rounded to a whole number."""

CROSSING = 1e-6
"""Bounds of a continuous column that cross by no more than this collapse to one point."""

OUTWARD = 1e-9
"""Bounds of continuous columns are relaxed by this, relative to ``max(1, |bound|)``."""

SIGNIFICANT = 1e-3
"""Least change of a continuous bound, relative to its size and to the width of the interval."""

EPSILON = 2.2e-16
"""Relative rounding error of one addition."""


@internal
def record(box: Box, code: int, old: float) -> None:
    """Put a value on the trail, unless it is there already at this level."""
    counts, stamp = box.counts, box.stamp
    if stamp[code] != counts[LEVEL]:
        stamp[code] = counts[LEVEL]
        box.trail_code[counts[TRAIL]] = code
        box.trail_old[counts[TRAIL]] = old
        counts[TRAIL] += 1


@internal
def move_bound(matrix: Matrix, box: Box, j: int, side: int, new: float, wake: bool) -> None:
    """Change a bound, carry it into the activities, and wake the rows that it may matter to."""
    rows, queue, queued, counts = box.rows, box.queue, box.queued, box.counts
    column_row, column_value = matrix.column_row, matrix.column_value
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    old = box.bounds[side, j]
    box.bounds[side, j] = new
    step, count = 0.0, 0.0
    if np.isfinite(new):
        step, count = new, -1.0
    if np.isfinite(old):
        step, count = step - old, count + 1.0
    end = counts[QUEUE_HEAD] + counts[QUEUE_SIZE]
    for p in range(first, last):
        i = column_row[p]
        which = side if column_value[p] > 0.0 else 1 - side
        change = column_value[p] * step
        rows[i, which] += change
        rows[i, INFINITE + which] += count
        if rows[i, NOISE] >= 0.0:
            rows[i, NOISE] += EPSILON * (abs(rows[i, which]) + abs(change))
        if wake and queued[i] == 0 and may_act(rows, i, which):
            queued[i] = 1
            queue[end if end < queue.size else end - queue.size] = i
            end += 1
    counts[QUEUE_SIZE] = end - counts[QUEUE_HEAD]
    counts[WORK] += last - first


@internal
def set_bound(matrix: Matrix, box: Box, j: int, side: int, new: float) -> None:
    """Change a bound, with trail, activities and queue."""
    record(box, side * matrix.is_integer.size + j, box.bounds[side, j])
    move_bound(matrix, box, j, side, new, True)


@internal
def accepted_low(low: float, old: float, high: float, is_integer: int) -> float:
    """Return the lower bound to be set, or ``old`` where the change is not worth it."""
    if not abs(low) <= LARGEST_BOUND:
        return old
    if is_integer == 1:
        return float(max(old, np.ceil(low - ROUNDING) + 0.0))  # + 0.0 makes zero of minus zero
    low -= OUTWARD * max(1.0, abs(low))
    least = SIGNIFICANT * max(1.0, abs(low))
    if high < np.inf:
        least = max(least, SIGNIFICANT * (high - old))
    return low if old == -np.inf or low - old > least else old


@internal
def conflict(box: Box, i: int, lenient: bool) -> None:
    """Note a contradiction; unless lenient, the box is empty from here on."""
    counts = box.counts
    counts[CONFLICT] = i
    if not lenient and counts[INFEASIBLE] == 0:
        counts[INFEASIBLE] = 1
        box.trail_code[counts[TRAIL]] = -1
        counts[TRAIL] += 1


@internal
def tighten_column(
    matrix: Matrix, box: Box, j: int, i: int, low: float, high: float, lenient: bool
) -> bool:
    """Take what a row says about a column, if it is worth it; False where it leaves nothing."""
    old_low, old_high = box.bounds[0, j], box.bounds[1, j]
    low = accepted_low(low, old_low, old_high, matrix.is_integer[j])
    high = -accepted_low(-high, -old_high, -old_low, matrix.is_integer[j])
    if low > high:
        if matrix.is_integer[j] == 1 or low > high + CROSSING:
            conflict(box, i, lenient)
            return False
        low = high = min(max(low, old_low), old_high)
    for side in range(2):
        new = low if side == 0 else high
        if new != box.bounds[side, j]:
            set_bound(matrix, box, j, side, new)
    return True


@internal
def drain(box: Box) -> None:
    """Forget the queued rows."""
    counts, queue, queued = box.counts, box.queue, box.queued
    for place in range(counts[QUEUE_HEAD], counts[QUEUE_HEAD] + counts[QUEUE_SIZE]):
        queued[queue[place if place < queue.size else place - queue.size]] = 0
    counts[QUEUE_HEAD] = counts[QUEUE_SIZE] = 0


@compiled
def mark(box: Box) -> int:
    """Begin a new level and return the place on the trail to go back to."""
    box.counts[LEVEL] += 1
    return int(box.counts[TRAIL])


@compiled
def undo(matrix: Matrix, box: Box, place: int) -> None:
    """Give all values back that they had when the trail was ``place`` long."""
    counts, n = box.counts, matrix.is_integer.size
    trail_code, trail_old, rows = box.trail_code, box.trail_old, box.rows
    drain(box)
    for entry in range(counts[TRAIL] - 1, place - 1, -1):
        code, old = as_index(trail_code[entry]), trail_old[entry]
        if code < 0:
            counts[INFEASIBLE] = 0
        elif code >= 2 * n:
            rows[code - 2 * n, WIDEST] = old
        elif code >= n:
            move_bound(matrix, box, code - n, 1, old, False)
        else:
            move_bound(matrix, box, code, 0, old, False)
    counts[TRAIL] = place
    counts[LEVEL] += 1
