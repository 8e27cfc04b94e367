"""The first part of a round as ``propose.cuh`` has it: candidates, scores, claims."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, mix, part, tie_rank
from solvers.mip.walkers.kernels.fields import NONE, TOLERANCE, Field

# The rules for single moves are those of the other walkers.
from solvers.mip.walkers.kernels.search_cpu import (
    LEAST_GAIN,
    NO_CHOICE,
    UNBOUNDED,
    _better,
    _breaking,
    _clipped,
    _objective_score,
    _rows_score,
    _tight,
)
from solvers.mip.walkers.whole.kernels.fields import CHUNK, MOST_TEAMS, MOVE, SLOTS, Mode
from solvers.mip.walkers.whole.kernels.tree_cpu import find_violated

LANES = 32
LANE_COLUMN = 128
TEAM_WORK = 8192
LOOKS = 8
PURPOSES, DRAW_ROW, DRAW_OFFSET, DRAW_TIE, DRAW_TENURE, DRAW_LOT = 8, 0, 1, 2, 3, 4
OF_ROUND, DRAW_WINDOW, DRAW_SMOOTH, DRAW_SLOTS, DRAW_ORDER = MOST_TEAMS, 0, 1, 2, 3
ROUND_DRAWS = (MOST_TEAMS + 1) * PURPOSES
REPAIR, LIFT, BREAK = int(Mode.REPAIR), int(Mode.LIFT), int(Mode.BREAK)
JUMP, TENURE, SPREAD = int(Field.JUMP), int(Field.TENURE), int(Field.SPREAD)
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


@numba.njit(inline="always")
def _forbidden(turn, delta, stamp):
    return turn.forced < 2 and abs(stamp) > turn.clock and (delta > 0.0) != (stamp > 0.0)


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
    return _rows_score(
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
        value = _clipped(model.bounds, j, x + (-1.0 if cost > 0.0 else 1.0) * most)
        way = abs(value - x)
        gain = abs(cost) * way
        moves_on = gain > LEAST_GAIN and way > LEAST_GAIN
        return (gain, 0.0, tie if moves_on else 0, j, value, 0.0)
    gain, room = _objective_score(model, walk.record, j, value - x)
    bonus = min(max(bonus + room, -1e9), 1e9)
    return (progress + gain + 0.0, bonus, tie, j, value, abs(float(walk.values[2 * j + 1])))


@part
def _place_of(walk, turn, team):
    """Return which violated row a team looks at, which part of it, and of how many parts."""
    count, teams = turn.count, turn.row_teams
    if count < teams:
        return team % count, team // count, (teams - team % count - 1) // count + 1
    length, more = count // teams, count % teams
    here = length + (1 if team < more else 0)
    chosen = below(walk.key, turn.step, team, DRAW_ROW, here)
    return team * length + min(team, more) + chosen, 0, 1


@part
def _in_row(walk, turn, row, offset, first, stride):
    """Return the column and value that a lane finds in a violated row."""
    model = walk.model
    begin = model.row_start[row]
    length = model.row_start[row + 1] - begin
    slack = float(walk.cells[2 * row])
    need = slack if slack < 0.0 else slack - width_of(model, row)
    number = first
    for _ in range(LOOKS):
        if number >= length:
            break
        entry = begin + (offset + number) % length
        j = int(model.row_column[entry])
        x = float(walk.values[2 * j])
        kinds = (model.binaries, model.integers)
        value = _tight(model.bounds, kinds, j, x, float(model.row_value[entry]), need)
        if abs(value - x) > LEAST_GAIN:
            bound = _forbidden(turn, value - x, float(walk.values[2 * j + 1]))
            return -1 if bound else j, value
        number += stride
    return -1, 0.0


@part
def _in_objective(walk, turn, number):
    """Return the column and value of a place in the round's window of objective columns."""
    model = walk.model
    j = int(model.objective_columns[(turn.start + number) % model.objectives])
    x = float(walk.values[2 * j])
    if turn.mode == LIFT:
        return j, x
    value = _breaking(model, walk.record, j, x)
    tied = _forbidden(turn, value - x, float(walk.values[2 * j + 1]))
    return (-1 if abs(value - x) <= LEAST_GAIN or tied else j), value


