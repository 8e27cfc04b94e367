"""Forrest-Tomlin update: a column of the basis is replaced, and so is one of U.

The spike, L^-1 and R's of the entering column, replaces the column of the leaving position's label
and that label goes to the end of U's order. What then stands below the diagonal is the label's row
of U, and a multiple of each later row takes it away: these multiples are the new R. They come from
U'z = e of that label, which ``btran`` has just computed if it was asked for the same row of the
inverse (as both the dual and the primal simplex do), and which is computed here if not.

J. J. Forrest and J. A. Tomlin, Updated triangular factors of the basis to maintain sparsity in the
product form simplex method, Mathematical Programming 2, 1972.
"""

from __future__ import annotations

from solvers.simplex.factor.arrays import (
    BEST_AVERAGE,
    ENTRIES,
    ETA_USED,
    FACTOR_WORK,
    ROW_LABEL,
    ROW_LENGTH,
    SOLVE_WORK,
    SPIKE,
    SPIKE_IS_KEPT,
    UPDATES,
    UPPER_ROWS_USED,
    UPPER_SLOTS,
    UPPER_USED,
    FactorArrays,
    Triangle,
)
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.spikes import new_pivot, solve_row

DISAGREEMENT = 1e-7
"""Largest relative difference of the new pivot computed in two ways: from the row, and from the
entering column's entry."""

LEAST_UPDATES = 50
"""Updates before which the work of solves is no reason to factorise again (HiGHS waits as long)."""

WORSE_BY = 20
"""A twentieth: how much the average work has to be above its best to count as growing."""

ROW_SLACK = 4
"""Entries of room a row of U gets beside twice what it has, when it has to move."""


@inner
def _room_is_there(arrays: FactorArrays) -> bool:
    """Tell whether every file can take the update."""
    counters, indices = arrays.counters, arrays.spike_indices
    begin, end, room = arrays.upper_rows.begin, arrays.upper_rows.end, arrays.upper_rows_room
    updates, spike = counters[UPDATES], counters[SPIKE]
    if updates >= arrays.eta_row.size or counters[UPPER_SLOTS] >= arrays.upper.order.size:
        return False
    if counters[ETA_USED] + counters[ROW_LENGTH] > arrays.eta_indices.size:
        return False
    if counters[UPPER_USED] + spike > arrays.upper.indices.size:
        return False
    needed = counters[UPPER_ROWS_USED]
    for place in range(spike):
        row = indices[place]
        if end[row] == room[row]:
            needed += 2 * (end[row] - begin[row]) + ROW_SLACK
    return bool(needed <= arrays.upper_rows.indices.size)


@inner
def _delete(triangle: Triangle, owner: int, label: int) -> None:
    """Take one entry out of a column or row of U."""
    indices, values = triangle.indices, triangle.values
    entry = triangle.begin[owner]
    while indices[entry] != label:
        entry += 1
    last = triangle.end[owner] - 1
    indices[entry] = indices[last]
    values[entry] = values[last]
    triangle.end[owner] = last


@inner
def _remove(arrays: FactorArrays, label: int) -> int:
    """Empty the row and the column of a label; return how many entries that were."""
    upper, rows = arrays.upper, arrays.upper_rows
    removed = 0
    for entry in range(upper.begin[label], upper.end[label]):
        _delete(rows, upper.indices[entry], label)
        removed += 1
    for entry in range(rows.begin[label], rows.end[label]):
        _delete(upper, rows.indices[entry], label)
        removed += 1
    upper.end[label] = upper.begin[label]
    rows.end[label] = rows.begin[label]
    return removed


@inner
def _move_row(rows: Triangle, row: int, used: int) -> int:
    """Copy a full row of U to where its file is empty; return where its new room ends."""
    indices, values = rows.indices, rows.values
    begin = rows.begin[row]
    length = rows.end[row] - begin
    for entry in range(length):
        indices[used + entry] = indices[begin + entry]
        values[used + entry] = values[begin + entry]
    rows.begin[row] = used
    rows.end[row] = used + length
    return int(used + 2 * length + ROW_SLACK)


