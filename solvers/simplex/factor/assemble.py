"""From pivots and loose entries to the triangles that solves use."""

from __future__ import annotations

from solvers.simplex.factor.arrays import (
    BEST_AVERAGE,
    ENTRIES,
    FACTOR_WORK,
    LOWER_ROW_SLOTS,
    LOWER_SLOTS,
    ROW_LABEL,
    UPPER_ROWS_USED,
    UPPER_SLOTS,
    UPPER_USED,
    FactorArrays,
)
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.pivots import LOWER_USED as L_USED
from solvers.simplex.factor.pivots import UPPER_USED as U_USED
from solvers.simplex.factor.pivots import WORK, Pivots

ROW_ROOM = 4
"""Free places after each row of U, for the spikes of updates."""


@inner
def _label(pivots: Pivots, arrays: FactorArrays) -> None:
    """Name the pivots by their rows, and set the diagonal and the order of U."""
    m = pivots.row.size
    for slot in range(m):
        row, position = pivots.row[slot], pivots.position[slot]
        arrays.row_of_position[position] = row
        arrays.position_of_row[row] = position
        arrays.upper.order[slot] = row
        arrays.upper_slot[row] = slot
        arrays.upper.pivot[row] = pivots.value[slot]


@inner
def _copy_lower(pivots: Pivots, arrays: FactorArrays) -> None:
    """Copy the columns of L, and sort its entries into rows."""
    m = pivots.row.size
    lower, rows = arrays.lower, arrays.lower_rows
    rows.end[:] = 0
    used = slots = 0
    for slot in range(m):
        label = pivots.row[slot]
        lower.begin[label] = used
        for entry in range(pivots.lower_begin[label], pivots.lower_end[label]):
            other = pivots.lower_indices[entry]
            lower.indices[used] = other
            lower.values[used] = pivots.lower_values[entry]
            rows.end[other] += 1
            used += 1
        lower.end[label] = used
        if used > lower.begin[label]:
            lower.order[slots] = label
            slots += 1
    arrays.counters[LOWER_SLOTS] = slots
    used = slots = 0
    for slot in range(m - 1, -1, -1):
        row = pivots.row[slot]
        length = rows.end[row]
        rows.begin[row] = used
        rows.end[row] = used
        used += length
        if length > 0:
            rows.order[slots] = row
            slots += 1
    arrays.counters[LOWER_ROW_SLOTS] = slots
    for place in range(arrays.counters[LOWER_SLOTS]):
        label = lower.order[place]
        for entry in range(lower.begin[label], lower.end[label]):
            other = lower.indices[entry]
            at = rows.end[other]
            rows.indices[at] = label
            rows.values[at] = lower.values[entry]
            rows.end[other] = at + 1


@inner
def _sort_upper(pivots: Pivots, arrays: FactorArrays) -> None:
    """Sort the entries of U into columns and into rows with some room."""
    m = pivots.row.size
    upper, rows = arrays.upper, arrays.upper_rows
    entries = pivots.sizes[U_USED]
    upper.end[:] = 0
    rows.end[:] = 0
    for entry in range(entries):
        upper.end[arrays.row_of_position[pivots.upper_position[entry]]] += 1
        rows.end[pivots.upper_row[entry]] += 1
    used = rows_used = 0
    for slot in range(m):
        label = pivots.row[slot]
        length = upper.end[label]
        upper.begin[label] = used
        upper.end[label] = used
        used += length
        length = rows.end[label]
        rows.begin[label] = rows_used
        rows.end[label] = rows_used
        rows_used += length + ROW_ROOM
        arrays.upper_rows_room[label] = rows_used
    for entry in range(entries):
        row = pivots.upper_row[entry]
        label = arrays.row_of_position[pivots.upper_position[entry]]
        value = pivots.upper_value[entry]
        at = upper.end[label]
        upper.indices[at] = row
        upper.values[at] = value
        upper.end[label] = at + 1
        at = rows.end[row]
        rows.indices[at] = label
        rows.values[at] = value
        rows.end[row] = at + 1
    arrays.counters[UPPER_USED] = used
    arrays.counters[UPPER_ROWS_USED] = rows_used


@outer
def assemble(pivots: Pivots, arrays: FactorArrays) -> None:
    """Write the factors of a complete sequence of pivots; nothing has been updated then.

    The files of ``arrays`` must have room for the entries of L and U, and ``ROW_ROOM`` places more
    for each row.
    """
    counters = arrays.counters
    counters[:] = 0
    counters[ROW_LABEL] = -1
    counters[UPPER_SLOTS] = pivots.row.size
    counters[ENTRIES] = pivots.sizes[L_USED] + pivots.sizes[U_USED]
    counters[FACTOR_WORK] = pivots.sizes[WORK] + 4 * counters[ENTRIES] + 4 * pivots.row.size
    counters[BEST_AVERAGE] = counters[FACTOR_WORK]
    arrays.eta_begin[0] = 0
    _label(pivots, arrays)
    _copy_lower(pivots, arrays)
    _sort_upper(pivots, arrays)
