"""The search for the next pivot of the nucleus."""

from __future__ import annotations

from solvers.simplex.factor.chains import HEAD, NEXT
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.lists import entry_at
from solvers.simplex.factor.nucleus import Nucleus

Candidate = tuple[int, int, int, float]
"""Row, position, Markowitz cost and size of a pivot; -1, -1, a large cost and 0 for none."""

THRESHOLD = 0.1
"""Least size of a pivot relative to its column (Suhl and Suhl take the same)."""

SEARCHED = 4
"""Rows and columns that are looked at once a pivot is known (Suhl and Suhl)."""


@inner
def _better_in_column(nucleus: Nucleus, position: int, best: Candidate) -> Candidate:
    """Return the best of a column's pivots and what was known."""
    row, column, cost, size = best
    count = nucleus.column_count[position]
    least = THRESHOLD * nucleus.column_largest[position]
    begin = nucleus.column_begin[position]
    for entry in range(begin, begin + count):
        magnitude = abs(nucleus.column_values[entry])
        if magnitude < least:
            continue
        other = nucleus.column_rows[entry]
        price = (nucleus.row_count[other] - 1) * (count - 1)
        if price < cost or (price == cost and magnitude > size):
            row, column, cost, size = other, position, price, magnitude
    return row, column, cost, size


@inner
def _better_in_row(nucleus: Nucleus, at: int, best: Candidate) -> Candidate:
    """Return the best of a row's pivots and what was known."""
    row, column, cost, size = best
    count = nucleus.row_count[at]
    begin = nucleus.row_begin[at]
    for entry in range(begin, begin + count):
        position = nucleus.row_positions[entry]
        price = (nucleus.column_count[position] - 1) * (count - 1)
        if price >= cost:
            continue
        magnitude = abs(entry_at(nucleus, position, at))
        if magnitude >= THRESHOLD * nucleus.column_largest[position]:
            row, column, cost, size = at, position, price, magnitude
    return row, column, cost, size


@inner
def find_pivot(nucleus: Nucleus) -> tuple[int, int]:
    """Return row and position of the next pivot.

    No active column is empty, so that there is one: its largest entry passes the threshold.
    """
    size = 0.0
    row = column = nucleus.column_chain[HEAD, 0]  # -1
    cost = nucleus.hit.size * nucleus.hit.size
    searched = 0
    for count in range(1, nucleus.hit.size + 1):
        position = nucleus.column_chain[HEAD, count]
        while position >= 0 and cost > (count - 1) * (count - 1):
            row, column, cost, size = _better_in_column(
                nucleus, position, (row, column, cost, size)
            )
            searched += 1
            if searched >= SEARCHED and row >= 0:
                return row, column
            position = nucleus.column_chain[NEXT, position]
        at = nucleus.row_chain[HEAD, count]
        while at >= 0 and cost > count * (count - 1):
            row, column, cost, size = _better_in_row(nucleus, at, (row, column, cost, size))
            searched += 1
            if searched >= SEARCHED and row >= 0:
                return row, column
            at = nucleus.row_chain[NEXT, at]
        if cost <= count * (count - 1):
            break
    return row, column
