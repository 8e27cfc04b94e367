"""Numba twin of ``whole.cu``: the same rounds, one team after the other."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.kernels.twin import twin
from solvers.mip.walkers.kernels.arithmetic_cpu import mix, part, violation
from solvers.mip.walkers.kernels.search_cpu import Model
from solvers.mip.walkers.whole.kernels.lead_cpu import begin_rounds, end_round
from solvers.mip.walkers.whole.kernels.places_cpu import (
    BEST,
    COPY,
    DONE,
    EXCLUSIVE,
    FORCED,
    HUGE_USED,
    KEPT,
    MODE,
    MOVERS,
    OBJECTIVE,
    OBJECTIVE_TEAMS,
    ORIGIN,
    PENDING,
    REFRESH,
    ROW_TEAMS,
    SEEN,
    SMOOTH,
    START,
    STEP,
    VIOLATED,
)
from solvers.mip.walkers.whole.kernels.propose_cpu import propose
from solvers.mip.walkers.whole.kernels.refresh_cpu import empty_claims, refresh
from solvers.mip.walkers.whole.kernels.settle_cpu import (
    choose_slot,
    score_slots,
    settle,
    settle_slot,
)
from solvers.mip.walkers.whole.kernels.tree_cpu import tree_of
from solvers.mip.walkers.whole.kernels.walk_cpu import Round, Walk, unit_of, width_of

CLOCK_LIMIT = 1e6
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@part
def smooth(walk):
    """Take one from the weights of rows that hold, as far as they can go down."""
    for row in range(walk.model.rows):
        unit = unit_of(walk, row)
        holds = violation(float(walk.cells[2 * row]), width_of(walk.model, row)) == 0.0
        if walk.cells[2 * row + 1] > unit and holds:
            walk.cells[2 * row + 1] -= unit


@part
def _copy_point(walk):
    for j in range(walk.model.columns):
        walk.kept[j] = walk.values[2 * j]


@numba.njit(inline="always")
def _play_round(walk, partials, claim):
    control, record = walk.control, walk.record
    step = np.int64(record[STEP]) + 1
    clock = step - np.int64(record[ORIGIN])
    turn = Round(
        control[MODE], control[FORCED], control[ROW_TEAMS], control[OBJECTIVE_TEAMS],
        control[START], np.int64(record[VIOLATED]), step, clock, control[MOVERS], claim,
    )  # fmt: skip
    if control[SMOOTH]:
        smooth(walk)
    if control[COPY]:
        _copy_point(walk)
    for team in range(walk.teams):
        seen, used = propose(walk, turn, team)
        control[SEEN] += seen
        control[HUGE_USED] += used
    if control[HUGE_USED]:
        score_slots(walk, turn.mode, partials)
        choose_slot(walk, turn.mode, turn.forced, partials)
    if control[EXCLUSIVE] >= 0:
        settle_slot(walk, turn)
    else:
        for team in range(walk.teams):
            settle(walk, turn, team)
    end_round(walk)


@numba.njit(inline="always")
def _run(walk, partials, steps):
    record, control = walk.record, walk.control
    if record[STEP] - record[ORIGIN] + steps > CLOCK_LIMIT:
        for j in range(walk.model.columns):
            walk.values[2 * j + 1] = 0.0
        empty_claims(walk)
        record[ORIGIN] = record[STEP]
    if record[REFRESH] > 0.0:
        refresh(walk)
    begin_rounds(walk)
    claim = np.zeros(1)
    for _ in range(steps):
        if control[DONE]:
            break
        _play_round(walk, partials, claim)
    if control[PENDING]:
        _copy_point(walk)
        record[BEST] = record[OBJECTIVE]
        record[KEPT] += 1.0
        control[PENDING] = 0


@twin
def walk_whole(
    rows, inequalities, columns, binaries, integers, objectives,
    row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
    column_value, bounds, costs, objective_columns, long_rows, long_count, shared_rows,
    shared_count, row_chunks, column_chunks, values, cells, kept, records, tree, claims, moves,
    slots, partials, shares, control, teams, blocks, steps, seed,
):  # fmt: skip
    """Make a slice of rounds."""
    model = Model(
        rows, inequalities, columns, binaries, integers, objectives,
        row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
        column_value, bounds, costs, objective_columns,
    )  # fmt: skip
    name = (np.uint64(seed) & np.uint64(0xFFFFFFFF)) << np.uint64(32)
    key = mix(name + np.uint64(2) * _GOLDEN)
    nodes, claimed = tree.view(np.uint32), claims.view(np.uint64)
    walk = Walk(
        model, key, tree_of(nodes, rows), values, cells, kept, claimed, moves, slots, records,
        control, shares, shared_rows, shared_count, teams, column_chunks,
    )  # fmt: skip
    _run(walk, partials, min(steps, int(CLOCK_LIMIT)))
