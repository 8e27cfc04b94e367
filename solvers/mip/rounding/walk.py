"""One step of WalkSAT on bounds: the broken rows, and the shift that mends one of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.activities import excess_of, sum_row
from solvers.mip.domain.changes import EPSILON, ROUNDING, record
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.propagate import NOISE_LIMIT
from solvers.mip.domain.state import (
    INFINITE,
    LARGEST,
    LOWER,
    NOISE,
    SMALLEST,
    UPPER,
    WORK,
    Box,
    Matrix,
)
from solvers.mip.model import IndexArray
from solvers.mip.rounding.random import RandomState, below, uniform
from solvers.problem import FloatArray

MAX_SHIFTS = 1000
"""Shifts of one walk (200 in the paper, whose walks may also search)."""

MAX_CANDIDATES = 100
"""Columns of the broken row that are tried, from a random place on."""

RANDOM_WALK = 0.25
"""Chance of a random shift where every shift breaks something.

The paper's 0.75 mended a fifth to a quarter as many dives of two MIPLIB models, and left two of
20 hard ones without a point that 0.25 finds, with equal work.
"""

TABU = 3
"""A column rests for so many shifts after it was shifted (the paper's)."""


class Walk(NamedTuple):
    """Scratch arrays of a walk: the broken rows, each row's place among them, and the shifts.

    Attributes
    ----------
    broken : (m,) int32
    place : (m,) int32
        -1 where the row holds.
    last : (n,) int64
        Number of the shift that moved the column last, over all walks.
    column, shift : (MAX_SHIFTS,) int32, float64
        The shifts of this walk, so that it can go back to where least was broken.
    clock : (1,) int64
        Shifts so far, over all walks.
    """

    broken: IndexArray
    place: IndexArray
    last: np.ndarray
    column: IndexArray
    shift: FloatArray
    clock: np.ndarray


def new_walk(num_rows: int, num_columns: int) -> Walk:
    """Return fresh scratch arrays."""
    return Walk(
        broken=np.zeros(num_rows, dtype=np.int32),
        place=np.full(num_rows, -1, dtype=np.int32),
        last=np.full(num_columns, -TABU - 1, dtype=np.int64),
        column=np.zeros(MAX_SHIFTS, dtype=np.int32),
        shift=np.zeros(MAX_SHIFTS),
        clock=np.zeros(1, dtype=np.int64),
    )


@internal
def violation(rows: FloatArray, i: int) -> float:
    """Return by how much a row is broken whatever the columns do within the box."""
    return max(excess_of(rows, i, 0), excess_of(rows, i, 1))


@internal
def violation_after(rows: FloatArray, i: int, change: float) -> float:
    """Return the same after both activities have moved by ``change``; no tolerance."""
    worst = NOISE_LIMIT
    if rows[i, INFINITE] == 0.0:
        worst = max(worst, rows[i, SMALLEST] + change - rows[i, UPPER])
    if rows[i, INFINITE + 1] == 0.0:
        worst = max(worst, rows[i, LOWER] - rows[i, LARGEST] - change)
    return worst if worst > NOISE_LIMIT else 0.0


@compiled
def collect(box: Box, walk: Walk) -> int:
    """List the broken rows and return their number."""
    rows, place, broken = box.rows, walk.place, walk.broken
    size = 0
    for i in range(place.size):
        place[i] = -1
        if violation(rows, i) > 0.0:
            place[i] = size
            broken[size] = i
            size += 1
    box.counts[WORK] += place.size
    return size


@internal
def apply_shift(matrix: Matrix, box: Box, walk: Walk, j: int, shift: float, size: int) -> int:
    """Move both bounds of a column, and return the new number of broken rows."""
    n, bounds, rows = matrix.is_integer.size, box.bounds, box.rows
    place, broken = walk.place, walk.broken
    column_row, column_value = matrix.column_row, matrix.column_value
    for side in range(2):
        record(box, side * n + j, bounds[side, j])
        bounds[side, j] += shift
    for p in range(matrix.column_start[j], matrix.column_start[j + 1]):
        i = as_index(column_row[p])
        change = column_value[p] * shift
        rows[i, SMALLEST] += change
        rows[i, LARGEST] += change
        if rows[i, NOISE] >= 0.0:
            size_now = max(abs(rows[i, SMALLEST]), abs(rows[i, LARGEST]))
            rows[i, NOISE] += EPSILON * (size_now + abs(change))
            if rows[i, NOISE] > NOISE_LIMIT:
                sum_row(matrix, box, i)
        is_broken = violation(rows, i) > 0.0
        if is_broken and place[i] < 0:
            place[i] = size
            broken[size] = i
            size += 1
        elif place[i] >= 0 and not is_broken:
            size -= 1
            other = broken[size]
            broken[place[i]] = other
            place[other] = place[i]
            place[i] = -1
    box.counts[WORK] += matrix.column_start[j + 1] - matrix.column_start[j]
    return size


@internal
def shift_for(rows: FloatArray, i: int, a: float, is_integer: int) -> float:
    """Return the shift of a column with coefficient ``a`` that mends a broken row."""
    excess = excess_of(rows, i, 0)
    wanted = -excess / a if excess > 0.0 else excess_of(rows, i, 1) / a
    if is_integer == 1:
        size = np.ceil(abs(wanted) - ROUNDING)
        return float(size if wanted > 0.0 else -size)
    return wanted


@internal
def pick_shift(
    matrix: Matrix, box: Box, root: FloatArray, walk: Walk, random: RandomState, i: int
) -> tuple[int, float]:
    """Choose a column of a broken row and its shift; column -1 if none helps."""
    bounds, rows, last, now = box.bounds, box.rows, walk.last, walk.clock[0]
    row_column, row_value = matrix.row_column, matrix.row_value
    column_start, column_row = matrix.column_start, matrix.column_row
    column_value, is_integer = matrix.column_value, matrix.is_integer
    first, length = matrix.row_start[i], matrix.row_start[i + 1] - matrix.row_start[i]
    before = violation_after(rows, i, 0.0)
    offset = below(random, length) if length > MAX_CANDIDATES else 0
    work, seen, chosen, best = 0, 0, -1, -1
    chosen_shift, best_shift = 0.0, 0.0
    best_count, best_damage, best_last = 0, np.inf, now
    for step in range(min(length, MAX_CANDIDATES)):
        p = first + (offset + step) % length
        j, a = as_index(row_column[p]), row_value[p]
        low, high = bounds[0, j], bounds[1, j]
        if now - last[j] < TABU or not (low > -np.inf and high < np.inf) or abs(a) < NOISE_LIMIT:
            continue
        shift = shift_for(rows, i, a, is_integer[j])
        shift = min(max(shift, root[0, j] - low), root[1, j] - high)
        if shift == 0.0 or violation_after(rows, i, a * shift) >= before:
            continue
        damage, count = 0.0, 0
        for q in range(column_start[j], column_start[j + 1]):
            k = column_row[q]
            old = violation_after(rows, k, 0.0)
            new = violation_after(rows, k, column_value[q] * shift)
            damage += max(0.0, new - old)
            count += int(new > 0.0) - int(old > 0.0)
        work += column_start[j + 1] - column_start[j]
        seen += 1
        if below(random, seen) == 0:
            chosen, chosen_shift = j, shift
        is_better = count < best_count or (
            count == best_count
            and (damage < best_damage or (damage == best_damage and last[j] < best_last))
        )
        if best < 0 or is_better:
            best, best_shift = j, shift
            best_count, best_damage, best_last = count, damage, last[j]
    box.counts[WORK] += work
    if seen > 0 and best_damage > 0.0 and uniform(random) < RANDOM_WALK:
        return chosen, chosen_shift
    return best, best_shift
