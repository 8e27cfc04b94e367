"""The first part of a round as ``propose.cuh`` has it: candidates and claims."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from solvers.mip.walkers.kernels.arithmetic_cpu import part, tie_rank

# The rules for single moves are those of the other walkers.
from solvers.mip.walkers.kernels.search_cpu import (
    LEAST_GAIN,
    NO_CHOICE,
    better,
    breaking,
    tight,
)
from solvers.mip.walkers.whole.kernels.fields import CHUNK, MOVE, SLOTS
from solvers.mip.walkers.whole.kernels.places_cpu import LIFT
from solvers.mip.walkers.whole.kernels.tree_cpu import find_violated
from solvers.mip.walkers.whole.kernels.walk_cpu import (
    DRAW_OFFSET,
    DRAW_ROW,
    DRAW_SLOTS,
    DRAW_TIE,
    LANES,
    OF_ROUND,
    below,
    claim_of,
    draw,
    entries_score,
    forbidden,
    is_free,
    judged,
    warp_score,
    width_of,
)

LANE_COLUMN = 128
TEAM_WORK = 8192
LOOKS = 8


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
        value = tight(model.bounds, kinds, j, x, float(model.row_value[entry]), need)
        if abs(value - x) > LEAST_GAIN:
            bound = forbidden(turn, value - x, float(walk.values[2 * j + 1]))
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
    value = breaking(model, walk.record, j, x)
    tied = forbidden(turn, value - x, float(walk.values[2 * j + 1]))
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
        if better(found[0], found[1], found[2], found[5], best):
            best = found
    if huge >= 0:
        used = _offer_slot(walk, turn, team, huge, huge_value)
    return best, seen, used


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
