"""What happens between two rounds, as ``lead.cuh`` has it."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, part, violation
from solvers.mip.walkers.kernels.fields import NONE, Field
from solvers.mip.walkers.kernels.search_cpu import LEAST_GAIN
from solvers.mip.walkers.whole.kernels.fields import MOVE, SLOTS, Control
from solvers.mip.walkers.whole.kernels.propose_cpu import (
    BREAK,
    DRAW_SMOOTH,
    DRAW_WINDOW,
    LANES,
    LIFT,
    OF_ROUND,
    REPAIR,
    below,
    draw,
    judged,
    width_of,
)
from solvers.mip.walkers.whole.kernels.tree_cpu import count_violated, set_violated

BLOCK = 256
LARGEST_WEIGHT = 1e6
OBJECTIVE_PART = 8
FORCED_ROWS = 1024
LEAST_PATIENCE = 64
MOVERS_MORE = 8

STEP, OBJECTIVE, VIOLATED = int(Field.STEP), int(Field.OBJECTIVE), int(Field.VIOLATED)
OBJECTIVE_WEIGHT, TARGET, LIMIT = (
    int(Field.OBJECTIVE_WEIGHT),
    int(Field.TARGET),
    int(Field.LIMIT),
)
BEST, KEPT, CURSOR, IDLE = int(Field.BEST), int(Field.KEPT), int(Field.CURSOR), int(Field.IDLE)
MOVES, MINIMA, VISITED = int(Field.MOVES), int(Field.MINIMA), int(Field.VISITED)
SMOOTHING, FRACTION, SCALE = int(Field.SMOOTHING), int(Field.FRACTION), int(Field.SCALE)
GRANULARITY, PATIENCE = int(Field.GRANULARITY), int(Field.PATIENCE)

MODE, FORCED, COPY, SMOOTH = (
    int(Control.MODE),
    int(Control.FORCED),
    int(Control.COPY),
    int(Control.SMOOTH),
)
ROW_TEAMS, OBJECTIVE_TEAMS, START = (
    int(Control.ROW_TEAMS),
    int(Control.OBJECTIVE_TEAMS),
    int(Control.START),
)
PENDING, DONE, HUGE_USED = int(Control.PENDING), int(Control.DONE), int(Control.HUGE_USED)
EXCLUSIVE, MOVED, SEEN = int(Control.EXCLUSIVE), int(Control.MOVED), int(Control.SEEN)
MOVERS = int(Control.MOVERS)


@part
def _teams_for_objective(walk, gap):
    most = max(1, walk.teams // OBJECTIVE_PART)
    columns = (walk.model.objectives + 31) // 32
    wanted = gap * walk.record[SCALE]
    some = max(1, int(wanted)) if wanted < most else most
    return min(some, columns)


@part
def _lifts_are_over(walk, moved):
    record, columns = walk.record, walk.model.objectives
    window, patience = min(columns, 32 * walk.teams), int(record[PATIENCE])
    if moved:
        record[IDLE] = 0.0
        record[PATIENCE] = float(min(2 * patience, max(columns, LEAST_PATIENCE)))
        return False
    idle = int(record[IDLE]) + window
    over = idle >= min(columns, patience)
    record[CURSOR] = float((int(record[CURSOR]) + window) % columns)
    record[IDLE] = 0.0 if over else float(idle)
    if over:
        record[PATIENCE] = float(max(patience // 2, LEAST_PATIENCE))
    return over


@part
def _note_point(walk):
    record = walk.record
    objective, limit = record[OBJECTIVE], record[LIMIT]
    if objective < limit - LEAST_GAIN * max(1.0, abs(limit)):
        step_down = record[FRACTION] * max(1.0, abs(objective))
        record[LIMIT] = objective
        record[TARGET] = objective - max(step_down, record[GRANULARITY])
        walk.control[PENDING] = 1


@part
def _change_weights(walk, step, count):
    record = walk.record
    record[MINIMA] += 1.0
    drawn = float(draw(walk.key, step, OF_ROUND, DRAW_SMOOTH))
    if drawn < record[SMOOTHING] * 4294967296.0:
        walk.control[SMOOTH] = 1
        if record[OBJECTIVE] < record[TARGET] and record[OBJECTIVE_WEIGHT] > 1.0:
            record[OBJECTIVE_WEIGHT] -= 1.0
    elif count == 0 and record[OBJECTIVE_WEIGHT] < LARGEST_WEIGHT:
        record[OBJECTIVE_WEIGHT] += 1.0


@part
def _plan_teams(walk, mode, forced, count):
    record, control, objectives = walk.record, walk.control, walk.model.objectives
    gap = record[OBJECTIVE] - record[TARGET]
    aims = record[TARGET] < NONE and gap > 0.0 and objectives > 0
    rows, columns = 0, 0
    if mode == LIFT:
        columns = min(walk.teams, (objectives + 31) // 32)
    elif mode == BREAK:
        columns = 1 if forced else _teams_for_objective(walk, gap)
    elif forced:
        rows = min(walk.teams, 1 + count // FORCED_ROWS)
    else:
        columns = min(_teams_for_objective(walk, gap), walk.teams - 1) if aims else 0
        rows = walk.teams - columns
    control[MODE] = mode
    control[FORCED] = forced
    control[ROW_TEAMS] = rows
    control[OBJECTIVE_TEAMS] = columns
    control[START] = 0
    if mode == LIFT:
        control[START] = int(record[CURSOR])
    elif columns:
        step = int(record[STEP]) + 1
        control[START] = below(walk.key, step, OF_ROUND, DRAW_WINDOW, objectives)


@part
def _conclude(walk, begins, count):
    """Say what follows from a round with so many violated rows."""
    record, control = walk.record, walk.control
    moved = 1 if begins else control[MOVED]
    mode = REPAIR if begins else control[MODE]
    forced = 0 if begins else control[FORCED]
    record[VIOLATED] = float(count)
    over = mode == LIFT and _lifts_are_over(walk, moved)
    stuck = moved == 0 and mode != LIFT
    control[SMOOTH] = 0
    if stuck and forced == 0:
        _change_weights(walk, int(record[STEP]), count)
    following = REPAIR
    if count == 0:
        _note_point(walk)
        if walk.model.objectives == 0:
            control[DONE] = 1
        following = BREAK if over or stuck else LIFT
    _plan_teams(walk, following, min(forced + 1, 2) if stuck else 0, count)
    active = control[ROW_TEAMS] + control[OBJECTIVE_TEAMS]
    control[MOVERS] = walk.teams if begins else min(max(active, 1), 2 * moved + MOVERS_MORE)
    control[COPY] = 0
    if control[PENDING] and count == 0 and following != LIFT:
        control[COPY] = 1
        record[BEST] = record[OBJECTIVE]
        record[KEPT] += 1.0
    if count > 0 or following != LIFT:
        control[PENDING] = 0


@part
def _empty_slots(walk):
    for slot in range(SLOTS):
        walk.slots[MOVE * slot] = -1.0


@part
def begin_rounds(walk):
    """Plan the first round of a launch."""
    _empty_slots(walk)
    walk.control[MOVED] = walk.control[SEEN] = walk.control[HUGE_USED] = 0
    walk.control[DONE] = walk.control[PENDING] = 0
    walk.control[EXCLUSIVE] = -1
    _conclude(walk, True, count_violated(walk.tree))


@part
def change_row(walk, row, change):
    """Take ``change`` from a row's slack."""
    before, width = float(walk.cells[2 * row]), width_of(walk.model, row)
    after = before - change
    walk.cells[2 * row] = after
    was, now = violation(before, width) > 0.0, violation(after, width) > 0.0
    if was != now:
        set_violated(walk.tree, row, now)


@part
def _change_shared(walk):
    """Take from shared rows what the round's moves have noted."""
    for number in range(walk.shared_count):
        parts = np.zeros(LANES)
        for team in range(walk.teams):
            parts[team % LANES] += walk.shares[number * walk.teams + team]
        change_row(walk, walk.shared_rows[number], lane_sum(parts))


@part
def end_round(walk):
    """Count what a round came to, and plan the next one."""
    record, control = walk.record, walk.control
    if control[EXCLUSIVE] >= 0:
        slot = MOVE * control[EXCLUSIVE]
        change = float(walk.model.costs[int(walk.slots[slot])]) * walk.slots[slot + 3]
    else:
        parts = np.zeros(BLOCK)
        for team in range(walk.teams):
            parts[team % BLOCK] += walk.moves[MOVE * team + 3]
        change = lane_sum(parts)
        _change_shared(walk)
    record[STEP] += 1.0
    record[OBJECTIVE] += change
    record[MOVES] += float(control[MOVED])
    record[VISITED] += float(control[SEEN])
    _conclude(walk, False, count_violated(walk.tree))
    control[MOVED] = control[SEEN] = control[HUGE_USED] = 0
    control[EXCLUSIVE] = -1
    _empty_slots(walk)


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
