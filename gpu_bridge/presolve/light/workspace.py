"""What the reductions work on: the model's data, what is still alive in it, and the record.

The matrix never changes. A row or a column is *removed*, at the step whose number stands in
``row_removed`` or ``column_removed``; sides, bounds and costs of what is alive change in place, and
what is removed keeps the values it had then. So the way back needs no copies: it takes the steps
from the last to the first and reads, for each, the data as they were.

The helpers are compiled by Numba. Its cache on disk looks at the file of the caller only: after
an edit here delete ``__pycache__/*.nbi`` beside this file.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from solvers.problem import Problem

ALIVE = 2**62
"""The step at which a row or column that is still alive is removed."""

# What a step did
REDUNDANT_ROW = 0
FIXED_COLUMN = 1
SINGLETON_ROW = 2
FORCING_ROW = 3
ABSORBED_AT_LOWER = 4
ABSORBED_AT_UPPER = 5
ABSORBED_BETWEEN = 6
RECEDING_COLUMN = 7
PARALLEL_ROW = 8
PARALLEL_COLUMN = 9

# Places in ``count``
STEPS = 0
WORK = 1
WORK_LIMIT = 2
CONTRADICTION = 3
"""1 + the row that no point satisfies, negative where its activity is too large; 0 for none."""
COUNTERS = 4

# Places in ``total``
OFFSET = 0

REDUNDANT_TOLERANCE = 1e-10
"""A side that the activity passes by no more than this, relative to max(1, |side|), is implied."""

ROUNDING = 1e-14
"""Rounding of a sum, relative to the sum of its terms' magnitudes."""

SMALL_PIVOT = 1e-3
"""Entries below this part of the largest in their row are not divided by."""


FLAGS_PER_LOOK = 16
"""Flags of what changed that are read in the time of a look at an entry."""


class Workspace(NamedTuple):
    """Arrays of a reduction in progress; m rows and n columns are those of the original.

    ``*_start``, ``*_index``, ``*_value`` are A by rows and by columns. ``row_size`` (m,) is the
    largest magnitude in each row, ``*_length`` counts living entries, and ``*_changed`` says what
    is worth another look. ``kind``, ``row``, ``column`` (m + n,) and ``payload`` (m + n, 4)
    record the steps.
    """

    row_start: Any
    row_index: Any
    row_value: Any
    column_start: Any
    column_index: Any
    column_value: Any
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    row_size: Any
    row_length: Any
    column_length: Any
    row_removed: Any
    column_removed: Any
    row_changed: Any
    column_changed: Any
    kind: Any
    row: Any
    column: Any
    payload: Any
    count: Any
    total: Any


def begin(problem: Problem, work_limit: int) -> Workspace:
    """Return the workspace of a problem of which nothing is removed yet."""
    m, n = problem.num_rows, problem.num_columns
    A, by_column = problem.matrix, problem.matrix_csc
    count = np.zeros(COUNTERS, dtype=np.int64)
    count[WORK_LIMIT] = work_limit
    workspace = Workspace(
        A.indptr,
        A.indices,
        A.data,
        by_column.indptr,
        by_column.indices,
        by_column.data,
        problem.cost.copy(),
        problem.lower.copy(),
        problem.upper.copy(),
        problem.row_lower.copy(),
        problem.row_upper.copy(),
        np.zeros(m),
        np.diff(A.indptr).astype(np.int64),
        np.diff(by_column.indptr).astype(np.int64),
        np.full(m, ALIVE, dtype=np.int64),
        np.full(n, ALIVE, dtype=np.int64),
        np.ones(m, dtype=np.bool_),
        np.ones(n, dtype=np.bool_),
        np.empty(m + n, dtype=np.int8),
        np.empty(m + n, dtype=np.int64),
        np.empty(m + n, dtype=np.int64),
        np.empty((m + n, 4)),
        count,
        np.array([problem.offset]),
    )
    measure_rows(workspace)
    return workspace


