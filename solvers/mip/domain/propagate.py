"""Sequential bound propagation: a queue of rows, activities updated with every changed bound.

A row is taken from the queue, checked, and walked once to tighten its columns; each change goes
through the column to the activities of the other rows, and those that may now tighten something
join the queue. Rows keep an upper bound on their widest term, so that a row of 100,000 entries is
not walked again each time that one of them changes while it has slack to spare.

Infinite terms are counted and never added (Sofranac, Gleixner, Pokutta 2022, section 2), which lets
a row tighten its only unbounded column. The thresholds are those of notes on propagation that the
whole package shares; integer columns take any change, so that on bounded integer models the end
point is the unique fixed point. Everything here is compiled and needs no Python.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.inlined import inlined
from solvers.mip.domain.state import (
    CAPPED,
    CONFLICT,
    INFEASIBLE,
    LEVEL,
    QUEUE_HEAD,
    QUEUE_SIZE,
    TRAIL,
    WORK,
    Box,
    Matrix,
)

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


@inlined
def record(box: Box, code: int, old: float) -> None:
    """Put a value on the trail, unless it is there already at this level."""
    counts = box.counts
    if box.stamp[code] != counts[LEVEL]:
        box.stamp[code] = counts[LEVEL]
        box.trail_code[counts[TRAIL]] = code
        box.trail_old[counts[TRAIL]] = old
        counts[TRAIL] += 1


@inlined
def slack_of(matrix: Matrix, box: Box, which: int, i: int) -> float:
    """Return how far an activity is from its side: 0 for smallest and upper, 1 for the other."""
    if which == 0:
        return float(matrix.row_upper[i] - box.activity[0, i])
    return float(box.activity[1, i] - matrix.row_lower[i])


@inlined
def may_act(matrix: Matrix, box: Box, which: int, i: int) -> bool:
    """Whether the row's side may tighten something or be contradicted."""
    count = box.infinite[which, i]
    slack = slack_of(matrix, box, which, i)
    return slack < np.inf and (count == 1 or (count == 0 and slack < box.widest[i] + box.noise[i]))


@inlined
def enqueue(box: Box, i: int) -> None:
    """Put a row at the end of the queue if it is not in it."""
    if box.queued[i] == 0:
        box.queued[i] = 1
        counts = box.counts
        place = counts[QUEUE_HEAD] + counts[QUEUE_SIZE]
        if place >= box.queue.size:
            place -= box.queue.size
        box.queue[place] = i
        counts[QUEUE_SIZE] += 1


@inlined
def shift_activities(matrix: Matrix, box: Box, j: int, side: int, new: float, wake: bool) -> None:
    """Carry a bound's change to ``new`` into the rows, and wake those it may matter to."""
    old = box.bounds[side, j]
    box.bounds[side, j] = new
    was, becomes = np.isfinite(old), np.isfinite(new)
    for p in range(matrix.column_start[j], matrix.column_start[j + 1]):
        i = matrix.column_row[p]
        a = matrix.column_value[p]
        which = side if a > 0.0 else 1 - side
        if was and becomes:
            change = a * (new - old)
        elif was:
            change = -a * old
            box.infinite[which, i] += 1
        elif becomes:
            change = a * new
            box.infinite[which, i] -= 1
        else:
            change = 0.0
        box.activity[which, i] += change
        if matrix.exact[i] == 0:
            box.noise[i] += EPSILON * (abs(box.activity[which, i]) + abs(change))
        if wake and box.queued[i] == 0 and may_act(matrix, box, which, i):
            enqueue(box, i)
    box.counts[WORK] += matrix.column_start[j + 1] - matrix.column_start[j]


@inlined
def set_bound(matrix: Matrix, box: Box, j: int, side: int, new: float) -> None:
    """Change a bound, with trail, activities and queue."""
    record(box, side * matrix.is_integer.size + j, box.bounds[side, j])
    shift_activities(matrix, box, j, side, new, True)


