"""What the reductions work on: the model's data, what is still alive in it, and the record.

The matrix never changes. A row or a column is *removed*, at the step whose number stands in
``row_removed`` or ``column_removed``; sides, bounds and costs of what is alive change in place, and
what is removed keeps the values it had then. So the way back needs no copies: it takes the steps
from the last to the first and reads, for each, the data as they were.

The loops are in C++, beside this file; ``workspace.h`` has what they share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.core.outcome import BasisStatus
from solvers.core.problem import Problem
from solvers.core.rows import SparseRows
from solvers.native.presolve_light_rows import measure_rows

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

# How a column or row stands in a basis
LOWER, BASIC = int(BasisStatus.LOWER), int(BasisStatus.BASIC)
UPPER, ZERO = int(BasisStatus.UPPER), int(BasisStatus.ZERO)


class Workspace(NamedTuple):
    """Arrays of a reduction in progress; m rows and n columns are those of the original.

    ``by_row`` and ``by_column`` are A and its transpose. ``row_size`` (m,) is the
    largest magnitude in each row, ``*_length`` counts living entries, and ``*_changed`` says what
    is worth another look. ``kind``, ``row``, ``column`` (m + n,) and ``payload`` (m + n, 4)
    record the steps.
    """

    by_row: SparseRows
    by_column: SparseRows
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
    by_row, by_column = problem.entries, SparseRows.of(problem.matrix_csc)
    count = np.zeros(COUNTERS, dtype=np.int64)
    count[WORK_LIMIT] = work_limit
    workspace = Workspace(
        by_row=by_row,
        by_column=by_column,
        cost=problem.cost.copy(),
        lower=problem.lower.copy(),
        upper=problem.upper.copy(),
        row_lower=problem.row_lower.copy(),
        row_upper=problem.row_upper.copy(),
        row_size=np.zeros(m),
        row_length=by_row.lengths.astype(np.int64),
        column_length=by_column.lengths.astype(np.int64),
        row_removed=np.full(m, ALIVE, dtype=np.int64),
        column_removed=np.full(n, ALIVE, dtype=np.int64),
        row_changed=np.ones(m, dtype=np.bool_),
        column_changed=np.ones(n, dtype=np.bool_),
        kind=np.empty(m + n, dtype=np.int8),
        row=np.empty(m + n, dtype=np.int64),
        column=np.empty(m + n, dtype=np.int64),
        payload=np.empty((m + n, 4)),
        count=count,
        total=np.array([problem.offset]),
    )
    measure_rows(workspace)
    return workspace
