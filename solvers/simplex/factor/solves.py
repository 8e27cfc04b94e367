"""Solves with a factorised basis and its transpose, called from compiled loops.

Vectors are dense and solved in place; a list of the nonzeros may go along, so that sparse ones cost
what they hold and not what they could. The caller keeps every entry outside the list at zero.
"""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import (
    LOWER_ROW_SLOTS,
    LOWER_SLOTS,
    ROW_LABEL,
    ROW_LENGTH,
    SOLVE_WORK,
    SPIKE,
    SPIKE_IS_KEPT,
    UPDATES,
    UPPER_SLOTS,
    FactorArrays,
    Int32Array,
)
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.patterns import keep, nonzeros, rename, without_repeats
from solvers.simplex.factor.triangles import drop_below, solve_triangle


@inner
def _apply_etas(arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """Apply R_1, R_2, ... of the updates so far; new nonzeros join the pattern."""
    begin, indices, values = arrays.eta_begin, arrays.eta_indices, arrays.eta_values
    rows = arrays.eta_row
    updates = arrays.counters[UPDATES]
    for update in range(updates):
        total = 0.0
        for entry in range(begin[update], begin[update + 1]):
            total += values[entry] * vector[indices[entry]]
        if total != 0.0:
            label = rows[update]
            if count >= 0 and vector[label] == 0.0:
                if count < pattern.size:
                    pattern[count] = label  # perhaps for the second time: the search sorts it out
                    count += 1
                else:
                    count = -1
            vector[label] -= total
    arrays.counters[SOLVE_WORK] += begin[updates]
    return count


@inner
def _apply_transposed_etas(
    arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int
) -> int:
    """Apply the transposes of ..., R_2, R_1; new nonzeros join the pattern."""
    begin, indices, values = arrays.eta_begin, arrays.eta_indices, arrays.eta_values
    rows = arrays.eta_row
    for update in range(arrays.counters[UPDATES] - 1, -1, -1):
        factor = vector[rows[update]]
        if factor == 0.0:
            continue
        arrays.counters[SOLVE_WORK] += begin[update + 1] - begin[update]
        for entry in range(begin[update], begin[update + 1]):
            label = indices[entry]
            if count >= 0 and vector[label] == 0.0:
                if count < pattern.size:
                    pattern[count] = label
                    count += 1
                else:
                    count = -1
            vector[label] -= values[entry] * factor
    return count


@inner
def _solve_lower(
    arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int, drop: float
) -> int:
    """Solve with L and apply the updates; the pattern may list a label twice."""
    counters = arrays.counters
    count = solve_triangle(
        arrays.lower, counters[LOWER_SLOTS], vector, pattern, count, drop, arrays.scratch,
        arrays.density[0], counters,
    )  # fmt: skip
    return int(_apply_etas(arrays, vector, pattern, count))


@inner
def _solve_upper(
    arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int, drop: float
) -> int:
    """Solve with U, and go from rows to positions."""
    counters, scratch = arrays.counters, arrays.scratch
    count = solve_triangle(
        arrays.upper, counters[UPPER_SLOTS], vector, pattern, count, drop, scratch,
        arrays.density[1], counters,
    )  # fmt: skip
    return int(rename(vector, pattern, count, arrays.position_of_row, scratch.gathered))


@outer
def ftran(arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """Solve B v = ``vector`` in place.

    Parameters
    ----------
    arrays : FactorArrays
    vector : (m,) array
        The right-hand side by row; becomes the solution by basis position.
    pattern : (m,) int32 array
        In: the rows that are not zero, in its first ``count`` places. Out: the positions.
    count : int
        How many rows are listed, each once; -1 if they are not.

    Returns
    -------
    int
        How many positions are listed, or -1 if there are too many to list.
    """
    drop = drop_below(vector, pattern, count)
    count = _solve_lower(arrays, vector, pattern, count, drop)
    return int(_solve_upper(arrays, vector, pattern, count, drop))


@outer
def ftran_entering(
    arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int
) -> int:
    """Solve as ``ftran`` does, and keep what ``update`` needs of this column until then."""
    counters = arrays.counters
    drop = drop_below(vector, pattern, count)
    count = _solve_lower(arrays, vector, pattern, count, drop)
    if count >= 0:
        count = without_repeats(pattern, count, arrays.scratch)
    counters[SPIKE] = keep(vector, pattern, count, arrays.spike_indices, arrays.spike_values, drop)
    counters[SPIKE_IS_KEPT] = 1
    return int(_solve_upper(arrays, vector, pattern, count, drop))


@outer
def btran(arrays: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """Solve B'y = ``vector`` in place.

    Parameters are those of ``ftran``, with ``vector`` and ``pattern`` by basis position on entry
    and by row on return.
    """
    counters, scratch = arrays.counters, arrays.scratch
    drop = drop_below(vector, pattern, count)
    unit = count == 1 and vector[pattern[0]] == 1.0
    count = rename(vector, pattern, count, arrays.row_of_position, scratch.gathered)
    label = pattern[0] if unit else -1
    count = solve_triangle(
        arrays.upper_rows, counters[UPPER_SLOTS], vector, pattern, count, drop, scratch,
        arrays.density[2], counters,
    )  # fmt: skip
    if unit:
        counters[ROW_LENGTH] = keep(
            vector, pattern, count, arrays.row_indices, arrays.row_values, drop
        )
        counters[ROW_LABEL] = label
    count = _apply_transposed_etas(arrays, vector, pattern, count)
    count = solve_triangle(
        arrays.lower_rows, counters[LOWER_ROW_SLOTS], vector, pattern, count, drop, scratch,
        arrays.density[3], counters,
    )  # fmt: skip
    return int(nonzeros(vector, pattern, count))
