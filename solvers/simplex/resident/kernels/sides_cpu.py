"""What twins share: ``sides.cuh`` in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba

from solvers.simplex.resident.control import (
    ENTRIES,
    FLIP_ENTRIES,
    GATHER_BELOW,
    SLOTS,
    SPARSE_BELOW,
)


@numba.njit(inline="always")
def _add_column(j, step, structurals, starts, indices, values, right):
    """Add step times a column of [A -I] to a right side by row."""
    if j >= structurals:
        right[j - structurals] -= step
    else:
        for k in range(starts[j], starts[j + 1]):
            right[indices[k]] += step * values[k]


@numba.njit(inline="always")
def _list_column(j, step, at, structurals, starts, indices, values, slot_of_row, places, amounts):
    """Append step times a column of [A -I] to the list of entries; return its new end."""
    if j >= structurals:
        row = j - structurals
        places[at] = slot_of_row[row] if slot_of_row[row] >= 0 else -1 - row
        amounts[at] = -step
        return at + 1
    for k in range(starts[j], starts[j + 1]):
        row = indices[k]
        places[at] = slot_of_row[row] if slot_of_row[row] >= 0 else -1 - row
        amounts[at] = step * values[k]
        at += 1
    return at


@numba.njit(inline="always")
def _make_sides(
    q, flips, flip_steps, count, streamed, rows, structurals, starts, indices, values, slot_of_row,
    places, amounts, column, column_slots, flip_column, flip_slots, control,
):  # fmt: skip
    """List the entries of flipped and entering columns, or lay out their sums."""
    flipped = 0
    for f in range(count):
        j = flips[f]
        flipped += 1 if j >= structurals else starts[j + 1] - starts[j]
    entries = flipped + (1 if q >= structurals else starts[q + 1] - starts[q])
    few = entries * SPARSE_BELOW < control[SLOTS]
    if not streamed:
        few = entries * GATHER_BELOW < rows
    if few:
        at = 0
        for f in range(count):
            at = _list_column(
                flips[f], flip_steps[f], at, structurals, starts, indices, values, slot_of_row,
                places, amounts,
            )  # fmt: skip
        _list_column(q, 1.0, at, structurals, starts, indices, values, slot_of_row, places, amounts)
        control[ENTRIES] = entries
    else:
        column[:] = 0.0
        _add_column(q, 1.0, structurals, starts, indices, values, column)
        if count > 0:
            flip_column[:] = 0.0
            for f in range(count):
                _add_column(
                    flips[f], flip_steps[f], structurals, starts, indices, values, flip_column
                )
        for i in range(rows):
            slot = slot_of_row[i]
            if slot >= 0:
                column_slots[slot] = column[i]
                if count > 0:
                    flip_slots[slot] = flip_column[i]
        control[ENTRIES] = -1
    control[FLIP_ENTRIES] = flipped