@inner
def _insert_spike(arrays: FactorArrays, label: int) -> int:
    """Make the spike the column of a label, its diagonal left out; return its entries."""
    upper, rows, counters = arrays.upper, arrays.upper_rows, arrays.counters
    spike_indices, spike_values = arrays.spike_indices, arrays.spike_values
    indices, values, room = upper.indices, upper.values, arrays.upper_rows_room
    row_indices, row_values, row_end = rows.indices, rows.values, rows.end
    used, rows_used = counters[UPPER_USED], counters[UPPER_ROWS_USED]
    upper.begin[label] = used
    for place in range(counters[SPIKE]):
        row, value = spike_indices[place], spike_values[place]
        if row == label:
            continue
        indices[used] = row
        values[used] = value
        used += 1
        if row_end[row] == room[row]:
            rows_used = _move_row(rows, row, rows_used)
            room[row] = rows_used
        entry = row_end[row]
        row_indices[entry] = label
        row_values[entry] = value
        row_end[row] = entry + 1
    upper.end[label] = used
    counters[UPPER_USED] = used
    counters[UPPER_ROWS_USED] = rows_used
    return int(used - upper.begin[label])


@inner
def _append_eta(arrays: FactorArrays, label: int, pivot: float) -> int:
    """Note the multiples of other rows that the row of a label lost; return how many."""
    counters, indices, values = arrays.counters, arrays.eta_indices, arrays.eta_values
    row_indices, row_values = arrays.row_indices, arrays.row_values
    used = counters[ETA_USED]
    first = used
    for place in range(counters[ROW_LENGTH]):
        other = row_indices[place]
        if other != label:
            indices[used] = other
            values[used] = -row_values[place] * pivot
            used += 1
    update = counters[UPDATES]
    arrays.eta_row[update] = label
    arrays.eta_begin[update + 1] = used
    counters[UPDATES] = update + 1
    counters[ETA_USED] = used
    return int(used - first)


@outer
def refactorisation_pays(arrays: FactorArrays) -> bool:
    """Tell whether solves have become so slow that a new factorisation saves time.

    That is when the work for each update, the share of the factorisation included, has begun to
    grow: its average is least if one factorises where it turns. Ask once after each ``update``.
    Work is counted in steps and not measured, so that the answer is always the same.
    """
    counters = arrays.counters
    updates = counters[UPDATES]
    if updates == 0:
        return False
    average = (counters[FACTOR_WORK] + counters[SOLVE_WORK]) // updates
    counters[BEST_AVERAGE] = min(counters[BEST_AVERAGE], average)
    best = counters[BEST_AVERAGE]
    return bool(updates >= LEAST_UPDATES and average > best + best // WORSE_BY)


@outer
def update(arrays: FactorArrays, position: int, alpha: float) -> int:
    """Replace the column at a position by the one that ``ftran_entering`` saw last.

    Parameters
    ----------
    arrays : FactorArrays
    position : int
        Where the basis changes.
    alpha : float
        The entry at that position of the solution that ``ftran_entering`` gave.

    Returns
    -------
    int
        0, or 1 for "factorise instead": there is no room, the pivot is zero or inaccurate, or no
        column was kept. After a 1 the factors are still those of the basis before.
    """
    counters = arrays.counters
    label = arrays.row_of_position[position]
    if not counters[SPIKE_IS_KEPT]:
        return 1
    if counters[ROW_LABEL] != label:
        solve_row(arrays, label)
    diagonal, order, slot_of = arrays.upper.pivot, arrays.upper.order, arrays.upper_slot
    old_pivot = diagonal[label]
    pivot, expected = new_pivot(arrays, label, old_pivot), alpha * old_pivot
    largest = max(abs(pivot), abs(expected))
    if pivot == 0.0 or not abs(pivot - expected) <= DISAGREEMENT * largest:
        return 1
    if not _room_is_there(arrays):
        return 1
    removed = _remove(arrays, label)
    added = _insert_spike(arrays, label)
    added += _append_eta(arrays, label, old_pivot)
    slot = counters[UPPER_SLOTS]
    order[slot_of[label]] = -1
    order[slot] = label
    slot_of[label] = slot
    counters[UPPER_SLOTS] = slot + 1
    diagonal[label] = pivot
    counters[ENTRIES] += added - removed
    counters[SOLVE_WORK] += added + 2 * removed
    counters[SPIKE_IS_KEPT] = 0
    counters[ROW_LABEL] = -1
    return 0
