"""Shifting columns of a contradicted box until no row is broken: WalkSAT on bounds.

A random broken row is picked; each of its columns could be shifted, within its bounds at the
root, so that the row holds; the shift that breaks least is taken, or one at random (Salvagnin,
Roberti, Fischetti 2025, section 4, after Selman, Kautz, Cohen 1994). A column that is not fixed is
shifted as an interval. Afterwards the unfixed columns go back to the root's bounds and everything
is propagated again, since only the fixed ones say what the bounds are; what breaks then is
repaired in turn.
"""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.mip.domain.changes import record, set_bound
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.propagate import propagate, wake_all
from solvers.mip.domain.state import LENIENT, WIDEST, WORK, Box, Matrix
from solvers.mip.rounding.random import RandomState, below
from solvers.mip.rounding.walk import TABU, Walk, apply_shift, collect, pick_shift
from solvers.problem import FloatArray

ROUNDS = 5
"""Walks, each followed by a propagation, before a repair is given up."""


@internal
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
    size = collect(box, walk)
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
        size = apply_shift(matrix, box, walk, as_index(walk.column[move]), -walk.shift[move], size)
    return int(size)


@internal
def loosen(matrix: Matrix, box: Box, root: FloatArray, j: int) -> None:
    """Give a column the root's bounds back, and let its rows know how wide it is again."""
    bounds, rows, n = box.bounds, box.rows, matrix.is_integer.size
    column_row, column_value = matrix.column_row, matrix.column_value
    for side in range(2):
        if bounds[side, j] != root[side, j]:
            set_bound(matrix, box, j, side, root[side, j])
    for p in range(matrix.column_start[j], matrix.column_start[j + 1]):
        i = column_row[p]
        widest = abs(column_value[p]) * (bounds[1, j] - bounds[0, j])
        if widest > rows[i, WIDEST]:
            record(box, 2 * n + i, rows[i, WIDEST])
            rows[i, WIDEST] = widest


@compiled
def release(matrix: Matrix, box: Box, root: FloatArray, cap: int) -> bool:
    """Give unfixed columns the root's bounds back and propagate all; False on contradiction."""
    bounds = box.bounds
    for j in range(bounds.shape[1]):
        if bounds[0, j] < bounds[1, j]:
            loosen(matrix, box, root, j)
    wake_all(box)
    return bool(propagate(matrix, box, cap, LENIENT))


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