@compiled
def sum_row(matrix: Matrix, box: Box, i: int) -> None:
    """Sum a row's activities from the bounds."""
    bounds = box.bounds
    box.activity[0, i] = box.activity[1, i] = 0.0
    box.infinite[0, i] = box.infinite[1, i] = 0
    box.noise[i] = 0.0
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        j = matrix.row_column[p]
        a = matrix.row_value[p]
        for side in range(2):
            which = side if a > 0.0 else 1 - side
            if np.isfinite(bounds[side, j]):
                box.activity[which, i] += a * bounds[side, j]
            else:
                box.infinite[which, i] += 1
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]


@compiled
def sum_all(matrix: Matrix, box: Box) -> None:
    """Sum all activities and find the widest term of each row."""
    for i in range(matrix.row_lower.size):
        sum_row(matrix, box, i)
        widest = 0.0
        for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
            j = matrix.row_column[p]
            width = box.bounds[1, j] - box.bounds[0, j]
            if width > 0.0 and matrix.row_value[p] != 0.0:
                widest = max(widest, abs(matrix.row_value[p]) * width)
        box.widest[i] = widest


@compiled
def rest_of_row(matrix: Matrix, box: Box, i: int, without: int, which: int) -> float:
    """Sum a row's smallest (0) or largest (1) activity without one place; the rest is finite."""
    total = 0.0
    for p in range(matrix.row_start[i], matrix.row_start[i + 1]):
        if p != without:
            a = matrix.row_value[p]
            total += a * box.bounds[which if a > 0.0 else 1 - which, matrix.row_column[p]]
    box.counts[WORK] += matrix.row_start[i + 1] - matrix.row_start[i]
    return total


@inlined
def excess_of(matrix: Matrix, box: Box, which: int, i: int) -> float:
    """Return by how much a side is missed whatever the columns do, beyond its tolerance; or 0."""
    if box.infinite[which, i] > 0:
        return 0.0
    side = matrix.row_upper[i] if which == 0 else matrix.row_lower[i]
    excess = -slack_of(matrix, box, which, i)
    least = max(ROW_TOLERANCE, RELATIVE_ROW_TOLERANCE * abs(side))
    return float(excess) if excess > least else 0.0


@inlined
def implied(matrix: Matrix, box: Box, i: int, p: int, which: int) -> float:
    """Return what one side of a row allows its entry ``p`` at most (a > 0 for which 0), or NaN."""
    j, a = matrix.row_column[p], matrix.row_value[p]
    bound = box.bounds[which if a > 0.0 else 1 - which, j]
    count = box.infinite[which, i]
    own = 0.0
    if np.isfinite(bound):
        if count > 0:
            return np.nan
        own = a * bound
    elif count > 1:
        return np.nan
    rest = box.activity[which, i] - own
    side = matrix.row_upper[i] if which == 0 else matrix.row_lower[i]
    if matrix.exact[i] == 1:
        return float((side - rest) / a)
    if abs(own) > CANCELLED * max(1.0, abs(rest)):
        rest = rest_of_row(matrix, box, i, p, which)
    error = box.noise[i] + SUM_ERROR * max(abs(side), abs(rest))
    return float((side - rest + (error if which == 0 else -error)) / a)


@inlined
def narrowed(
    matrix: Matrix, box: Box, i: int, p: int, which: int, low: float, high: float
) -> tuple[float, float]:
    """Return an entry's interval [low, high] cut by what one side of the row allows."""
    if box.infinite[which, i] == 0:
        j = matrix.row_column[p]
        width = abs(matrix.row_value[p]) * (box.bounds[1, j] - box.bounds[0, j])
        if width <= slack_of(matrix, box, which, i):
            return low, high
    bound = implied(matrix, box, i, p, which)
    if (matrix.row_value[p] > 0.0) == (which == 0):
        return low, (bound if bound < high else high)
    return (bound if bound > low else low), high


@inlined
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
    return float(low) if old == -np.inf or low - old > least else float(old)


@inlined
def conflict(box: Box, i: int, lenient: bool) -> None:
    """Note a contradiction; unless lenient, the box is empty from here on."""
    box.counts[CONFLICT] = i
    if not lenient and box.counts[INFEASIBLE] == 0:
        box.counts[INFEASIBLE] = 1
        box.trail_code[box.counts[TRAIL]] = -1
        box.counts[TRAIL] += 1


