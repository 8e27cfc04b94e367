"""Checking scored moves again, at the point as it has become, and making them; in Numba."""
# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.opt.kernels.moves_cpu import pair_step, shift_room, shift_step


@compiled
def _move(j, by, column_start, column_row, column_value, activity, x, changed):
    """Move a column, and mark the rows whose activity changes."""
    x[j] += by
    for entry in range(column_start[j], column_start[j + 1]):
        activity[column_row[entry]] += column_value[entry] * by
        changed[column_row[entry]] = 1


@compiled
def apply_shifts(
    columns, least, column_start, column_row, column_value, row_lower, row_upper, activity,
    cost, lower, upper, x, is_integer, changed,
):  # fmt: skip
    """Move columns one after the other by the largest step each still has.

    Moves that gain no more than ``least`` are left out. Returns the number of moves of integer
    columns, and what all moves have gained.
    """
    moves, gained = 0, 0.0
    for at in range(columns.size):
        j = columns[at]
        step = shift_step(
            j, column_start, column_row, column_value, row_lower, row_upper, activity,
            cost, lower, upper, x, is_integer,
        )  # fmt: skip
        gain = abs(cost[j]) * step
        if gain > least and gain < np.inf:
            by = step if cost[j] < 0.0 else -step
            _move(j, by, column_start, column_row, column_value, activity, x, changed)
            moves += is_integer[j]
            gained += gain
    return moves, gained


@compiled
def apply_pairs(
    columns, partner, partner_step, least, column_start, column_row, column_value,
    row_lower, row_upper, activity, cost, lower, upper, x, is_integer, changed,
):  # fmt: skip
    """Move pairs one after the other as far as each still can, as ``apply_shifts`` does."""
    moves, gained = 0, 0.0
    for at in range(columns.size):
        j, k, move = columns[at], partner[at], partner_step[at]
        free = upper[k] - x[k] if move > 0.0 else x[k] - lower[k]
        if abs(move) > free:
            continue
        most = shift_room(j, cost, lower, upper, x)
        step = pair_step(
            j, most, k, move, column_start, column_row, column_value, row_lower, row_upper,
            activity, cost, is_integer,
        )  # fmt: skip
        gain = abs(cost[j]) * step - cost[k] * move
        if step > 0.0 and gain > least and gain < np.inf:
            by = step if cost[j] < 0.0 else -step
            _move(j, by, column_start, column_row, column_value, activity, x, changed)
            _move(k, move, column_start, column_row, column_value, activity, x, changed)
            moves += is_integer[j] | is_integer[k]
            gained += gain
    return moves, gained


@compiled
def columns_of(rows, row_start, row_column, wanted):
    """Add the columns of marked rows (m,) to those marked in ``wanted`` (n,)."""
    for i in range(rows.size):
        if rows[i]:
            for entry in range(row_start[i], row_start[i + 1]):
                wanted[row_column[entry]] = 1
