"""Elimination of the nucleus, with pivots that are both large enough and cheap.

A pivot's cost is Markowitz's (r - 1)(c - 1), for r and c the counts of its row and column; a pivot
must not be smaller than a tenth of the largest in its column, so that no multiplier exceeds ten.
Columns and rows are searched by ascending counts, and after a few the best so far is taken (U. H.
Suhl and L. M. Suhl, ORSA J. Computing 2, 1990). A column whose entries have all but cancelled is
dependent on others: it is put aside, and its position gets a logical in the end.

This is used instead of SciPy's splu: it finds dependent columns where splu fails, and it knows the
counts of rows and columns where COLAMD has to foresee them without knowing the pivots. On optimal
bases of 20 Netlib and larger models the factors never had more entries than splu's (25fv47 5,500
and 14,700, degen3 18,000 and 112,000, p10 101,000 and 1,170,000, gen4 386,000 and 467,000), and
they took half of splu's time or less on 17 of them (0.73 and 2.0 ms on 25fv47, 10 and 27 on
maros-r7, 4.5 and 122 on p10), as much on gen4, where nearly all fills up, and more only on grow22
(0.9 and 0.5; processor time, beside other work).
"""

from __future__ import annotations

from solvers.simplex.factor.chains import HEAD, link, unlink
from solvers.simplex.factor.dense import is_dense
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.lists import (
    entry_at,
    is_tiny,
    remove_from_row,
    reserve_column,
    reserve_row,
    take_from_column,
)
from solvers.simplex.factor.nucleus import (
    ACTIVE_COLUMNS,
    ACTIVE_ENTRIES,
    ACTIVE_ROWS,
    STAMP,
    Nucleus,
)
from solvers.simplex.factor.pivots import (
    DONE,
    FILLED_UP,
    LOWER_FULL,
    LOWER_USED,
    NEEDED,
    NUCLEUS_FULL,
    UPPER_FULL,
    UPPER_USED,
    WORK,
    Pivots,
    add_lower,
    add_upper,
    choose,
)
from solvers.simplex.factor.search import find_pivot

ENTRY_WORK = 4
"""Steps of a solve that take the time of an entry's update here, as measured on Netlib's bases."""

PIVOT_WORK = 100
"""Steps of a solve that take the time of the search for a pivot, likewise."""

CANCELLED = 4e-15
"""A difference this small beside its first term is a zero (some rounding errors of doubles)."""


@inner
def put_aside(nucleus: Nucleus, position: int) -> None:
    """Remove a column that depends on others."""
    unlink(nucleus.column_chain, position)
    begin = nucleus.column_begin[position]
    for entry in range(begin, begin + nucleus.column_count[position]):
        row = nucleus.column_rows[entry]
        remove_from_row(nucleus, row, position)
        unlink(nucleus.row_chain, row)
        link(nucleus.row_chain, row, nucleus.row_count[row])
    nucleus.state[ACTIVE_ENTRIES] -= nucleus.column_count[position]
    nucleus.state[ACTIVE_COLUMNS] -= 1
    nucleus.column_count[position] = 0


@inner
def _take_pivot_column(nucleus: Nucleus, pivots: Pivots, row: int, position: int) -> None:
    """Choose a pivot; write its column of L and scatter the multipliers."""
    unlink(nucleus.column_chain, position)
    unlink(nucleus.row_chain, row)
    remove_from_row(nucleus, row, position)
    pivot = take_from_column(nucleus, position, row)
    choose(pivots, row, position, pivot)
    begin = nucleus.column_begin[position]
    for entry in range(begin, begin + nucleus.column_count[position]):
        other = nucleus.column_rows[entry]
        multiplier = nucleus.column_values[entry] / pivot
        nucleus.multiplier[other] = multiplier
        add_lower(pivots, row, other, multiplier)
        remove_from_row(nucleus, other, position)
    state = nucleus.state
    state[ACTIVE_ROWS] -= 1
    state[ACTIVE_COLUMNS] -= 1
    state[ACTIVE_ENTRIES] -= 1 + nucleus.column_count[position] + nucleus.row_count[row]