@compiled
def measure_rows(w):
    """Fill ``row_size``."""
    for i in range(w.row_size.size):
        largest = 0.0
        for entry in range(w.row_start[i], w.row_start[i + 1]):
            largest = max(largest, abs(w.row_value[entry]))
        w.row_size[i] = largest


@merged
def out_of_budget(w):
    """Whether the work allowed is done, or a contradiction was found."""
    return w.count[WORK] > w.count[WORK_LIMIT] or w.count[CONTRADICTION] != 0


@merged
def note(w, kind, row, column, first, second, third, fourth):
    """Record a step and return its number."""
    step = w.count[STEPS]
    w.kind[step] = kind
    w.row[step] = row
    w.column[step] = column
    w.payload[step, 0] = first
    w.payload[step, 1] = second
    w.payload[step, 2] = third
    w.payload[step, 3] = fourth
    w.count[STEPS] = step + 1
    return step


@merged
def remove_row(w, i, step):
    """Take a row out and mark its columns."""
    w.row_removed[i] = step
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        j = w.row_index[entry]
        if w.column_removed[j] == ALIVE:
            w.column_length[j] -= 1
            w.column_changed[j] = True
    w.count[WORK] += w.row_start[i + 1] - w.row_start[i]


@merged
def remove_column(w, j, step, value):
    """Take a column out at a value, which moves over to the sides of its rows."""
    w.column_removed[j] = step
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i = w.column_index[entry]
        if w.row_removed[i] == ALIVE:
            w.row_length[i] -= 1
            w.row_changed[i] = True
            if value != 0.0:
                shift = w.column_value[entry] * value
                w.row_lower[i] = shifted(w.row_lower[i], shift)
                w.row_upper[i] = shifted(w.row_upper[i], shift)
    w.count[WORK] += w.column_start[j + 1] - w.column_start[j]


@merged
def shifted(side, shift):
    """Return side - shift, zero where nothing but rounding is left of it."""
    difference = side - shift
    size = abs(side) + abs(shift)
    return 0.0 if abs(difference) <= ROUNDING * size and size < np.inf else difference


@merged
def fix_column(w, j, value):
    """Fix a column at a value and take it out."""
    step = note(w, FIXED_COLUMN, -1, j, value, 0.0, 0.0, 0.0)
    w.total[OFFSET] += w.cost[j] * value
    remove_column(w, j, step, value)


@merged
def nearest_to_zero(low, high):
    """Return the finite bound of least magnitude, or zero without any: a value fit for a vertex."""
    if low > -np.inf and (high == np.inf or abs(low) <= abs(high)):
        return low
    return high if high < np.inf else 0.0


@merged
def mark_columns(w, i):
    """Mark the living columns of a row."""
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        w.column_changed[w.row_index[entry]] = True
    w.count[WORK] += w.row_start[i + 1] - w.row_start[i]


@merged
def mark_rows(w, j):
    """Mark the living rows of a column."""
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        w.row_changed[w.column_index[entry]] = True
    w.count[WORK] += w.column_start[j + 1] - w.column_start[j]


@merged
def activity_range(w, i, without):
    """Return least and greatest activity of a row, but for one column, and their rounding."""
    least, most, least_size, most_size = 0.0, 0.0, 0.0, 0.0
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        j = w.row_index[entry]
        if w.column_removed[j] != ALIVE or j == without:
            continue
        a = w.row_value[entry]
        at_lower, at_upper = a * w.lower[j], a * w.upper[j]
        smaller, larger = min(at_lower, at_upper), max(at_lower, at_upper)
        least += smaller
        most += larger
        least_size += abs(smaller)
        most_size += abs(larger)
    w.count[WORK] += w.row_start[i + 1] - w.row_start[i]
    return least, most, _rounding(least_size), _rounding(most_size)


@merged
def _rounding(size):
    return ROUNDING * size if size < np.inf else 0.0
