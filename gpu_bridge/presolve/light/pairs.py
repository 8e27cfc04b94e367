"""Which columns to replace by which equations, and what becomes of their bounds."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.presolve.light.loops import compiled, merged
from solvers.outcome import BasisStatus
from solvers.problem import FloatArray, Problem

IntArray = npt.NDArray[np.int64]

PIVOT = 0.1
"""A column is replaced by an equation only where its entry is at least this part of the largest."""

LONGEST_EQUATION = 30
LONGEST_COLUMN = 30

MOST_ADDED = 0
"""Entries that a replacement may add to the matrix."""

NOISE = 1e-9
"""Multipliers up to this size do not decide what is basic."""

NO_PAIR = 2**40
LOWER, BASIC = int(BasisStatus.LOWER), int(BasisStatus.BASIC)
UPPER = int(BasisStatus.UPPER)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Replaced columns (k,), their equations and pivots, and the bounds (n,) afterwards.

    ``other`` (k,) is the column that took over the bounds of the replaced one, -1 without one,
    and ``other_entry`` its coefficient; ``origin`` says which sides came that way: 1 the lower,
    2 the upper, 3 both.
    """

    row: IntArray
    column: IntArray
    pivot: FloatArray
    other: IntArray
    other_entry: FloatArray
    origin: IntArray
    lower: FloatArray
    upper: FloatArray

    @property
    def moved(self) -> tuple[Any, ...]:
        """What :func:`return_bounds` reads."""
        return self.row, self.column, self.pivot, self.other, self.other_entry, self.origin


