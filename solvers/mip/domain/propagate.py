"""Sequential bound propagation: a queue of rows, activities updated with every changed bound.

A row is taken from the queue, checked, and walked once to tighten its columns; each change goes
through the column to the activities of the other rows, and those that may now tighten something
join the queue. Rows keep an upper bound on their widest term, so that a row of 100,000 entries is
not walked again each time that one of them changes while it has slack to spare.

Integer columns take any change, so that on bounded integer models the end point is the unique fixed
point; continuous ones take changes that matter. Everything here is compiled and needs no Python.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.activities import excess_of, may_act, rest_of_row, sum_row
from solvers.mip.domain.changes import conflict, drain, record, set_bound, tighten_column
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.state import (
    CAPPED,
    INFEASIBLE,
    INFINITE,
    NOISE,
    QUEUE_HEAD,
    QUEUE_SIZE,
    UPPER,
    WIDEST,
    WORK,
    Box,
    Matrix,
)

SMALLEST_COEFFICIENT = 1e-9
"""Coefficients below this tighten nothing: dividing by them would blow rounding errors up."""

SUM_ERROR = 1e-12
"""Rounding error of a row's sum, relative to it: a hundred thousand entries leave less."""

CANCELLED = 1e6
"""A term this much larger than the rest of the row leaves no digits: the rest is summed anew."""

NOISE_LIMIT = 1e-8
"""Possible rounding error at which a row's activities are summed anew: a hundredth of 1e-6."""


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
