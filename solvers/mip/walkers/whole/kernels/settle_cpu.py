"""The second part of a round as ``settle.cuh`` has it: moves are made, and long columns scored."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, part
from solvers.mip.walkers.kernels.fields import NONE
from solvers.mip.walkers.kernels.search_cpu import LEAST_GAIN
from solvers.mip.walkers.whole.kernels.fields import CHUNK, MOST_TEAMS, MOVE, SLOTS
from solvers.mip.walkers.whole.kernels.places_cpu import (
    EXCLUSIVE,
    LIFT,
    MOVED,
    SEEN,
    SPREAD,
    TENURE,
)
from solvers.mip.walkers.whole.kernels.walk_cpu import (
    DRAW_TENURE,
    LANES,
    below,
    change_row,
    claim_of,
    is_free,
    judged,
    shared_number,
    unit_of,
    warp_score,
)

LARGEST_WEIGHT = 1e6


@part
def change_rows(walk, team, j, delta):
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
def settle(walk, turn, team):
    """Make a team's move if all of its rows are its own; let a row without a move gain weight."""
    model, moves = walk.model, walk.moves
    j = int(moves[MOVE * team])
    if j < 0:
        row = int(moves[MOVE * team + 1])
        if row >= 0 and turn.forced == 0:
            unit = unit_of(walk, row)
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
    change_rows(walk, team, j, delta)
    moves[MOVE * team + 3] = _set_column(walk, turn, team, j, value, delta)


@part
def score_slots(walk, mode, partials):
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
def _slot_score(walk, mode, partials, slot):
    """Return a slot's score, joined from its chunks as a warp does it."""
    chunks = walk.column_chunks
    progress, bonus, least = np.zeros(LANES), np.zeros(LANES), NONE
    for chunk in range(chunks):
        lane, at = chunk % LANES, 2 * (slot * chunks + chunk)
        if mode == LIFT:
            least = min(least, partials[at])
        progress[lane] += partials[at]
        bonus[lane] += partials[at + 1]
    if mode == LIFT:
        return least, 0.0
    return lane_sum(progress), lane_sum(bonus)


@part
def choose_slot(walk, mode, forced, partials):
    """Let the best slot's move go alone if no team has a better one."""
    slots, moves = walk.slots, walk.moves
    for at in range(SLOTS):
        j = int(slots[MOVE * at])
        if j < 0:
            continue
        progress, bonus = _slot_score(walk, mode, partials, at)
        found = judged(walk, mode, j, slots[MOVE * at + 1], progress, bonus, 1)
        slots[MOVE * at + 1] = found[4]
        slots[MOVE * at + 2] = found[0] if found[2] else -NONE
        slots[MOVE * at + 3] = found[4] - float(walk.values[2 * j])
    largest = -NONE
    for team in range(walk.teams):
        if moves[MOVE * team] >= 0.0:
            largest = max(largest, moves[MOVE * team + 2])
    best = -NONE if forced else LEAST_GAIN
    for at in range(SLOTS):
        progress = slots[MOVE * at + 2]
        if slots[MOVE * at] >= 0.0 and progress > best and progress >= largest:
            best = progress
            walk.control[EXCLUSIVE] = at


@part
def settle_slot(walk, turn):
    """Make the move of the slot that goes alone in this round."""
    slot = MOVE * walk.control[EXCLUSIVE]
    j, delta = int(walk.slots[slot]), walk.slots[slot + 3]
    change_rows(walk, -1, j, delta)
    _set_column(walk, turn, MOST_TEAMS, j, walk.slots[slot + 1], delta)


@part
def change_shared(walk):
    """Take from shared rows what the round's moves have noted."""
    for number in range(walk.shared_count):
        parts = np.zeros(LANES)
        for team in range(walk.teams):
            parts[team % LANES] += walk.shares[number * walk.teams + team]
        change_row(walk, walk.shared_rows[number], lane_sum(parts))