def choose_pairs(problem: Problem, at_least: float = 1.0) -> Pairs | None:
    """Choose pairs that do not touch each other, the cheapest first.

    Returns None where there are fewer than ``at_least``. Whether there can be as many is asked
    first, of the pattern alone: most models have few short equations, or none.
    """
    m, n = problem.num_rows, problem.num_columns
    A, by_column = problem.matrix, problem.matrix_csc
    lengths = np.diff(by_column.indptr)
    if _count_promising(A.indptr, A.indices, lengths, *_sides(problem)) < at_least:
        return None
    lower, upper = problem.lower.copy(), problem.upper.copy()
    price = np.full(m, NO_PAIR, dtype=np.int64)
    entry = np.full(m, -1, dtype=np.int64)
    rows = (A.indptr, A.indices, A.data)
    sides = _sides(problem)
    by_row = (np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64))
    implied_bounds(*rows, *sides, lower, upper, *by_row)
    _find_candidates(*rows, lengths, *sides, *by_row, price, entry)
    candidates = np.flatnonzero(price < NO_PAIR)
    if candidates.size < at_least:
        return None
    candidates = candidates[np.argsort(price[candidates], kind="stable")]
    k = candidates.size
    pairs = Pairs(
        np.empty(k, dtype=np.int64),
        np.empty(k, dtype=np.int64),
        np.empty(k),
        np.empty(k, dtype=np.int64),
        np.empty(k),
        np.empty(k, dtype=np.int64),
        lower,
        upper,
    )
    row_taken, column_taken = np.zeros(m, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    count = _take(
        *rows,
        by_column.indptr,
        by_column.indices,
        problem.row_lower,
        *by_row,
        candidates,
        entry,
        row_taken,
        column_taken,
        *pairs.moved,
        lower,
        upper,
    )
    if count < at_least:
        return None
    return Pairs(
        pairs.row[:count],
        pairs.column[:count],
        pairs.pivot[:count],
        pairs.other[:count],
        pairs.other_entry[:count],
        pairs.origin[:count],
        lower,
        upper,
    )


def _sides(problem: Problem) -> tuple[FloatArray, FloatArray]:
    return problem.row_lower, problem.row_upper


@compiled
def _count_promising(start, index, lengths, row_lower, row_upper):
    """Count the equations with a column that could be replaced by them without adding entries."""
    count = 0
    for i in range(row_lower.size):
        size = start[i + 1] - start[i]
        if row_lower[i] != row_upper[i] or size < 2 or size > LONGEST_EQUATION:
            continue
        for e in range(start[i], start[i + 1]):
            length = lengths[index[e]]
            if length <= LONGEST_COLUMN and _added(size, length) <= MOST_ADDED:
                count += 1
                break
    return count


@merged
def _added(size, length):
    """Return the entries that are added where an equation replaces a column."""
    return (size - 1) * (length - 1) - (size + length - 1)


@compiled
def implied_bounds(start, index, value, row_lower, row_upper, lower, upper, low_by, high_by):
    """Find rows that by themselves, and the other columns' bounds, imply a column's bounds.

    ``low_by`` and ``high_by`` (n,) get the row that implies the lower and the upper bound, -2 where
    there is no bound to imply, and stay -1 where no row does.
    """
    sides = (row_lower, row_upper)
    for j in range(lower.size):
        low_by[j] = -2 if lower[j] == -np.inf else -1
        high_by[j] = -2 if upper[j] == np.inf else -1
    for i in range(row_lower.size):
        least, most, endless_down, endless_up = _activity(start, index, value, lower, upper, i)
        if (endless_down > 1 or row_upper[i] == np.inf) and (
            endless_up > 1 or row_lower[i] == -np.inf
        ):
            continue
        equation = row_lower[i] == row_upper[i]
        for e in range(start[i], start[i + 1]):
            a, j = value[e], index[e]
            if not (_open(low_by[j], equation, sides) or _open(high_by[j], equation, sides)):
                continue
            low, high = _reach(a, lower[j], upper[j])
            rest_least = _rest(least, endless_down, low, -np.inf)
            rest_most = _rest(most, endless_up, high, np.inf)
            holds_low = row_lower[i] - rest_most >= low  # of a x_j
            holds_high = row_upper[i] - rest_least <= high
            if a < 0.0:
                holds_low, holds_high = holds_high, holds_low
            if holds_low and _open(low_by[j], equation, sides):
                low_by[j] = i
            if holds_high and _open(high_by[j], equation, sides):
                high_by[j] = i


@merged
def _open(by, equation, sides):
    """Whether a bound is still without a row that implies it, or an equation is better than its."""
    row_lower, row_upper = sides
    return by == -1 or (by >= 0 and equation and row_lower[by] != row_upper[by])


@merged
def _activity(start, index, value, lower, upper, i):
    """Return the finite parts of a row's least and greatest activity, and the infinite terms."""
    least, most, endless_down, endless_up = 0.0, 0.0, 0, 0
    for e in range(start[i], start[i + 1]):
        low, high = _reach(value[e], lower[index[e]], upper[index[e]])
        if low == -np.inf:
            endless_down += 1
        else:
            least += low
        if high == np.inf:
            endless_up += 1
        else:
            most += high
    return least, most, endless_down, endless_up


@merged
def _rest(total, endless, own, infinity):
    """Return a bound on the activity of all columns but one."""
    if own == infinity:
        return total if endless == 1 else infinity
    return total - own if endless == 0 else infinity


@compiled
def _find_candidates(
    start, index, value, lengths, row_lower, row_upper, low_by, high_by, price, entry
):
    """Find for each equation the entry at which replacing adds least."""
    for i in range(row_lower.size):
        size = start[i + 1] - start[i]
        if row_lower[i] != row_upper[i] or size < 2 or size > LONGEST_EQUATION:
            continue
        largest = 0.0
        for e in range(start[i], start[i + 1]):
            largest = max(largest, abs(value[e]))
        for e in range(start[i], start[i + 1]):
            j = index[e]
            if abs(value[e]) < PIVOT * largest or lengths[j] > LONGEST_COLUMN:
                continue
            added = _added(size, lengths[j])
            implied = low_by[j] != -1 and high_by[j] != -1
            if added > MOST_ADDED or not (size == 2 or implied):
                continue
            # of equals take those that rely on no other row
            others = (1 if low_by[j] not in (i, -2) else 0) + (
                1 if high_by[j] not in (i, -2) else 0
            )
            if 4 * added + others < price[i]:
                price[i], entry[i] = 4 * added + others, e


@merged
def _reach(a, low, high):
    """Return least and greatest value of a times a column."""
    return min(a * low, a * high), max(a * low, a * high)


@compiled
def _take(
    start, index, value, column_start, column_index, row_lower, low_by, high_by, candidates, entry,
    row_taken, column_taken, row, column, pivot, other, other_entry, origin, lower, upper,
):  # fmt: skip
    """Take pairs whose columns stand in no row that another pair relies on; return how many."""
    count = 0
    for i in candidates:
        e = entry[i]
        j = index[e]
        if row_taken[i] or column_taken[j]:
            continue
        first, second = low_by[j], high_by[j]
        implied = first != -1 and second != -1
        if implied and ((first >= 0 and row_taken[first]) or (second >= 0 and row_taken[second])):
            continue
        row[count], column[count], pivot[count] = i, j, value[e]
        other[count], other_entry[count], origin[count] = -1, 0.0, 0
        if not implied:  # an equation with two columns
            last = start[i] + start[i + 1] - 1 - e
            k, b = index[last], value[last]
            if not _move_bounds(value[e], j, b, k, row_lower[i], lower, upper, origin, count):
                continue
            other[count], other_entry[count] = k, b
        for c in range(column_start[j], column_start[j + 1]):
            row_taken[column_index[c]] = True
        _mark(start, index, i, column_taken)
        if implied:
            _mark(start, index, first, column_taken)
            _mark(start, index, second, column_taken)
        count += 1
    return count


@merged
def _mark(start, index, i, taken):
    if i >= 0:
        for entry in range(start[i], start[i + 1]):
            taken[index[entry]] = True


@merged
def _move_bounds(a, j, b, k, side, lower, upper, origin, count):
    """Give column k of ``a x_j + b x_k = side`` the bounds of column j, unless they cross."""
    least, most = _reach(a, lower[j], upper[j])
    first, second = (side - most) / b, (side - least) / b
    low, high = min(first, second), max(first, second)
    if max(low, lower[k]) > min(high, upper[k]):
        return False
    origin[count] = (1 if low > lower[k] else 0) + (2 if high < upper[k] else 0)
    lower[k], upper[k] = max(low, lower[k]), min(high, upper[k])
    lower[j], upper[j] = -np.inf, np.inf
    return True


@compiled
def return_bounds(row, column, pivot, other, other_entry, origin, y, z, columns, rows):
    """Let multipliers and statuses on moved bounds go back to the columns they came from."""
    for pair in range(row.size - 1, -1, -1):
        k = other[pair]
        if k < 0:
            continue
        multiplier = z[k]
        status = columns[k]
        if status != BASIC and abs(multiplier) > NOISE:
            status = LOWER if multiplier > 0.0 else UPPER
        if (multiplier > 0.0 and origin[pair] & 1) or (multiplier < 0.0 and origin[pair] & 2):
            y[row[pair]] += multiplier / other_entry[pair]
            z[k] = 0.0
        if (status == LOWER and origin[pair] & 1) or (status == UPPER and origin[pair] & 2):
            same_sign = pivot[pair] * other_entry[pair] > 0.0
            columns[column[pair]] = UPPER if same_sign == (status == LOWER) else LOWER
            columns[k] = BASIC
        else:
            columns[k] = status
