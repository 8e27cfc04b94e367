"""Numba twin of ``whole.cu``: the same rounds, one team after the other."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import twin
from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, mix, part, violation
from solvers.mip.walkers.kernels.fields import Field
from solvers.mip.walkers.kernels.search_cpu import Model
from solvers.mip.walkers.whole.kernels.fields import CHUNK, MOST_TEAMS, MOVE, PIECES, SLOTS
from solvers.mip.walkers.whole.kernels.lead_cpu import (
    BEST,
    BLOCK,
    COPY,
    DONE,
    EXCLUSIVE,
    FORCED,
    HUGE_USED,
    KEPT,
    LARGEST_WEIGHT,
    MODE,
    MOVED,
    MOVERS,
    OBJECTIVE,
    OBJECTIVE_TEAMS,
    PENDING,
    ROW_TEAMS,
    SEEN,
    SMOOTH,
    START,
    STEP,
    VIOLATED,
    begin_rounds,
    change_row,
    choose_slot,
    end_round,
)
from solvers.mip.walkers.whole.kernels.propose_cpu import (
    DRAW_TENURE,
    JUMP,
    LANES,
    SPREAD,
    TENURE,
    Round,
    Walk,
    below,
    claim_of,
    is_free,
    propose,
    shared_number,
    warp_score,
    width_of,
)
from solvers.mip.walkers.whole.kernels.tree_cpu import set_violated, tree_of

LANE_ROW = 64
CLOCK_LIMIT = 1e6
ORIGIN, REFRESH = int(Field.ORIGIN), int(Field.REFRESH)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@part
def _activity(model, values, first, end, stride):
    total = 0.0
    for e in range(first, end, stride):
        total += float(model.row_value[e]) * float(values[2 * model.row_column[e]])
    return total


@part
def _warp_activity(model, values, begin, end):
    parts = np.zeros(LANES)
    for lane in range(LANES):
        parts[lane] = _activity(model, values, begin + lane, end, LANES)
    return lane_sum(parts)


@part
def _row_activity(model, values, row):
    """Return a row's activity, summed by a lane, a warp, or chunk by chunk."""
    begin, end = model.row_start[row], model.row_start[row + 1]
    if end - begin <= LANE_ROW:
        return _activity(model, values, begin, end, 1)
    if end - begin <= CHUNK:
        return _warp_activity(model, values, begin, end)
    parts = np.zeros(LANES)
    for chunk in range((end - begin + CHUNK - 1) // CHUNK):
        first = begin + chunk * CHUNK
        parts[chunk % LANES] += _warp_activity(model, values, first, min(first + CHUNK, end))
    return lane_sum(parts)


@part
def _empty_claims(walk):
    for row in range(walk.model.rows):
        walk.claims[row] = 0


@part
def _copy_point(walk):
    for j in range(walk.model.columns):
        walk.kept[j] = walk.values[2 * j]


@part
def _refresh(walk):
    """Compute slack, violated rows and objective anew from the values."""
    model, values = walk.model, walk.values
    _empty_claims(walk)
    for node in range(walk.tree.nodes.size):
        walk.tree.nodes[node] = 0
    for row in range(model.rows):
        slack = float(model.sides[row]) - _row_activity(model, values, row)
        walk.cells[2 * row] = slack
        if violation(slack, width_of(model, row)) > 0.0:
            set_violated(walk.tree, row, True)
    pieces, parts = np.zeros(PIECES), np.zeros(BLOCK)
    for j in range(model.columns):
        pieces[j % PIECES] += float(model.costs[j]) * float(values[2 * j])
    for piece in range(PIECES):
        parts[piece % BLOCK] += pieces[piece]
    walk.record[OBJECTIVE] = lane_sum(parts)
    walk.record[REFRESH] = 0.0


@part
def _unit_of(walk, row):
    return float(walk.model.scales[row]) if walk.record[JUMP] > 0.0 else 1.0


@part
def _smooth(walk):
    """Take one from the weights of rows that hold, as far as they can go down."""
    for row in range(walk.model.rows):
        unit = _unit_of(walk, row)
        holds = violation(float(walk.cells[2 * row]), width_of(walk.model, row)) == 0.0
        if walk.cells[2 * row + 1] > unit and holds:
            walk.cells[2 * row + 1] -= unit


@part
def _change_rows(walk, team, j, delta):
    """Move a column's rows; what a team's move takes from shared ones is noted only."""
    model = walk.model
    for e in range(model.column_start[j], model.column_start[j + 1]):
        row, change = model.column_row[e], float(model.column_value[e]) * delta
        shared = -1 if team < 0 else shared_number(walk, row)
        if shared >= 0:
            walk.shares[shared * walk.teams + team] = change
        else:
            change_row(walk, row, change)


@part
def _set_column(walk, turn, team, j, value, delta):
    record = walk.record
    drawn = below(walk.key, turn.step, team, DRAW_TENURE, int(record[SPREAD]) + 1)
    until = float(turn.clock) + record[TENURE] + float(drawn) + 1.0
    walk.values[2 * j] = value
    walk.values[2 * j + 1] = until if delta > 0.0 else -until
    walk.control[MOVED] += 1
    return float(walk.model.costs[j]) * delta


@part
def _settle(walk, turn, team):
    """Make a team's move if all of its rows are its own; let a row without a move gain weight."""
    model, moves = walk.model, walk.moves
    j = int(moves[MOVE * team])
    if j < 0:
        row = int(moves[MOVE * team + 1])
        if row >= 0 and turn.forced == 0:
            unit = _unit_of(walk, row)
            if walk.cells[2 * row + 1] < LARGEST_WEIGHT * unit:
                walk.cells[2 * row + 1] += unit
        return
    claim = claim_of(walk, turn, team, moves[MOVE * team + 2])
    value = moves[MOVE * team + 1]
    delta = value - float(walk.values[2 * j])
    for e in range(model.column_start[j], model.column_start[j + 1]):
        row, change = model.column_row[e], float(model.column_value[e]) * delta
        if walk.claims[row] != claim and not is_free(walk, turn, team, row, change):
            return
    _change_rows(walk, team, j, delta)
    moves[MOVE * team + 3] = _set_column(walk, turn, team, j, value, delta)


@part
def _score_slots(walk, mode, partials):
    """Score the columns in slots, chunk by chunk."""
    model, chunks = walk.model, walk.column_chunks
    for at in range(SLOTS * chunks):
        slot = MOVE * (at // chunks)
        j = int(walk.slots[slot])
        if j < 0:
            continue
        begin = model.column_start[j] + at % chunks * CHUNK
        end = min(begin + CHUNK, model.column_start[j + 1])
        delta = walk.slots[slot + 1] - float(walk.values[2 * j])
        progress, bonus = warp_score(walk, mode, j, delta, begin, end)
        partials[2 * at] = progress
        partials[2 * at + 1] = bonus
        walk.control[SEEN] += max(end - begin, 0)


@part
def _settle_slot(walk, turn):
    slot = MOVE * walk.control[EXCLUSIVE]
    j, delta = int(walk.slots[slot]), walk.slots[slot + 3]
    _change_rows(walk, -1, j, delta)
    _set_column(walk, turn, MOST_TEAMS, j, walk.slots[slot + 1], delta)


@part
def _play_round(walk, partials, claim):
    control, record = walk.control, walk.record
    step = np.int64(record[STEP]) + 1
    clock = step - np.int64(record[ORIGIN])
    turn = Round(
        control[MODE], control[FORCED], control[ROW_TEAMS], control[OBJECTIVE_TEAMS],
        control[START], np.int64(record[VIOLATED]), step, clock, control[MOVERS], claim,
    )  # fmt: skip
    if control[SMOOTH]:
        _smooth(walk)
    if control[COPY]:
        _copy_point(walk)
    for team in range(walk.teams):
        seen, used = propose(walk, turn, team)
        control[SEEN] += seen
        control[HUGE_USED] += used
    if control[HUGE_USED]:
        _score_slots(walk, turn.mode, partials)
        choose_slot(walk, turn.mode, turn.forced, partials)
    if control[EXCLUSIVE] >= 0:
        _settle_slot(walk, turn)
    else:
        for team in range(walk.teams):
            _settle(walk, turn, team)
    end_round(walk)


@part
def _run(walk, partials, steps):
    record, control = walk.record, walk.control
    if record[STEP] - record[ORIGIN] + steps > CLOCK_LIMIT:
        for j in range(walk.model.columns):
            walk.values[2 * j + 1] = 0.0
        _empty_claims(walk)
        record[ORIGIN] = record[STEP]
    if record[REFRESH] > 0.0:
        _refresh(walk)
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
