"""Sequential bound propagation: a queue of rows, activities updated with every changed bound.

A row is taken from the queue, checked, and walked once to tighten its columns; each change goes
through the column to the activities of the other rows, and those that may now tighten something
join the queue. Rows keep an upper bound on their widest term, so that a row of 100,000 entries is
not walked again each time that one of them changes while it has slack to spare.

Infinite terms are counted and never added (Sofranac, Gleixner, Pokutta 2022, section 2), which lets
a row tighten its only unbounded column. Integer columns take any change, so that on bounded
integer models the end point is the unique fixed point; continuous ones take changes that matter.

Everything here is compiled and needs no Python. Tuples of arrays are taken apart before a loop,
as each access inside would count references.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.state import (
    CAPPED,
    CONFLICT,
    INFEASIBLE,
    INFINITE,
    LEVEL,
    NOISE,
    QUEUE_HEAD,
    QUEUE_SIZE,
    TRAIL,
    UPPER,
    WIDEST,
    WORK,
    Box,
    Matrix,
)
from solvers.problem import FloatArray

SMALLEST_COEFFICIENT = 1e-9
"""Coefficients below this tighten nothing: dividing by them would blow rounding errors up."""

LARGEST_BOUND = 1e15
"""Bounds beyond this are not taken: there a double no longer tells integers apart."""

ROW_TOLERANCE = 1e-6
"""Absolute excess at which a row is contradicted (the feasibility tolerance of the model)."""

RELATIVE_ROW_TOLERANCE = 1e-9
"""The same relative to the side, for sides so large that sums carry larger rounding errors."""

ROUNDING = 1e-6
"""Slack when a bound of an integer column is rounded to a whole number."""

CROSSING = 1e-6
"""Bounds of a continuous column that cross by no more than this collapse to one point."""

OUTWARD = 1e-9
"""Bounds of continuous columns are relaxed by this, relative to ``max(1, |bound|)``."""

SUM_ERROR = 1e-12
"""Rounding error of a row's sum, relative to it: a hundred thousand entries leave less."""

SIGNIFICANT = 1e-3
"""Least change of a continuous bound, relative to its size and to the width of the interval."""

CANCELLED = 1e6
"""A term this much larger than the rest of the row leaves no digits: the rest is summed anew."""

NOISE_LIMIT = 1e-8
"""Possible rounding error at which a row's activities are summed anew: a hundredth of 1e-6."""

EPSILON = 2.2e-16
"""Relative rounding error of one addition."""


@internal
def excess_of(rows: FloatArray, i: int, which: int) -> float:
    """Return by how much a side is missed wherever the columns are, beyond its tolerance; or 0."""
    if rows[i, INFINITE + which] > 0.0:
        return 0.0
    side = rows[i, UPPER + which]
    excess = rows[i, which] - side if which == 0 else side - rows[i, which]
    least = max(ROW_TOLERANCE, RELATIVE_ROW_TOLERANCE * abs(side))
    return float(excess) if excess > least else 0.0


@internal
def may_act(rows: FloatArray, i: int, which: int) -> bool:
    """Whether a side of a row may tighten something or be contradicted."""
    count = rows[i, INFINITE + which]
    slack = abs(rows[i, UPPER + which])
    if count > 1.0 or slack == np.inf:
        return False
    slack = rows[i, UPPER + which] - rows[i, which]
    if which == 1:
        slack = -slack
    return bool(count == 1.0 or slack < rows[i, WIDEST] + max(0.0, rows[i, NOISE]))


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


@compiled
def sum_row(matrix: Matrix, box: Box, i: int) -> None:
    """Sum a row's activities from the bounds."""
    bounds, rows = box.bounds, box.rows
    row_column, row_value = matrix.row_column, matrix.row_value
    for place in range(INFINITE + 2):
        rows[i, place] = 0.0
    rows[i, NOISE] = min(rows[i, NOISE], 0.0)
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        j, a = row_column[p], row_value[p]
        for side in range(2):
            which = side if a > 0.0 else 1 - side
            if np.isfinite(bounds[side, j]):
                rows[i, which] += a * bounds[side, j]
            else:
                rows[i, INFINITE + which] += 1.0
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]


@compiled
def sum_all(matrix: Matrix, box: Box) -> None:
    """Sum all activities and find the widest term of each row."""
    bounds, rows = box.bounds, box.rows
    row_start, row_column, row_value = matrix.row_start, matrix.row_column, matrix.row_value
    for i in range(rows.shape[0]):
        sum_row(matrix, box, i)
        widest = 0.0
        for p in range(row_start[i], row_start[i + 1]):
            width = bounds[1, row_column[p]] - bounds[0, row_column[p]]
            if width > 0.0 and row_value[p] != 0.0:
                widest = max(widest, abs(row_value[p]) * width)
        rows[i, WIDEST] = widest


