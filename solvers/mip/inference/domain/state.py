"""The arrays that propagation works on beside the model: one box with all that hangs on it.

It is a tuple of arrays, laid out as ``state.h`` has them, so that a whole dive can run without
Python. Whoever calls its loops makes room on the trail before, with :func:`reserved`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import ByteArray, IndexArray, MipModel

CountArray = npt.NDArray[np.int64]

QUEUE_HEAD = 0
"""Where the queue of rows begins (a ring of m places)."""
QUEUE_SIZE = 1
"""How many rows are in it."""
TRAIL = 2
"""Entries of the trail in use: what ``mark`` returns."""
LEVEL = 3
"""Number of marks and undoings so far: a value is recorded once for each."""
INFEASIBLE = 4
"""Whether the box has been proven empty."""
CONFLICT = 5
"""Row where the last contradiction showed, or -1."""
WORK = 6
"""Entries of the matrix visited so far."""
CAPPED = 7
"""How often the cap on work ended a propagation early."""
NUM_COUNTS = 8

STRICT, LENIENT = False, True
"""How to take contradictions: the first ends a propagation, or each is passed over."""

SMALLEST, LARGEST = 0, 1
"""Places in a row of ``Box.rows``: the finite parts of its smallest and largest activity."""
INFINITE = 2
"""How many infinite terms the smallest activity has; the largest has its count in the next."""
UPPER, LOWER = 4, 5
"""The row's sides, in the order of the activities that can miss them."""
WIDEST = 6
"""At least the largest ``|a| (upper - lower)``: with more slack a row cannot tighten anything."""
NOISE = 7
"""Rounding error that updates may have left in the activities; -1 where there can be none."""
ROW_SIZE = 8
"""Numbers for each row: one line of the cache."""


class Box(NamedTuple):
    """Bounds of the n columns, and the activities of the m rows that follow from them.

    Attributes
    ----------
    bounds : (2, n) float64
        Lower and upper bounds.
    rows : (m, ROW_SIZE) float64
        What is known about each row; see the constants above.
    queue, queued : (m,) int32, uint8
        Rows to be visited, in a ring, and whether each is in it.
    trail_code, trail_old : (capacity,) int32, float64
        What was changed, and its value before. Codes below n are lower bounds, below 2 n upper
        bounds, below 2 n + m widest terms; -1 stands for the proof of infeasibility.
    stamp : (2 n + m,) int32
        Level at which each was recorded last.
    counts : (NUM_COUNTS,) int64
    """

    bounds: FloatArray
    rows: FloatArray
    queue: IndexArray
    queued: ByteArray
    trail_code: IndexArray
    trail_old: FloatArray
    stamp: IndexArray
    counts: CountArray


def empty_box(model: MipModel, widened: float = 0.0) -> Box:
    """Return a box with the model's bounds, whose activities are still to be summed.

    ``widened`` moves the sides of all rows outward, relative to ``max(1, |side|)``.
    """
    m, n = model.num_rows, model.num_columns
    counts = np.zeros(NUM_COUNTS, dtype=np.int64)
    counts[LEVEL] = 1
    counts[CONFLICT] = -1
    capacity = room_for_a_level(m, n)
    rows = np.zeros((m, ROW_SIZE))
    rows[:, LOWER] = model.row_lower - widened * _scale(model.row_lower)
    rows[:, UPPER] = model.row_upper + widened * _scale(model.row_upper)
    rows[:, NOISE] = np.where(_is_exact(model), -1.0, 0.0)
    return Box(
        bounds=np.ascontiguousarray(np.stack([model.lower, model.upper])),
        rows=rows,
        queue=np.zeros(m, dtype=np.int32),
        queued=np.zeros(m, dtype=np.uint8),
        trail_code=np.zeros(capacity, dtype=np.int32),
        trail_old=np.zeros(capacity),
        stamp=np.zeros(2 * n + m, dtype=np.int32),
        counts=counts,
    )


def room_for_a_level(num_rows: int, num_columns: int) -> int:
    """Return how many entries a level puts on the trail at most: each value once, and a proof."""
    return 2 * num_columns + num_rows + 2


def reserved(box: Box) -> Box:
    """Return the box with room on its trail for one more level; the other arrays are the same."""
    used = int(box.counts[TRAIL])
    needed = used + box.stamp.size + 2
    if needed <= box.trail_code.size:
        return box
    capacity = max(needed, 2 * box.trail_code.size)
    code = np.zeros(capacity, dtype=np.int32)
    old = np.zeros(capacity)
    code[:used] = box.trail_code[:used]
    old[:used] = box.trail_old[:used]
    return box._replace(trail_code=code, trail_old=old)


def copied(box: Box) -> Box:
    """Return a copy that shares no array."""
    return Box._make(array.copy() for array in box)


def _scale(side: FloatArray) -> FloatArray:
    return np.where(np.isfinite(side), np.maximum(1.0, np.abs(side)), 0.0)


def _is_exact(model: MipModel) -> BoolArray:
    """Whether each row (m,) has whole coefficients of integer columns only: its sums are exact."""
    value = model.rows.data
    broken = (value != np.round(value)) | (model.is_integer[model.rows.indices] == 0)
    exact: BoolArray = model.rows.count(broken) == 0
    return exact
