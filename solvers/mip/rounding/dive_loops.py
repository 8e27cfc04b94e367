"""The compiled loops of a dive: fix columns in a given order, propagate, go back, repair, go on.

Each function works until it is done or has spent its share of work, says which, and takes up where
it was when it is called again: the caller looks at the clock in between and enlarges the trail.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.kernels.twin import compiled
from solvers.mip.domain.changes import mark, undo
from solvers.mip.domain.internal import as_index, internal
from solvers.mip.domain.propagate import decide
from solvers.mip.domain.state import LENIENT, STRICT, TRAIL, WORK, Box, Matrix
from solvers.mip.model import IndexArray
from solvers.mip.rounding.choose import Guide, choose
from solvers.mip.rounding.random import RandomState, uniform
from solvers.mip.rounding.repair import repair
from solvers.mip.rounding.strategy import Mode
from solvers.mip.rounding.walk import Walk
from solvers.problem import FloatArray

RUNNING, FULL, DONE, GAVE_UP = 0, 1, 2, 3
"""How a slice ends: work spent, trail full, all columns fixed, no (more) search."""

CURSOR, DEPTH, NODES, CONFLICTS, REPAIRS = 0, 1, 2, 3, 4
"""Places in ``Search.counts``: next column of the order, decisions on the stack, and tallies."""

SHIFTS_ON_THE_WAY = 200
"""Shifts of a repair in the middle of a dive (the paper's limit)."""

REPAIR_WORK = 500_000
"""Entries that such a repair may visit, apart from a propagation under way: a few milliseconds."""

MAX_REPAIRS = 50
"""Repairs in the middle of one dive: each may propagate everything anew."""

DFS_REPAIR, DIVE, DIVE_REPAIR = Mode.DFS_REPAIR.value, Mode.DIVE.value, Mode.DIVE_REPAIR.value


class Search(NamedTuple):
    """The order and the stack of a dive over k integer columns.

    Attributes
    ----------
    order : (k,) int32
    stack_column, stack_value : (k,) int32, float64
        Decisions taken.
    stack_place, stack_cursor : (k,) int64
        Where the trail and the order stood before each.
    root : (2, n) float64
        Bounds that the dive began with.
    random : (1,) uint64
    counts : (5,) int64
    """

    order: IndexArray
    stack_column: IndexArray
    stack_value: FloatArray
    stack_place: np.ndarray
    stack_cursor: np.ndarray
    root: FloatArray
    random: RandomState
    counts: np.ndarray


def new_search(order: IndexArray, bounds: FloatArray, random: RandomState) -> Search:
    """Return the state of a dive that has decided nothing yet."""
    k = order.size
    return Search(
        order=np.ascontiguousarray(order, dtype=np.int32),
        stack_column=np.zeros(k, dtype=np.int32),
        stack_value=np.zeros(k),
        stack_place=np.zeros(k, dtype=np.int64),
        stack_cursor=np.zeros(k, dtype=np.int64),
        root=bounds.copy(),
        random=random,
        counts=np.zeros(5, dtype=np.int64),
    )


@internal
def is_full(box: Box) -> bool:
    """Whether the trail may not hold another level."""
    return bool(box.trail_code.size - box.counts[TRAIL] < box.stamp.size + 2)


@internal
def next_column(box: Box, search: Search) -> int:
    """Return the first column of the order that is not fixed, or -1."""
    counts, order, bounds = search.counts, search.order, box.bounds
    place = counts[CURSOR]
    while place < order.size and not bounds[0, order[place]] < bounds[1, order[place]]:
        place += 1
    counts[CURSOR] = place
    return as_index(order[place]) if place < order.size else -1


@internal
def other_side(matrix: Matrix, box: Box, search: Search, j: int, value: float, cap: int) -> bool:
    """Exclude a value: the interval beside it, or one of the two by chance; False if impossible."""
    low, high = box.bounds[0, j], box.bounds[1, j]
    above = value <= low or (value < high and uniform(search.random) < 0.5)
    if above:
        return bool(decide(matrix, box, j, value + 1.0, high, cap, STRICT))
    return bool(decide(matrix, box, j, low, value - 1.0, cap, STRICT))


@internal
def backtrack(matrix: Matrix, box: Box, search: Search, cap: int) -> bool:
    """Undo decisions until excluding the last one's value is consistent; False if none is left."""
    counts = search.counts
    while counts[DEPTH] > 0:
        counts[DEPTH] -= 1
        depth = counts[DEPTH]
        undo(matrix, box, search.stack_place[depth])
        counts[CURSOR] = search.stack_cursor[depth]
        counts[NODES] += 1
        j = as_index(search.stack_column[depth])
        if other_side(matrix, box, search, j, search.stack_value[depth], cap):
            return True
    return False


@compiled
def search_depth_first(
    matrix: Matrix,
    box: Box,
    guide: Guide,
    search: Search,
    walk: Walk,
    rule: int,
    mode: int,
    max_nodes: int,
    slice_end: int,
    cap: int,
) -> int:
    """Dive with backtracking; the box is consistent whenever this returns, but for the root."""
    counts = search.counts
    repairs = mode == DFS_REPAIR
    shifts = min(SHIFTS_ON_THE_WAY, walk.column.size)
    while box.counts[WORK] < slice_end:
        j = next_column(box, search)
        if j < 0:
            return DONE
        if counts[NODES] >= max_nodes:
            return GAVE_UP
        if is_full(box):
            return FULL
        value = choose(
            rule, j, box.bounds[0, j], box.bounds[1, j], matrix.is_integer[j], guide, search.random
        )
        depth = counts[DEPTH]
        search.stack_column[depth] = j
        search.stack_value[depth] = value
        search.stack_cursor[depth] = counts[CURSOR]
        search.stack_place[depth] = mark(box)
        counts[DEPTH] += 1
        counts[NODES] += 1
        if decide(matrix, box, j, value, value, cap, repairs):
            continue
        counts[CONFLICTS] += 1
        if repairs and counts[REPAIRS] < MAX_REPAIRS:
            counts[REPAIRS] += 1
            end = box.counts[WORK] + REPAIR_WORK
            if repair(matrix, box, search.root, walk, search.random, shifts, end, cap):
                counts[CURSOR] = 0
                continue
        if not backtrack(matrix, box, search, cap):
            return GAVE_UP
    return RUNNING


@compiled
def dive_leniently(
    matrix: Matrix,
    box: Box,
    guide: Guide,
    search: Search,
    walk: Walk,
    rule: int,
    mode: int,
    slice_end: int,
    cap: int,
) -> int:
    """Fix what is not fixed yet, passing contradictions over; one level of the trail is needed."""
    counts = search.counts
    limit = -1 if mode == DIVE else cap
    shifts = min(SHIFTS_ON_THE_WAY, walk.column.size)
    while box.counts[WORK] < slice_end:
        j = next_column(box, search)
        if j < 0:
            return DONE
        value = choose(
            rule, j, box.bounds[0, j], box.bounds[1, j], matrix.is_integer[j], guide, search.random
        )
        if decide(matrix, box, j, value, value, limit, LENIENT):
            continue
        counts[CONFLICTS] += 1
        if mode == DIVE_REPAIR and counts[REPAIRS] < MAX_REPAIRS:
            counts[REPAIRS] += 1
            end = box.counts[WORK] + REPAIR_WORK
            repair(matrix, box, search.root, walk, search.random, shifts, end, cap)
            counts[CURSOR] = 0
    return RUNNING