@internal
def rest_of_row(matrix: Matrix, box: Box, i: int, without: int, which: int) -> float:
    """Sum a row's smallest (0) or largest (1) activity without one place; the rest is finite."""
    bounds, row_column, row_value = box.bounds, matrix.row_column, matrix.row_value
    total = 0.0
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        if p != without:
            a = row_value[p]
            total += a * bounds[which if a > 0.0 else 1 - which, row_column[p]]
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]
    return total


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
def visit_row(matrix: Matrix, box: Box, i: int, lenient: bool) -> bool:  # noqa: C901 (one hot loop)
    """Check a row and tighten its columns; False on a contradiction.

    Each side is read as ``b x <= side`` with the smallest activity of ``b x``: the lower one with
    all signs turned.
    """
    bounds, rows = box.bounds, box.rows
    row_column, row_value = matrix.row_column, matrix.row_value
    if rows[i, NOISE] > NOISE_LIMIT:
        sum_row(matrix, box, i)
    if excess_of(rows, i, 0) > 0.0 or excess_of(rows, i, 1) > 0.0:
        conflict(box, i, lenient)
        return False
    first, last = matrix.row_start[i], matrix.row_start[i + 1]
    from_which = 0 if may_act(rows, i, 0) else 1
    to_which = 2 if may_act(rows, i, 1) else 1
    if from_which == to_which:
        return True
    box.counts[WORK] += last - first
    consistent = True
    widest = 0.0
    for p in range(first, last):
        j, a = as_index(row_column[p]), row_value[p]
        low, high = bounds[0, j], bounds[1, j]
        width = abs(a) * (high - low)
        if not width > 0.0 or abs(a) < SMALLEST_COEFFICIENT:
            continue
        new_low, new_high = low, high
        for which in range(from_which, to_which):
            sign = 1.0 - 2.0 * which
            side, activity = sign * rows[i, UPPER + which], sign * rows[i, which]
            count = rows[i, INFINITE + which]
            if count > 1.0 or (count == 0.0 and width <= side - activity):
                continue
            b = sign * a
            own = b * low if b > 0.0 else b * high
            if np.isfinite(own):
                if count > 0.0:
                    continue
            else:
                own = 0.0
            rest, error = activity - own, 0.0
            if rows[i, NOISE] >= 0.0:
                if abs(own) > CANCELLED * max(1.0, abs(rest)):
                    rest = sign * rest_of_row(matrix, box, i, p, which)
                error = rows[i, NOISE] + SUM_ERROR * max(abs(side), abs(rest))
            bound = (side - rest + error) / b
            if b > 0.0:
                new_high = min(new_high, bound)
            else:
                new_low = max(new_low, bound)
        if new_low > low or new_high < high:
            if not tighten_column(matrix, box, j, i, new_low, new_high, lenient):
                if not lenient:
                    return False
                consistent = False
            width = abs(a) * (bounds[1, j] - bounds[0, j])
        widest = max(widest, width)
    if widest < rows[i, WIDEST]:
        record(box, 2 * matrix.is_integer.size + i, rows[i, WIDEST])
        rows[i, WIDEST] = widest
    return consistent


@internal
def drain(box: Box) -> None:
    """Forget the queued rows."""
    counts, queue, queued = box.counts, box.queue, box.queued
    for place in range(counts[QUEUE_HEAD], counts[QUEUE_HEAD] + counts[QUEUE_SIZE]):
        queued[queue[place if place < queue.size else place - queue.size]] = 0
    counts[QUEUE_HEAD] = counts[QUEUE_SIZE] = 0


@compiled
def propagate(matrix: Matrix, box: Box, cap: int, lenient: bool) -> bool:
    """Visit queued rows until none is left or ``cap`` entries have been; False if contradicted.

    A lenient propagation passes over contradicted rows and bounds that would cross, and goes on:
    for points that are to be repaired later. The room of one level is needed on the trail.
    """
    counts, queue, queued = box.counts, box.queue, box.queued
    consistent = bool(counts[INFEASIBLE] == 0)
    end = counts[WORK] + cap
    while counts[QUEUE_SIZE] > 0 and (consistent or lenient):
        if counts[WORK] > end:
            counts[CAPPED] += 1
            break
        i = as_index(queue[counts[QUEUE_HEAD]])
        counts[QUEUE_HEAD] += 1
        if counts[QUEUE_HEAD] == queue.size:
            counts[QUEUE_HEAD] = 0
        counts[QUEUE_SIZE] -= 1
        queued[i] = 0
        if not visit_row(matrix, box, i, lenient):
            consistent = False
    drain(box)
    return consistent


@compiled
def wake(box: Box, rows: np.ndarray) -> None:
    """Queue the given rows."""
    counts, queue, queued = box.counts, box.queue, box.queued
    for i in rows:
        if queued[i] == 0:
            queued[i] = 1
            queue[(counts[QUEUE_HEAD] + counts[QUEUE_SIZE]) % queue.size] = i
            counts[QUEUE_SIZE] += 1


@compiled
def wake_all(box: Box) -> None:
    """Queue every row that may act, in the order of the rows."""
    drain(box)
    counts, queue, queued, rows = box.counts, box.queue, box.queued, box.rows
    size = 0
    for i in range(queue.size):
        if may_act(rows, i, 0) or may_act(rows, i, 1):
            queue[size] = i
            queued[i] = 1
            size += 1
    counts[QUEUE_SIZE] = size


@compiled
def decide(
    matrix: Matrix, box: Box, j: int, low: float, high: float, cap: int, lenient: bool
) -> bool:
    """Narrow a column to [low, high] within its bounds, and propagate; False if contradicted."""
    low, high = max(low, box.bounds[0, j]), min(high, box.bounds[1, j])
    if low > high:
        conflict(box, -1, lenient)
        return False
    for side in range(2):
        new = low if side == 0 else high
        if new != box.bounds[side, j]:
            set_bound(matrix, box, j, side, new)
    return bool(propagate(matrix, box, cap, lenient))


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
