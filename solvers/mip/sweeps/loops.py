"""The compiled loops of a sweep: one over the rows that are violated, one over columns that cost.

A row's distances to its two sides stand side by side, so that a look at it touches one line of the
cache. Everything is a plain loop in the order of the model.
"""

from __future__ import annotations

import numpy as np

from solvers.mip.domain.internal import as_index
from solvers.mip.model import ByteArray, IndexArray
from solvers.mip.search.loops import called, compiled
from solvers.problem import FloatArray

CANDIDATES = 16
"""Columns of a row that are compared for one step: in a long row the best of so many is nearly the
best of all."""

ROW_TOLERANCE = 1e-9
"""Excess of a side, relative to max(1, |distance|), that counts as none: far below the tolerance
of the check, as a sweep adds up errors."""

SMALLEST = 1e-7
"""Coefficients below this move nothing."""


@called
def effect(
    column_start: IndexArray,
    column_row: IndexArray,
    column_value: FloatArray,
    distance: FloatArray,
    j: int,
    step: float,
) -> int:
    """Return by how many more rows are violated after a step of a column, or worse than before."""
    balance = 0
    for p in range(column_start[j], column_start[j + 1]):
        i, change = column_row[p], column_value[p] * step
        side = 0 if change < 0.0 else 1
        size = abs(change)
        toward, away = distance[i, side], distance[i, 1 - side]
        if toward - size < -ROW_TOLERANCE * max(1.0, size):
            balance += 1
        if away < -ROW_TOLERANCE and away + size >= -ROW_TOLERANCE:
            balance -= 1
    return balance


@called
def take_step(
    column_start: IndexArray,
    column_row: IndexArray,
    column_value: FloatArray,
    distance: FloatArray,
    x: FloatArray,
    j: int,
    step: float,
) -> None:
    """Move a column, and its rows' distances along."""
    x[j] += step
    for p in range(column_start[j], column_start[j + 1]):
        change = column_value[p] * step
        distance[column_row[p], 0] += change
        distance[column_row[p], 1] -= change


@compiled
def mend_rows(
    row_start: IndexArray,
    row_column: IndexArray,
    row_value: FloatArray,
    column_start: IndexArray,
    column_row: IndexArray,
    column_value: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    is_integer: ByteArray,
    cost: FloatArray,
    distance: FloatArray,
    x: FloatArray,
    moved: ByteArray,
    first: int,
    most: int,
    allowed: int,
) -> tuple[int, int]:
    """Mend what is violated from row ``first`` on; return the next row and the entries visited.

    Ends once more than ``allowed`` entries were visited, if need be in the middle of a row.

    Of the columns that help, that one moves by which the fewest other rows are newly violated, at
    most ``most`` more than are mended, and among those the one that costs least for what it does.
    None turns round within a sweep: ``moved`` is 1 for columns that rose, 2 for those that fell.
    """
    work, i = 0, first
    while i < distance.shape[0] and work <= allowed:
        begin, end = as_index(row_start[i]), as_index(row_start[i + 1])
        length = end - begin
        place = as_index((i * 7919) % max(1, length))
        left = length
        while left > 0 and work <= allowed:
            side = 0 if distance[i, 0] < -ROW_TOLERANCE else 1
            need = -distance[i, side]
            if need <= ROW_TOLERANCE:
                break
            best, best_step, best_balance, best_price = -1, 0.0, most + 1, np.inf
            seen = 0
            while seen < CANDIDATES and left > 0:
                p = begin + place
                place = place + 1 if place + 1 < length else 0
                left -= 1
                j, a = as_index(row_column[p]), row_value[p]
                if abs(a) < SMALLEST:
                    continue
                rises = (a > 0.0) == (side == 0)
                room = upper[j] - x[j] if rises else x[j] - lower[j]
                size = need / abs(a)
                if is_integer[j] == 1:
                    size = np.ceil(size - ROW_TOLERANCE)
                size = min(size, room)
                if size <= 0.0 or moved[j] == (2 if rises else 1):
                    continue
                seen += 1
                step = size if rises else -size
                balance = effect(column_start, column_row, column_value, distance, j, step)
                work += as_index(column_start[j + 1] - column_start[j])
                price = cost[j] * step / min(1.0, abs(a) * size / need)
                if balance < best_balance or (balance == best_balance and price < best_price):
                    best, best_step, best_balance, best_price = j, step, balance, price
            if best >= 0:
                take_step(column_start, column_row, column_value, distance, x, best, best_step)
                moved[best] = 1 if best_step > 0.0 else 2
        work += length - left + 1
        i += 1
    return i, work


@compiled
def give_back(
    column_start: IndexArray,
    column_row: IndexArray,
    column_value: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    is_integer: ByteArray,
    cost: FloatArray,
    distance: FloatArray,
    x: FloatArray,
    order: IndexArray,
) -> None:
    """Move the given columns as far as their rows let them to where they cost least."""
    for place in range(order.size):
        j = as_index(order[place])
        falls = cost[j] > 0.0
        room = x[j] - lower[j] if falls else upper[j] - x[j]
        for p in range(column_start[j], column_start[j + 1]):
            a = column_value[p]
            if a == 0.0:
                continue
            side = 0 if (a > 0.0) == falls else 1
            room = min(room, max(0.0, distance[column_row[p], side]) / abs(a))
        if is_integer[j] == 1:
            room = np.floor(room + ROW_TOLERANCE)
        if 0.0 < room < np.inf:
            step = -room if falls else room
            take_step(column_start, column_row, column_value, distance, x, j, step)
