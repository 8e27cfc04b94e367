"""Shifting columns of a contradicted box until no row is broken: WalkSAT on bounds.

A random broken row is picked; each of its columns could be shifted, within its bounds at the root,
so that the row holds; the shift that breaks least is taken, or one at random (Salvagnin, Roberti,
Fischetti 2025, section 4, after Selman, Kautz, Cohen 1994). A column that is not fixed is shifted as
an interval. Afterwards the unfixed columns go back to the root's bounds and everything is propagated
again, since only the fixed ones say what the bounds are; what breaks then is repaired in turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.inlined import inlined
from solvers.mip.domain.propagate import (
    EPSILON,
    NOISE_LIMIT,
    ROUNDING,
    excess_of,
    propagate,
    record,
    set_bound,
    sum_row,
    wake_all,
)
from solvers.mip.domain.state import WORK, Box, Matrix
from solvers.mip.model import IndexArray
from solvers.mip.rounding.random import RandomState, below, uniform
from solvers.problem import FloatArray

MAX_SHIFTS = 1000
"""Shifts of one walk (200 in the paper, whose walks may also search)."""

MAX_CANDIDATES = 100
"""Columns of the broken row that are tried, from a random place on."""

RANDOM_WALK = 0.75
"""Chance of a random shift where every shift breaks something (the paper's)."""

TABU = 3
"""A column rests for so many shifts after it was shifted (the paper's)."""

ROUNDS = 5
"""Walks, each followed by a propagation, before a repair is given up."""


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


@inlined
def violation(matrix: Matrix, box: Box, i: int) -> float:
    """Return by how much a row is broken whatever the columns do within the box."""
    return max(excess_of(matrix, box, 0, i), excess_of(matrix, box, 1, i))


@inlined
def violation_after(matrix: Matrix, box: Box, i: int, change: float) -> float:
    """Return the same after both activities have moved by ``change``; no tolerance."""
    worst = 0.0
    if box.infinite[0, i] == 0:
        worst = max(worst, box.activity[0, i] + change - matrix.row_upper[i])
    if box.infinite[1, i] == 0:
        worst = max(worst, matrix.row_lower[i] - box.activity[1, i] - change)
    return float(worst) if worst > NOISE_LIMIT else 0.0


@compiled
def collect(matrix: Matrix, box: Box, walk: Walk) -> int:
    """List the broken rows and return their number."""
    size = 0
    for i in range(matrix.row_lower.size):
        walk.place[i] = -1
        if violation(matrix, box, i) > 0.0:
            walk.place[i] = size
            walk.broken[size] = i
            size += 1
    box.counts[WORK] += matrix.row_lower.size
    return size


@compiled
def apply_shift(matrix: Matrix, box: Box, walk: Walk, j: int, shift: float, size: int) -> int:
    """Move both bounds of a column, and return the new number of broken rows."""
    n = matrix.is_integer.size
    for side in range(2):
        record(box, side * n + j, box.bounds[side, j])
        box.bounds[side, j] += shift
    for p in range(matrix.column_start[j], matrix.column_start[j + 1]):
        i = matrix.column_row[p]
        change = matrix.column_value[p] * shift
        for which in range(2):
            box.activity[which, i] += change
            if matrix.exact[i] == 0:
                box.noise[i] += EPSILON * (abs(box.activity[which, i]) + abs(change))
        if box.noise[i] > NOISE_LIMIT:
            sum_row(matrix, box, i)
        place = walk.place[i]
        is_broken = violation(matrix, box, i) > 0.0
        if is_broken and place < 0:
            walk.place[i] = size
            walk.broken[size] = i
            size += 1
        elif place >= 0 and not is_broken:
            size -= 1
            other = walk.broken[size]
            walk.broken[place] = other
            walk.place[other] = place
            walk.place[i] = -1
    box.counts[WORK] += matrix.column_start[j + 1] - matrix.column_start[j]
    return size


@inlined
def shift_for(matrix: Matrix, box: Box, root: FloatArray, i: int, p: int) -> float:
    """Return the shift of an entry's column that mends the row as far as the root allows."""
    j, a = matrix.row_column[p], matrix.row_value[p]
    low, high = box.bounds[0, j], box.bounds[1, j]
    if not (low > -np.inf and high < np.inf) or abs(a) < NOISE_LIMIT:
        return 0.0
    excess = excess_of(matrix, box, 0, i)
    wanted = -excess / a if excess > 0.0 else excess_of(matrix, box, 1, i) / a
    if matrix.is_integer[j] == 1:
        size = np.ceil(abs(wanted) - ROUNDING)
        wanted = size if wanted > 0.0 else -size
    return float(min(max(wanted, root[0, j] - low), root[1, j] - high))


@compiled
def pick_shift(
    matrix: Matrix, box: Box, root: FloatArray, walk: Walk, random: RandomState, i: int
) -> tuple[int, float]:
    """Choose a column of a broken row and its shift; column -1 if none helps."""
    first, length = matrix.row_start[i], matrix.row_start[i + 1] - matrix.row_start[i]
    before = violation(matrix, box, i)
    offset = below(random, length) if length > MAX_CANDIDATES else 0
    seen, chosen, best = 0, -1, -1
    chosen_shift, best_shift = 0.0, 0.0
    best_count, best_damage, best_last = 0, np.inf, np.int64(0)
    for step in range(min(length, MAX_CANDIDATES)):
        p = first + (offset + step) % length
        j = matrix.row_column[p]
        shift = shift_for(matrix, box, root, i, p)
        if shift == 0.0 or walk.clock[0] - walk.last[j] < TABU:
            continue
        if violation_after(matrix, box, i, matrix.row_value[p] * shift) >= before:
            continue
        damage, count = 0.0, 0
        for q in range(matrix.column_start[j], matrix.column_start[j + 1]):
            k = matrix.column_row[q]
            old = violation_after(matrix, box, k, 0.0)
            new = violation_after(matrix, box, k, matrix.column_value[q] * shift)
            damage += max(0.0, new - old)
            count += (new > 0.0) - (old > 0.0)
        box.counts[WORK] += matrix.column_start[j + 1] - matrix.column_start[j]
        seen += 1
        if below(random, seen) == 0:
            chosen, chosen_shift = j, shift
        if best < 0 or (count, damage, walk.last[j]) < (best_count, best_damage, best_last):
            best, best_shift = j, shift
            best_count, best_damage, best_last = count, damage, walk.last[j]
    if seen > 0 and best_damage > 0.0 and uniform(random) < RANDOM_WALK:
        return chosen, chosen_shift
    return best, best_shift


@compiled
def walk_once(
    matrix: Matrix,
    box: Box,
    root: FloatArray,
    walk: Walk,
    random: RandomState,
    max_shifts: int,
    work_end: int,
) -> int:
    """Shift columns until nothing is broken; return how many rows still are, the fewest seen."""
    size = collect(matrix, box, walk)
    done, best_at, fewest, stuck = 0, 0, size, 0
    while size > 0 and done < max_shifts and stuck < 2 * TABU and box.counts[WORK] < work_end:
        i = walk.broken[below(random, size)]
        j, shift = pick_shift(matrix, box, root, walk, random, i)
        walk.clock[0] += 1
        if j < 0:
            stuck += 1
            continue
        stuck = 0
        walk.last[j] = walk.clock[0]
        size = apply_shift(matrix, box, walk, j, shift, size)
        walk.column[done] = j
        walk.shift[done] = shift
        done += 1
        if size < fewest:
            fewest, best_at = size, done
    for move in range(done - 1, best_at - 1, -1):
        size = apply_shift(matrix, box, walk, walk.column[move], -walk.shift[move], size)
    return size


@compiled
def release(matrix: Matrix, box: Box, root: FloatArray, cap: int) -> bool:
    """Give unfixed columns the root's bounds back and propagate all rows; False on contradiction."""
    for j in range(matrix.is_integer.size):
        if box.bounds[0, j] < box.bounds[1, j]:
            for side in range(2):
                if box.bounds[side, j] != root[side, j]:
                    set_bound(matrix, box, j, side, root[side, j])
    wake_all(matrix, box)
    return bool(propagate(matrix, box, cap, True))


@compiled
def repair(
    matrix: Matrix,
    box: Box,
    root: FloatArray,
    walk: Walk,
    random: RandomState,
    max_shifts: int,
    work_end: int,
    cap: int,
) -> bool:
    """Mend a box that a lenient propagation has left contradicted; whether nothing is broken.

    Parameters
    ----------
    root : (2, n) float64
        Bounds to stay within.
    max_shifts : int
        Shifts of each walk, at most ``MAX_SHIFTS``.
    work_end : int
        Reading of the box's work counter from which on nothing new is begun.
    cap : int
        Entries that each propagation may visit.
    """
    for _ in range(ROUNDS):
        if walk_once(matrix, box, root, walk, random, max_shifts, work_end) > 0:
            return False
        if release(matrix, box, root, cap):
            return True
        if box.counts[WORK] >= work_end:
            break
    return False