@inlined
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


@compiled
def visit_row(matrix: Matrix, box: Box, i: int, lenient: bool) -> bool:
    """Check a row and tighten its columns; False on a contradiction."""
    if box.noise[i] > NOISE_LIMIT:
        sum_row(matrix, box, i)
    if excess_of(matrix, box, 0, i) > 0.0 or excess_of(matrix, box, 1, i) > 0.0:
        conflict(box, i, lenient)
        return False
    first, last = matrix.row_start[i], matrix.row_start[i + 1]
    acts_upper, acts_lower = may_act(matrix, box, 0, i), may_act(matrix, box, 1, i)
    if not (acts_upper or acts_lower):
        return True
    box.counts[WORK] += last - first
    consistent = True
    widest = 0.0
    for p in range(first, last):
        j, a = matrix.row_column[p], matrix.row_value[p]
        low, high = box.bounds[0, j], box.bounds[1, j]
        width = abs(a) * (high - low)
        if not width > 0.0 or abs(a) < SMALLEST_COEFFICIENT:
            continue
        new_low, new_high = low, high
        if acts_upper:
            new_low, new_high = narrowed(matrix, box, i, p, 0, new_low, new_high)
        if acts_lower:
            new_low, new_high = narrowed(matrix, box, i, p, 1, new_low, new_high)
        if new_low > low or new_high < high:
            if not tighten_column(matrix, box, j, i, new_low, new_high, lenient):
                if not lenient:
                    return False
                consistent = False
            width = abs(a) * (box.bounds[1, j] - box.bounds[0, j])
        widest = max(widest, width)
    if widest < box.widest[i]:
        record(box, 2 * matrix.is_integer.size + i, box.widest[i])
        box.widest[i] = widest
    return bool(consistent)


@compiled
def drain(box: Box) -> None:
    """Forget the queued rows."""
    counts = box.counts
    for place in range(counts[QUEUE_HEAD], counts[QUEUE_HEAD] + counts[QUEUE_SIZE]):
        box.queued[box.queue[place % box.queue.size]] = 0
    counts[QUEUE_HEAD] = counts[QUEUE_SIZE] = 0


@compiled
def propagate(matrix: Matrix, box: Box, cap: int, lenient: bool) -> bool:
    """Visit queued rows until none is left or ``cap`` entries have been; False if contradicted.

    A lenient propagation passes over contradicted rows and bounds that would cross, and goes on:
    for points that are to be repaired later. The room of one level is needed on the trail.
    """
    counts = box.counts
    consistent = counts[INFEASIBLE] == 0
    end = counts[WORK] + cap
    while counts[QUEUE_SIZE] > 0 and (consistent or lenient):
        if counts[WORK] > end:
            counts[CAPPED] += 1
            break
        i = box.queue[counts[QUEUE_HEAD]]
        counts[QUEUE_HEAD] += 1
        if counts[QUEUE_HEAD] == box.queue.size:
            counts[QUEUE_HEAD] = 0
        counts[QUEUE_SIZE] -= 1
        box.queued[i] = 0
        if not visit_row(matrix, box, i, lenient):
            consistent = False
    drain(box)
    return bool(consistent)


@compiled
def wake_all(matrix: Matrix, box: Box) -> None:
    """Queue every row that may act."""
    for i in range(matrix.row_lower.size):
        if may_act(matrix, box, 0, i) or may_act(matrix, box, 1, i):
            enqueue(box, i)


@compiled
def wake(matrix: Matrix, box: Box, rows: np.ndarray) -> None:
    """Queue the given rows."""
    for place in range(rows.size):
        enqueue(box, rows[place])


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
    drain(box)
    for entry in range(counts[TRAIL] - 1, place - 1, -1):
        code, old = box.trail_code[entry], box.trail_old[entry]
        if code < 0:
            counts[INFEASIBLE] = 0
        elif code >= 2 * n:
            box.widest[code - 2 * n] = old
        else:
            shift_activities(matrix, box, code % n, code // n, old, False)
    counts[TRAIL] = place
    counts[LEVEL] += 1
