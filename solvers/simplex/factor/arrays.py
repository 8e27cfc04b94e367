"""The arrays of a factorised basis, as compiled loops take them.

A basis B, with a row for each row of the problem and a column for each position, is held as

    P B Q = L U,    and after t updates    B = L R_1^-1 ... R_t^-1 U   (rows and columns permuted)

Every pivot joins one row to one position. Inside the factors both go by the number of the row, the
*label* of the pivot: U's column for the basis position p is named ``row_of_position[p]``, and a
vector only changes from rows to positions at the end of an ftran, or at the start of a btran. So
an update (J. J. Forrest and J. A. Tomlin, Math. Programming 2, 1972) permutes nothing: it gives
the label of the position that changes a new place at the end of U's order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.problem import FloatArray

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

UPDATES, UPPER_SLOTS, LOWER_SLOTS, LOWER_ROW_SLOTS = 0, 1, 2, 3
"""Counters: updates since the factorisation, and places used in the three orders."""

ETA_USED, UPPER_USED, UPPER_ROWS_USED, ENTRIES = 4, 5, 6, 7
"""Counters: used space of the files that grow, and entries of L, U and R off the diagonals."""

SPIKE, SPIKE_IS_KEPT, SOLVE_WORK, FACTOR_WORK = 8, 9, 10, 11
"""Counters: length of the kept spike and whether there is one; steps in solves and updates since
the factorisation, and in the factorisation itself."""

ROW_LABEL, ROW_LENGTH = 12, 13
"""Counters: label of the unit vector last seen by btran, or -1, and the entries kept of it."""

BEST_AVERAGE = 14
"""Counter: the least average work for each update so far, that of the factorisation included."""

NUM_COUNTERS = 15


class Triangle(NamedTuple):
    """A triangular factor by columns (or rows), as it scatters.

    Parameters
    ----------
    order : int32 array
        Labels in elimination order, or those of them that have entries; -1 where one moved away.
    pivot : (m,) array
        Diagonal by label; empty for a diagonal of ones.
    backward : bool
        Whether solves go through the order from its end.
    begin, end : (m,) int64 arrays
        Where the entries of each label lie in the file.
    indices, values : int32 and float64 arrays
        The file: labels that an entry scatters to, and coefficients.
    """

    order: Int32Array
    pivot: FloatArray
    backward: bool
    begin: Int64Array
    end: Int64Array
    indices: Int32Array
    values: FloatArray


class Scratch(NamedTuple):
    """Room for solves. Between calls ``mark`` and ``work`` are zero; the rest holds anything."""

    mark: npt.NDArray[np.uint8]
    stack: Int32Array
    edge: Int64Array
    reached: Int32Array
    gathered: FloatArray
    work: FloatArray


class FactorArrays(NamedTuple):
    """A factorised basis of m rows; all arrays keep their types for ever.

    Parameters
    ----------
    row_of_position, position_of_row : (m,) int32 arrays
        The row that a position's pivot lies in, and the reverse.
    lower, lower_rows, upper, upper_rows : Triangle
        L and U by columns and by rows; the diagonal and order of U are shared by its two copies.
    upper_slot : (m,) int32 array
        The place of each label in the order of U.
    upper_rows_room : (m,) int64 array
        Where the room of each row of U ends.
    eta_row : (most updates,) int32 array
        The label that R_t changes.
    eta_begin : (most updates + 1,) int64 array
        Where the entries of each R_t begin.
    eta_indices, eta_values : arrays
        Their labels and values: R_t v subtracts from v at ``eta_row`` the product with these.
    spike_indices, spike_values : (m,) arrays
        The column that ``ftran_entering`` saw, after L and R and before U.
    row_indices, row_values : (m,) arrays
        What ``btran`` of a unit vector held after U, which the update of that position needs.
    scratch : Scratch
    counters : int64 array
        By the constants of this module.
    density : (4, 64) array
        For each triangle, and inputs of 2**k entries, the share of entries its results had.
    """

    row_of_position: Int32Array
    position_of_row: Int32Array
    lower: Triangle
    lower_rows: Triangle
    upper: Triangle
    upper_rows: Triangle
    upper_slot: Int32Array
    upper_rows_room: Int64Array
    eta_row: Int32Array
    eta_begin: Int64Array
    eta_indices: Int32Array
    eta_values: FloatArray
    spike_indices: Int32Array
    spike_values: FloatArray
    row_indices: Int32Array
    row_values: FloatArray
    scratch: Scratch
    counters: Int64Array
    density: FloatArray


def scratch(m: int) -> Scratch:
    """Return room for the solves of a basis with m rows."""
    return Scratch(
        np.zeros(m, dtype=np.uint8),
        np.empty(m, dtype=np.int32),
        np.empty(m, dtype=np.int64),
        np.empty(m, dtype=np.int32),
        np.empty(m),
        np.zeros(m),
    )


def _triangle(m: int, slots: int, pivot: FloatArray, backward: bool = False) -> Triangle:
    return Triangle(
        np.full(slots, -1, dtype=np.int32),
        pivot,
        backward,
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0),
    )


def empty_arrays(m: int, most_updates: int) -> FactorArrays:
    """Return arrays for a basis with m rows, whose files have no room yet."""
    upper = _triangle(m, m + most_updates, np.ones(m), backward=True)
    return FactorArrays(
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        _triangle(m, m, np.empty(0)),
        _triangle(m, m, np.empty(0)),
        upper,
        _triangle(m, 0, upper.pivot)._replace(order=upper.order),
        np.zeros(m, dtype=np.int32),
        np.zeros(m, dtype=np.int64),
        np.zeros(most_updates, dtype=np.int32),
        np.zeros(most_updates + 1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        scratch(m),
        np.zeros(NUM_COUNTERS, dtype=np.int64),
        np.zeros((4, 64)),
    )


def _with_file(triangle: Triangle, room: int) -> Triangle:
    if triangle.indices.size >= room:
        return triangle
    size = room + room // 2
    return triangle._replace(indices=np.empty(size, dtype=np.int32), values=np.empty(size))


def with_room(arrays: FactorArrays, lower: int, upper: int) -> FactorArrays:
    """Return arrays whose files hold at least so many entries; what they held may be lost."""
    arrays = arrays._replace(
        lower=_with_file(arrays.lower, lower),
        lower_rows=_with_file(arrays.lower_rows, lower),
        upper=_with_file(arrays.upper, upper),
        upper_rows=_with_file(arrays.upper_rows, upper),
    )
    if arrays.eta_indices.size < upper:
        size = upper + upper // 2
        arrays = arrays._replace(
            eta_indices=np.empty(size, dtype=np.int32), eta_values=np.empty(size)
        )
    return arrays
