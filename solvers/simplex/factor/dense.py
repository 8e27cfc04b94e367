"""The end of an elimination, when what is left has filled up: dense, with partial pivoting.

Lists of a nearly full matrix cost many times what its arithmetic does. So the rest is copied to a
square array and eliminated column by column, each column subtracting all pivots before it while it
stays in the cache. Dependent columns are put aside as in the sparse part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import Int32Array, Int64Array
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.lists import is_tiny
from solvers.simplex.factor.nucleus import (
    ACTIVE_COLUMNS,
    ACTIVE_ENTRIES,
    ACTIVE_ROWS,
    Nucleus,
)
from solvers.simplex.factor.pivots import (
    DONE,
    LOWER_FULL,
    LOWER_USED,
    NEEDED,
    UPPER_FULL,
    UPPER_USED,
    WORK,
    Pivots,
    add_lower,
    add_upper,
    choose,
)

DENSE_FROM = 0.7
"""Share of entries from which the rest is eliminated as a dense matrix. From 0.45 to 0.75 takes
about the same time on optimal bases of pilot87, gen4 and lp22, but half of the rest's zeros fill
up earlier at 0.45: pilot87's factors have 135,000 entries there, 106,000 at 0.75."""

DENSE_SIZE = 24
"""Smallest rest for which copying pays."""


class Rest(NamedTuple):
    """The rest as a dense matrix.

    Parameters
    ----------
    rows, columns : int64 arrays
        Its rows and positions; rows change places with pivots.
    chosen : int64 array
        Which of the columns became pivots.
    place_of : (m,) int32 array
        Where each of its rows stands.
    matrix : (columns, rows) array
        Its entries, then its factors; a column of it is a row here.
    """

    rows: Int64Array
    columns: Int64Array
    chosen: Int64Array
    place_of: Int32Array
    matrix: FloatArray


