"""What happens between two rounds, as ``lead.cuh`` has it."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, part
from solvers.mip.walkers.kernels.fields import NONE
from solvers.mip.walkers.kernels.search_cpu import LEAST_GAIN
from solvers.mip.walkers.whole.kernels.fields import MOVE, SLOTS
from solvers.mip.walkers.whole.kernels.places_cpu import (
    BEST,
    BREAK,
    COPY,
    CURSOR,
    DONE,
    EXCLUSIVE,
    FORCED,
    FRACTION,
    GRANULARITY,
    HUGE_USED,
    IDLE,
    KEPT,
    LIFT,
    LIMIT,
    MINIMA,
    MODE,
    MOVED,
    MOVERS,
    MOVES,
    OBJECTIVE,
    OBJECTIVE_TEAMS,
    OBJECTIVE_WEIGHT,
    PATIENCE,
    PENDING,
    REPAIR,
    ROW_TEAMS,
    SCALE,
    SEEN,
    SMOOTH,
    SMOOTHING,
    START,
    STEP,
    TARGET,
    VIOLATED,
    VISITED,
)
from solvers.mip.walkers.whole.kernels.settle_cpu import LARGEST_WEIGHT, change_shared
from solvers.mip.walkers.whole.kernels.tree_cpu import count_violated
from solvers.mip.walkers.whole.kernels.walk_cpu import (
    DRAW_SMOOTH,
    DRAW_WINDOW,
    OF_ROUND,
    below,
    draw,
)

BLOCK = 256
OBJECTIVE_PART = 2
FORCED_ROWS = 1024
LEAST_PATIENCE = 64
MOVERS_MORE = 8


class Desk(NamedTuple):
    """What planning needs of the state; small tuples are compiled sooner."""

    record: Any
    control: Any
    key: Any
    teams: Any
    objectives: Any


@part
def _teams_for_objective(desk, gap):
    most = max(1, desk.teams // OBJECTIVE_PART)
    columns = (desk.objectives + 31) // 32
    wanted = gap * desk.record[SCALE]
    some = max(1, int(wanted)) if wanted < most else most
    return min(some, columns)


@part
def _lifts_are_over(desk, moved):
    record, columns = desk.record, desk.objectives
    window, patience = min(columns, 32 * desk.teams), int(record[PATIENCE])
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
def _note_point(desk):
    record = desk.record
    objective, limit = record[OBJECTIVE], record[LIMIT]
    if objective < limit - LEAST_GAIN * max(1.0, abs(limit)):
        step_down = record[FRACTION] * max(1.0, abs(objective))
        record[LIMIT] = objective
        record[TARGET] = objective - max(step_down, record[GRANULARITY])
        desk.control[PENDING] = 1


@part
def _change_weights(desk, step, count):
    record = desk.record
    record[MINIMA] += 1.0
    drawn = float(draw(desk.key, step, OF_ROUND, DRAW_SMOOTH))
    if drawn < record[SMOOTHING] * 4294967296.0:
        desk.control[SMOOTH] = 1
        if record[OBJECTIVE] < record[TARGET] and record[OBJECTIVE_WEIGHT] > 1.0:
            record[OBJECTIVE_WEIGHT] -= 1.0
    elif count == 0 and record[OBJECTIVE_WEIGHT] < LARGEST_WEIGHT:
        record[OBJECTIVE_WEIGHT] += 1.0


@part
def _plan_teams(desk, mode, forced, count):
    record, control, objectives = desk.record, desk.control, desk.objectives
    gap = record[OBJECTIVE] - record[TARGET]
    aims = record[TARGET] < NONE and gap > 0.0 and objectives > 0
    rows, columns = 0, 0
    if mode == LIFT:
        columns = min(desk.teams, (objectives + 31) // 32)
    elif mode == BREAK:
        columns = 1 if forced else _teams_for_objective(desk, gap)
    elif forced:
        rows = min(desk.teams, 1 + count // FORCED_ROWS)
    else:
        columns = min(_teams_for_objective(desk, gap), desk.teams - 1) if aims else 0
        rows = desk.teams - columns
    control[MODE] = mode
    control[FORCED] = forced
    control[ROW_TEAMS] = rows
    control[OBJECTIVE_TEAMS] = columns
    control[START] = 0
    if mode == LIFT:
        control[START] = int(record[CURSOR])
    elif columns:
        step = int(record[STEP]) + 1
        control[START] = below(desk.key, step, OF_ROUND, DRAW_WINDOW, objectives)


@part
def _conclude(desk, begins, count):
    """Say what follows from a round with so many violated rows."""
    record, control = desk.record, desk.control
    moved = 1 if begins else control[MOVED]
    mode = REPAIR if begins else control[MODE]
    forced = 0 if begins else control[FORCED]
    record[VIOLATED] = float(count)
    over = mode == LIFT and _lifts_are_over(desk, moved)
    stuck = moved == 0 and mode != LIFT
    control[SMOOTH] = 0
    if stuck and forced == 0:
        _change_weights(desk, int(record[STEP]), count)
    following = REPAIR
    if count == 0:
        _note_point(desk)
        if desk.objectives == 0:
            control[DONE] = 1
        following = BREAK if over or stuck else LIFT
    _plan_teams(desk, following, min(forced + 1, 2) if stuck else 0, count)
    active = control[ROW_TEAMS] + control[OBJECTIVE_TEAMS]
    control[MOVERS] = desk.teams if begins else min(max(active, 1), 2 * moved + MOVERS_MORE)
    control[COPY] = 0
    if control[PENDING] and count == 0 and following != LIFT:
        control[COPY] = 1
        record[BEST] = record[OBJECTIVE]
        record[KEPT] += 1.0
    if count > 0 or following != LIFT:
        control[PENDING] = 0


@part
def _desk_of(walk):
    return Desk(walk.record, walk.control, walk.key, walk.teams, walk.model.objectives)


@part
def _empty_slots(slots):
    for slot in range(SLOTS):
        slots[MOVE * slot] = -1.0


@part
def begin_rounds(walk):
    """Plan the first round of a launch."""
    _empty_slots(walk.slots)
    walk.control[MOVED] = walk.control[SEEN] = walk.control[HUGE_USED] = 0
    walk.control[DONE] = walk.control[PENDING] = 0
    walk.control[EXCLUSIVE] = -1
    _conclude(_desk_of(walk), True, count_violated(walk.tree))


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
        change_shared(walk)
    record[STEP] += 1.0
    record[OBJECTIVE] += change
    record[MOVES] += float(control[MOVED])
    record[VISITED] += float(control[SEEN])
    _conclude(_desk_of(walk), False, count_violated(walk.tree))
    control[MOVED] = control[SEEN] = control[HUGE_USED] = 0
    control[EXCLUSIVE] = -1
    _empty_slots(walk.slots)