@part
def _offer_slot(walk, turn, team, column, value):
    turns = (turn.row_teams + turn.objective_teams + SLOTS - 1) // SLOTS
    if team % turns != below(walk.key, turn.step, OF_ROUND, DRAW_SLOTS, turns):
        return 0
    slot = MOVE * (team // turns)
    walk.slots[slot] = column
    walk.slots[slot + 1] = value
    return 1


@part
def _look(walk, turn, team):
    """Return where a team looks: row (-1 for the objective), offset, first place, stride, places.

    The row is the team's to speak for if the first place is 0.
    """
    model = walk.model
    if team < turn.row_teams:
        rank, part_of_row, parts = _place_of(walk, turn, team)
        row = find_violated(walk.tree, rank)
        first_team = rank if turn.count < turn.row_teams else team
        length = model.row_start[row + 1] - model.row_start[row]
        offset = below(walk.key, turn.step, first_team, DRAW_OFFSET, length)
        return row, offset, LANES * part_of_row, LANES * parts, length
    window = LANES * (team - turn.row_teams)
    works = team - turn.row_teams < turn.objective_teams
    return -1, 0, window, 0, model.objectives if works else 0


@part
def _best_of(walk, turn, team, look):
    """Return the best of a team's candidates, the entries scored, and slots used."""
    model, mode = walk.model, turn.mode
    row, offset, place, stride, places = look
    seen, used, longer_before, huge, huge_value = 0, 0, 0, -1, 0.0
    best = NO_CHOICE
    base = draw(walk.key, turn.step, team, DRAW_TIE)
    for lane in range(min(LANES, max(places - place, 0))):
        if row >= 0:
            j, value = _in_row(walk, turn, row, offset, place + lane, stride)
        else:
            j, value = _in_objective(walk, turn, place + lane)
        if j < 0:
            continue
        begin, end = model.column_start[j], model.column_start[j + 1]
        if end - begin > CHUNK:
            if huge < 0:
                huge, huge_value = j, value
            continue
        delta = value - float(walk.values[2 * j])
        if end - begin > LANE_COLUMN:
            before = longer_before
            longer_before += end - begin
            if before >= TEAM_WORK:
                continue
            progress, bonus = warp_score(walk, mode, j, delta, begin, end)
        else:
            progress, bonus = entries_score(walk, mode, j, delta, begin, end, 1)
        seen += end - begin
        found = judged(walk, mode, j, value, progress, bonus, tie_rank(base, lane))
        if _better(found[0], found[1], found[2], found[5], best):
            best = found
    if huge >= 0:
        used = _offer_slot(walk, turn, team, huge, huge_value)
    return best, seen, used


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
def propose(walk, turn, team):
    """Let a team choose its move and claim its rows; return entries scored and slots used."""
    model, moves = walk.model, walk.moves
    look = _look(walk, turn, team)
    best, seen, used = _best_of(walk, turn, team, look)
    j = best[3]
    goes = j >= 0 and best[2] != 0 and (best[0] > LEAST_GAIN or turn.forced > 0)
    if goes:
        claim = claim_of(walk, turn, team, best[0])
        delta = best[4] - float(walk.values[2 * j])
        for e in range(model.column_start[j], model.column_start[j + 1]):
            row = model.column_row[e]
            if not is_free(walk, turn, team, row, float(model.column_value[e]) * delta):
                walk.claims[row] = max(walk.claims[row], claim)
    for number in range(walk.shared_count):
        walk.shares[number * walk.teams + team] = 0.0
    moves[MOVE * team] = j if goes else -1
    moves[MOVE * team + 1] = best[4] if goes else (look[0] if look[2] == 0 else -1)
    moves[MOVE * team + 2] = best[0] if goes else 0.0
    moves[MOVE * team + 3] = 0.0
    return seen, used