def empty_rest(nucleus: Nucleus) -> Rest:
    """Return room for what is left of the nucleus."""
    rows, columns = nucleus.state[[ACTIVE_ROWS, ACTIVE_COLUMNS]].tolist()
    return Rest(
        np.zeros(rows, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(min(rows, columns), dtype=np.int64),
        np.zeros(nucleus.hit.size, dtype=np.int32),
        np.zeros((columns, rows)),
    )


@inner
def is_dense(nucleus: Nucleus) -> bool:
    """Tell whether the rest should be eliminated as a dense matrix."""
    rows, columns = nucleus.state[ACTIVE_ROWS], nucleus.state[ACTIVE_COLUMNS]
    return bool(
        columns >= DENSE_SIZE
        and rows >= DENSE_SIZE
        and nucleus.state[ACTIVE_ENTRIES] >= DENSE_FROM * rows * columns
    )


@inner
def _swap_rows(matrix: FloatArray, rows: Int64Array, first: int, second: int) -> None:
    for column in range(matrix.shape[0]):
        value = matrix[column, first]
        matrix[column, first] = matrix[column, second]
        matrix[column, second] = value
    row = rows[first]
    rows[first] = rows[second]
    rows[second] = row


@inner
def _subtract_pivots(own: FloatArray, matrix: FloatArray, chosen: Int64Array, rank: int) -> None:
    """Apply the pivots so far to a column, by four, which loads and stores it a fourth as often."""
    before = 0
    while before + 4 <= rank:
        one, two = matrix[chosen[before]], matrix[chosen[before + 1]]
        three, four = matrix[chosen[before + 2]], matrix[chosen[before + 3]]
        a = own[before]
        own[before + 1] -= a * one[before + 1]
        b = own[before + 1]
        own[before + 2] -= a * one[before + 2] + b * two[before + 2]
        c = own[before + 2]
        own[before + 3] -= a * one[before + 3] + b * two[before + 3] + c * three[before + 3]
        d = own[before + 3]
        for at in range(before + 4, own.size):
            own[at] -= a * one[at] + b * two[at] + c * three[at] + d * four[at]
        before += 4
    while before < rank:
        source, factor = matrix[chosen[before]], own[before]
        for at in range(before + 1, own.size):
            own[at] -= factor * source[at]
        before += 1


@inner
def _largest(column: FloatArray, begin: int) -> int:
    """Return where the largest entry from a place on lies."""
    best, size = begin, abs(column[begin])
    for at in range(begin + 1, column.size):
        if abs(column[at]) > size:
            best, size = at, abs(column[at])
    return best


@inner
def _gather(nucleus: Nucleus, pivots: Pivots, rest: Rest) -> None:
    """Copy the rest, columns first, and list the rows and positions it has."""
    rows, columns, place_of, matrix = rest.rows, rest.columns, rest.place_of, rest.matrix
    found = 0
    for row in range(place_of.size):
        if pivots.slot_of_row[row] < 0:
            rows[found] = row
            place_of[row] = found
            found += 1
    found = 0
    for position in range(place_of.size):
        if pivots.slot_of_position[position] >= 0 or nucleus.column_count[position] == 0:
            continue
        columns[found] = position
        begin = nucleus.column_begin[position]
        for entry in range(begin, begin + nucleus.column_count[position]):
            matrix[found, place_of[nucleus.column_rows[entry]]] = nucleus.column_values[entry]
        found += 1


@inner
def _eliminate(nucleus: Nucleus, rest: Rest) -> int:
    """Factorise in place; list the columns that became pivots in order, and return how many."""
    matrix, rows, columns, chosen = rest.matrix, rest.rows, rest.columns, rest.chosen
    rank = 0
    for column in range(columns.size):
        own = matrix[column]
        _subtract_pivots(own, matrix, chosen, rank)
        if rank == rows.size:
            continue
        best = _largest(own, rank)
        if is_tiny(nucleus, rows[best], columns[column], own[best]):
            continue
        if best != rank:
            _swap_rows(matrix, rows, best, rank)
        pivot = own[rank]
        for at in range(rank + 1, rows.size):
            own[at] /= pivot
        chosen[rank] = column
        rank += 1
    return rank


@inner
def _write(pivots: Pivots, rest: Rest, rank: int) -> None:
    """Add the pivots and what is not zero of their columns of L and U."""
    rows = rest.rows
    for slot in range(rank):
        column = rest.matrix[rest.chosen[slot]]
        position = rest.columns[rest.chosen[slot]]
        choose(pivots, rows[slot], position, column[slot])
        for at in range(slot):
            if column[at] != 0.0:
                add_upper(pivots, rows[at], position, column[at])
        for at in range(slot + 1, rows.size):
            if column[at] != 0.0:
                add_lower(pivots, rows[slot], rows[at], column[at])


@outer
def factorise_dense(nucleus: Nucleus, pivots: Pivots, rest: Rest) -> int:
    """Eliminate all that is left; return ``DONE``, or which file is full.

    Parameters
    ----------
    nucleus, pivots
        As ``markowitz.factorise_nucleus`` left them with ``FILLED_UP``.
    rest : Rest
        From ``empty_rest``.
    """
    size, num_columns = rest.rows.size, rest.columns.size
    most = rest.chosen.size * size
    if pivots.sizes[LOWER_USED] + most > pivots.lower_indices.size:
        pivots.sizes[NEEDED] = pivots.sizes[LOWER_USED] + most
        return LOWER_FULL
    if pivots.sizes[UPPER_USED] + most > pivots.upper_row.size:
        pivots.sizes[NEEDED] = pivots.sizes[UPPER_USED] + most
        return UPPER_FULL
    _gather(nucleus, pivots, rest)
    _write(pivots, rest, _eliminate(nucleus, rest))
    # a step here costs far less than one of lists
    pivots.sizes[WORK] += size * num_columns * (8 + rest.chosen.size // 24)
    return DONE