@inner
def _update_column(nucleus: Nucleus, pivots: Pivots, row: int, position: int, other: int) -> bool:
    """Eliminate the pivot's row from another column; false if a file has no room."""
    factor = take_from_column(nucleus, other, row)
    add_upper(pivots, row, other, factor)
    begin, count = nucleus.column_begin[position], nucleus.column_count[position]
    if not reserve_column(nucleus, other, count):
        return False
    state = nucleus.state
    state[STAMP] += 1
    stamp = state[STAMP]
    start = nucleus.column_begin[other]
    end = start + nucleus.column_count[other]
    largest = 0.0
    entry = start
    while entry < end:
        at = nucleus.column_rows[entry]
        multiplier = nucleus.multiplier[at]
        value = nucleus.column_values[entry]
        if multiplier != 0.0:
            nucleus.hit[at] = stamp
            old = abs(value)
            value -= multiplier * factor
            if abs(value) <= CANCELLED * old:
                end -= 1
                nucleus.column_rows[entry] = nucleus.column_rows[end]
                nucleus.column_values[entry] = nucleus.column_values[end]
                remove_from_row(nucleus, at, other)
                state[ACTIVE_ENTRIES] -= 1
                continue
            nucleus.column_values[entry] = value
        largest = max(largest, abs(value))
        entry += 1
    for which in range(begin, begin + count):
        at = nucleus.column_rows[which]
        if nucleus.hit[at] == stamp:
            continue
        if not reserve_row(nucleus, at, 1):
            return False
        nucleus.row_positions[nucleus.row_begin[at] + nucleus.row_count[at]] = other
        nucleus.row_count[at] += 1
        value = -nucleus.multiplier[at] * factor
        nucleus.column_rows[end] = at
        nucleus.column_values[end] = value
        largest = max(largest, abs(value))
        end += 1
        state[ACTIVE_ENTRIES] += 1
    pivots.sizes[WORK] += ENTRY_WORK * (end - start + count)
    nucleus.column_count[other] = end - start
    nucleus.column_largest[other] = largest
    unlink(nucleus.column_chain, other)
    link(nucleus.column_chain, other, end - start)
    return True


@inner
def eliminate(nucleus: Nucleus, pivots: Pivots, row: int, position: int) -> int:
    """Carry out one pivot; return ``DONE`` or which file is full."""
    if pivots.sizes[LOWER_USED] + nucleus.column_count[position] > pivots.lower_indices.size:
        pivots.sizes[NEEDED] = pivots.sizes[LOWER_USED] + nucleus.column_count[position]
        return LOWER_FULL
    if pivots.sizes[UPPER_USED] + nucleus.row_count[row] > pivots.upper_row.size:
        pivots.sizes[NEEDED] = pivots.sizes[UPPER_USED] + nucleus.row_count[row]
        return UPPER_FULL
    _take_pivot_column(nucleus, pivots, row, position)
    begin = nucleus.row_begin[row]
    for entry in range(begin, begin + nucleus.row_count[row]):
        other = nucleus.row_positions[entry]
        if not _update_column(nucleus, pivots, row, position, other):
            return NUCLEUS_FULL
    start = nucleus.column_begin[position]
    for entry in range(start, start + nucleus.column_count[position]):
        other = nucleus.column_rows[entry]
        nucleus.multiplier[other] = 0.0
        unlink(nucleus.row_chain, other)
        link(nucleus.row_chain, other, nucleus.row_count[other])
    nucleus.row_count[row] = 0
    nucleus.column_count[position] = 0
    return DONE


@inner
def factorise_nucleus(nucleus: Nucleus, pivots: Pivots) -> int:
    """Eliminate all that is left; positions and rows without a pivot then are dependent.

    Returns ``DONE``, which file is full, or ``FILLED_UP``.
    """
    while nucleus.state[ACTIVE_COLUMNS] > 0:
        empty = nucleus.column_chain[HEAD, 0]
        if empty >= 0:
            put_aside(nucleus, empty)
            continue
        if is_dense(nucleus):
            return FILLED_UP
        row, position = find_pivot(nucleus)
        pivots.sizes[WORK] += PIVOT_WORK
        if is_tiny(nucleus, row, position, entry_at(nucleus, position, row)):
            put_aside(nucleus, position)
            continue
        full = eliminate(nucleus, pivots, row, position)
        if full != DONE:
            return int(full)
    return DONE
