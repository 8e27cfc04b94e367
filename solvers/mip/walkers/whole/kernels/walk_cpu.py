"""The walk's state, its random numbers, and what single moves are worth, as ``walk.cuh`` has it."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, mix, part, violation
from solvers.mip.walkers.kernels.fields import NONE, TOLERANCE

# The rules for single moves are those of the other walkers.
from solvers.mip.walkers.kernels.search_cpu import (
    LEAST_GAIN,
    UNBOUNDED,
    clipped,
    objective_score,
    rows_score,
)
from solvers.mip.walkers.whole.kernels.fields import MOST_TEAMS
from solvers.mip.walkers.whole.kernels.places_cpu import JUMP, LIFT
from solvers.mip.walkers.whole.kernels.tree_cpu import set_violated

LANES = 32
PURPOSES, DRAW_ROW, DRAW_OFFSET, DRAW_TIE, DRAW_TENURE, DRAW_LOT = 8, 0, 1, 2, 3, 4
OF_ROUND, DRAW_WINDOW, DRAW_SMOOTH, DRAW_SLOTS, DRAW_ORDER = MOST_TEAMS, 0, 1, 2, 3
ROUND_DRAWS = (MOST_TEAMS + 1) * PURPOSES
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SIGN = np.uint64(1 << 63)


class Walk(NamedTuple):
    """The state, as the kernel's arguments name it, and the key of its random numbers."""

    model: Any
    key: Any
    tree: Any
    values: Any
    cells: Any
    kept: Any
    claims: Any
    moves: Any
    slots: Any
    record: Any
    control: Any
    shares: Any
    shared_rows: Any
    shared_count: Any
    teams: Any
    column_chunks: Any


class Round(NamedTuple):
    """What holds in a round."""

    mode: Any
    forced: Any
    row_teams: Any
    objective_teams: Any
    start: Any
    count: Any
    step: Any
    clock: Any
    movers: Any
    claim: Any


@part
def draw(key, step, team, purpose):
    """Return the 32 random bits that belong to a round, a team and a purpose."""
    counter = np.uint64(np.int64(step) * ROUND_DRAWS + np.int64(team) * PURPOSES + purpose)
    return mix(key + counter * _GOLDEN) >> np.uint64(32)


@part
def below(key, step, team, purpose, bound):
    """Return a random number from 0 to ``bound`` - 1."""
    return np.int64((draw(key, step, team, purpose) * np.uint64(bound)) >> np.uint64(32))


@part
def claim_of(walk, turn, team, progress):
    """Return a claim: the round, how good the move is, and the team's turn in this round."""
    turn.claim[0] = progress
    bits = turn.claim.view(np.uint64)[0]
    goodness = (~bits if bits & _SIGN else bits | _SIGN) >> np.uint64(32)
    order = draw(walk.key, turn.step, OF_ROUND, DRAW_ORDER)
    place = (np.uint64(team) ^ order) & np.uint64(MOST_TEAMS - 1)
    return (np.uint64(turn.clock) << np.uint64(44)) | (goodness << np.uint64(12)) | place


@numba.njit(inline="always")
def width_of(model, row):
    """Return the width between a row's sides."""
    return UNBOUNDED if row < model.inequalities else float(model.ranges[row - model.inequalities])


@part
def unit_of(walk, row):
    """Return the least weight of a row: for jumps its violation is measured in its entries."""
    return float(walk.model.scales[row]) if walk.record[JUMP] > 0.0 else 1.0


@numba.njit(inline="always")
def forbidden(turn, delta, stamp):
    """Return whether a move would take back a recent one."""
    return turn.forced < 2 and abs(stamp) > turn.clock and (delta > 0.0) != (stamp > 0.0)


@part
def shared_number(walk, row):
    """Return the number of a row among the shared ones, or -1."""
    number = walk.shared_count - 1
    while number >= 0 and walk.shared_rows[number] != row:
        number -= 1
    return number


@part
def is_free(walk, turn, team, row, change):
    """Return whether a team's move may change a row without a claim: a shared one, by lot."""
    if walk.shared_count == 0 or shared_number(walk, row) < 0:
        return False
    slack = float(walk.cells[2 * row])
    left = slack if change > 0.0 else width_of(walk.model, row) - slack
    lot = float(draw(walk.key, turn.step, team, DRAW_LOT))
    return left > 0.0 and lot * abs(change) * float(turn.movers) < left * 4294967296.0


@part
def _room(model, cells, j, first, end, stride):
    most = NONE
    sign = -1.0 if float(model.costs[j]) > 0.0 else 1.0
    excess = 0.5 * TOLERANCE if j < model.integers else 0.0
    for e in range(first, end, stride):
        row = model.column_row[e]
        left = float(cells[2 * row])
        pace = sign * float(model.column_value[e])
        if pace < 0.0:
            left = width_of(model, row) - left
        most = min(most, max(left + excess, 0.0) / abs(pace))
    return most


@part
def entries_score(walk, mode, j, delta, first, end, stride):
    """Return what some entries of a column gain or, for a lift, the least room."""
    model = walk.model
    if mode == LIFT:
        return _room(model, walk.cells, j, first, end, stride), 0.0
    return rows_score(
        model.column_row, model.column_value, walk.cells, model.ranges, model.inequalities,
        first, end, stride, walk.record[JUMP] > 0.0, delta,
    )  # fmt: skip


@part
def warp_score(walk, mode, j, delta, begin, end):
    """Return the same for neighbouring entries, as the lanes of a warp join it."""
    if mode == LIFT:
        return _room(walk.model, walk.cells, j, begin, end, 1), 0.0
    progress, bonus = np.zeros(LANES), np.zeros(LANES)
    for lane in range(LANES):
        gain, room = entries_score(walk, mode, j, delta, begin + lane, end, LANES)
        progress[lane] = gain
        bonus[lane] = room
    return lane_sum(progress), lane_sum(bonus)


@part
def judged(walk, mode, j, value, progress, bonus, tie):
    """Return the choice that a candidate is, when all of its entries have been read."""
    model = walk.model
    x = float(walk.values[2 * j])
    if mode == LIFT:
        most = np.floor(progress) if j < model.integers else progress
        cost = float(model.costs[j])
        value = clipped(model.bounds, j, x + (-1.0 if cost > 0.0 else 1.0) * most)
        way = abs(value - x)
        gain = abs(cost) * way
        moves_on = gain > LEAST_GAIN and way > LEAST_GAIN
        return (gain, 0.0, tie if moves_on else 0, j, value, 0.0)
    gain, room = objective_score(model, walk.record, j, value - x)
    bonus = min(max(bonus + room, -1e9), 1e9)
    return (progress + gain + 0.0, bonus, tie, j, value, abs(float(walk.values[2 * j + 1])))


@part
def change_row(walk, row, change):
    """Take ``change`` from a row's slack."""
    before, width = float(walk.cells[2 * row]), width_of(walk.model, row)
    after = before - change
    walk.cells[2 * row] = after
    was, now = violation(before, width) > 0.0, violation(after, width) > 0.0
    if was != now:
        set_violated(walk.tree, row, now)
