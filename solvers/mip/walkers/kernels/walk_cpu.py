"""Numba twins of ``walk.cu``: the same steps in the same order, one lane after the other."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.mip.walkers.kernels.arithmetic_cpu import (
    below,
    chance,
    key_of,
    lane_sum,
    part,
    violation,
)
from solvers.mip.walkers.kernels.fields import MOST_ROWS, NONE, RECORD, Field
from solvers.mip.walkers.kernels.search_cpu import (
    LEAST_GAIN,
    NO_CHOICE,
    PENDING,
    UNBOUNDED,
    VISITED_NOW,
    Model,
    Walker,
    draw_rows,
    lift,
    need_of,
    partner,
    put,
    sampled,
    search,
    unit_of,
)

LARGEST_WEIGHT = 1e6
LIFT_WINDOW = 64
LIFT_PATIENCE = 1024
FORCED_BREAKTHROUGHS = 32
BUMPED_ROWS = 256
LONG_ROW = 256
CLOCK_LIMIT = 4e6
DRAW_SMOOTH, DRAW_BUMP, DRAW_FORCED, DRAW_FORCED_OFFSET = 33, 34, 35, 36
DRAW_TENURE, DRAW_TIE, DRAW_PAIR, DRAW_FORCED_TIE, DRAW_TENURE_PARTNER = 37, 38, 40, 43, 44
WARP, BLOCK = 32, 256

STEP, ORIGIN, REFRESH, OBJECTIVE, VIOLATED, WEIGHTED, OBJECTIVE_WEIGHT, TARGET, LIMIT = range(9)
BEST, KEPT, CURSOR, IDLE, LAST, LAST_UP, MOVES, MINIMA, VISITED, ROWS = range(9, 19)
TENURE, SPREAD, SMOOTHING, JUMP, BREAKTHROUGHS, FRACTION, PAIRS, SCALE, GRANULARITY = range(19, 28)
PATIENCE = 28
assert int(Field.PATIENCE) == PATIENCE


@numba.njit(inline="always")
def _width(model, row):
    return UNBOUNDED if row < model.inequalities else float(model.ranges[row - model.inequalities])


@part
def _append(walker, row):
    count = int(walker.record[VIOLATED])
    walker.violated[count] = row
    walker.place[row] = count
    walker.record[VIOLATED] += 1.0


@part
def _take_out(walker, row):
    walker.record[VIOLATED] -= 1.0
    count = int(walker.record[VIOLATED])
    moved, at = walker.violated[count], walker.place[row]
    walker.violated[at] = moved
    walker.place[moved] = at


@part
def _apply(model, walker, j, value, purpose):
    """Move a column; rows enter and leave the list in the order of lanes."""
    record, cells = walker.record, walker.cells
    delta = value - float(walker.values[2 * j])
    left = np.empty(walker.lanes, np.int64)
    end = model.column_start[j + 1]
    for first in range(model.column_start[j], end, walker.lanes):
        leaving = 0
        for e in range(first, min(first + walker.lanes, end)):
            row = model.column_row[e]
            width = _width(model, row)
            before = float(cells[2 * row])
            after = before - model.column_value[e] * delta
            cells[2 * row] = after
            was, now = violation(before, width) > 0.0, violation(after, width) > 0.0
            if now and not was:
                _append(walker, row)
            if was and not now:
                left[leaving] = row
                leaving += 1
        for number in range(leaving):
            _take_out(walker, left[number])
    record[OBJECTIVE] += float(model.costs[j]) * delta
    record[LAST] = j
    record[LAST_UP] = 1.0 if delta > 0.0 else 0.0
    spread = below(walker.key, record[STEP], purpose, int(record[SPREAD]) + 1)
    until = record[STEP] - record[ORIGIN] + record[TENURE] + spread + 1.0
    walker.values[2 * j] = value
    walker.values[2 * j + 1] = until if delta > 0.0 else -until
    record[MOVES] += 1.0


@part
def _keep(model, walker):
    """Copy out the best point before leaving it."""
    if walker.notes[PENDING] > 0 and walker.record[VIOLATED] == 0.0:
        for j in range(model.columns):
            walker.kept[j] = walker.values[2 * j]
        walker.record[BEST] = walker.record[OBJECTIVE]
        walker.record[KEPT] += 1.0
    walker.notes[PENDING] = 0


@part
def _change_weights(model, walker):
    """Smooth or bump weights; put one violated row into the sample and return how many."""
    record, cells, key = walker.record, walker.cells, walker.key
    count = int(record[VIOLATED])
    if chance(key, record[STEP], DRAW_SMOOTH, record[SMOOTHING]):
        for row in range(model.rows):
            satisfied = violation(float(cells[2 * row]), _width(model, row)) == 0.0
            unit = unit_of(model, walker, row)
            if cells[2 * row + 1] > unit and satisfied:
                cells[2 * row + 1] -= unit
        if record[OBJECTIVE] < record[TARGET] and record[OBJECTIVE_WEIGHT] > 1.0:
            record[OBJECTIVE_WEIGHT] -= 1.0
    else:
        start = below(key, record[STEP], DRAW_BUMP, count) if count > BUMPED_ROWS else 0
        for number in range(min(count, BUMPED_ROWS)):
            row = walker.violated[(start + number) % count]
            unit = unit_of(model, walker, row)
            if cells[2 * row + 1] < LARGEST_WEIGHT * unit:
                cells[2 * row + 1] += unit
        if count == 0 and record[OBJECTIVE_WEIGHT] < LARGEST_WEIGHT:
            record[OBJECTIVE_WEIGHT] += 1.0
    if count == 0:
        return 0
    row = walker.violated[below(key, record[STEP], DRAW_FORCED, count)]
    put(model, walker, 0, row, need_of(model, walker, row), DRAW_FORCED_OFFSET)
    return 1


@part
def _descend(model, walker):
    """Note a better point and look for a lift; say whether the step ends if there is none."""
    record = walker.record
    objective, limit = record[OBJECTIVE], record[LIMIT]
    if objective < limit - LEAST_GAIN * max(1.0, abs(limit)):
        record[LIMIT] = objective
        walker.notes[PENDING] = 1
        step_down = record[FRACTION] * max(1.0, abs(objective))
        record[TARGET] = objective - max(step_down, record[GRANULARITY])
    if model.objectives == 0:
        return NO_CHOICE, True
    window = min(LIFT_WINDOW, model.objectives)
    cursor, idle = int(record[CURSOR]), int(record[IDLE]) + window
    found = lift(model, walker, cursor, window)
    patience = int(record[PATIENCE])
    exhausted = idle >= min(model.objectives, patience)
    record[IDLE] = 0.0 if found[3] >= 0 or exhausted else float(idle)
    if found[3] >= 0:
        record[PATIENCE] = float(min(2 * patience, LIFT_PATIENCE))
    elif exhausted:
        record[PATIENCE] = float(max(patience // 2, LIFT_WINDOW))
    if found[3] < 0:
        record[CURSOR] = float((cursor + window) % model.objectives)
    return found, not exhausted


@part
def _choose(model, walker):
    """Return the step's move and the one that goes with it, where there are any."""
    record = walker.record
    rows = min(int(record[ROWS]), int(record[VIOLATED]))
    has_target = record[TARGET] < NONE
    breaks = 0
    if has_target and record[OBJECTIVE] > record[TARGET]:
        breaks = min(int(record[BREAKTHROUGHS]), model.objectives)
    draw_rows(model, walker, rows)
    entries = sampled(walker, rows)
    one = search(model, walker, rows, entries, breaks, False, DRAW_TIE)
    if one[3] >= 0 and one[0] > LEAST_GAIN:
        return one, NO_CHOICE
    record[MINIMA] += 1.0
    if one[3] >= 0 and chance(walker.key, record[STEP], DRAW_PAIR, record[PAIRS]):
        two = partner(model, walker, one)
        if two[3] >= 0 and two[0] > LEAST_GAIN:
            return one, two
    rows = _change_weights(model, walker)
    breaks = min(FORCED_BREAKTHROUGHS, model.objectives) if rows == 0 and has_target else 0
    entries = sampled(walker, rows)
    one = search(model, walker, rows, entries, breaks, True, DRAW_FORCED_TIE)
    if one[3] < 0:
        record[LAST] = float(model.columns)  # nothing is forbidden next
    return one, NO_CHOICE


@part
def _refresh(model, walker):
    """Compute slack, list of violated rows and objective anew from the values."""
    parts = np.zeros(walker.lanes)
    walker.record[VIOLATED] = 0.0
    for row in range(model.rows):
        begin, end = model.row_start[row], model.row_start[row + 1]
        lanes = walker.lanes if end - begin > LONG_ROW else 1
        parts[:] = 0.0
        for lane in range(lanes):
            for e in range(begin + lane, end, lanes):
                value = float(walker.values[2 * model.row_column[e]])
                parts[lane] += float(model.row_value[e]) * value
        activity = parts[0] if lanes == 1 else lane_sum(parts)
        slack = float(model.sides[row]) - activity
        walker.cells[2 * row] = slack
        if violation(slack, _width(model, row)) > 0.0:
            _append(walker, row)
    parts[:] = 0.0
    for j in range(model.columns):
        parts[j % walker.lanes] += float(model.costs[j]) * float(walker.values[2 * j])
    walker.record[OBJECTIVE] = lane_sum(parts)


@part
def _prepare(model, walker):
    """Refresh what has to be, and let stamps start anew before they grow too large."""
    record = walker.record
    if record[REFRESH] > 0.0:
        _refresh(model, walker)
    if record[STEP] - record[ORIGIN] > CLOCK_LIMIT:
        walker.values[1::2] = 0.0
        record[ORIGIN] = record[STEP]


@part
def _weighted(model, walker):
    parts = np.zeros(walker.lanes)
    for at in range(int(walker.record[VIOLATED])):
        row = walker.violated[at]
        beyond = violation(float(walker.cells[2 * row]), _width(model, row))
        parts[at % walker.lanes] += float(walker.cells[2 * row + 1]) * beyond
    return lane_sum(parts)


@twin
def walk(
    rows, inequalities, columns, binaries, integers, objectives,
    row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
    column_value, bounds, costs, objective_columns,
    values, cells, place, violated, kept, records, walkers, steps, seed,
):  # fmt: skip
    """Make a slice of steps with groups of 32 lanes."""
    model = Model(
        rows, inequalities, columns, binaries, integers, objectives,
        row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
        column_value, bounds, costs, objective_columns,
    )  # fmt: skip
    for walker in prange(walkers):
        _walk_one(model, WARP, walker, values, cells, place, violated, kept, records, steps, seed)


@twin
def walk_wide(
    rows, inequalities, columns, binaries, integers, objectives,
    row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
    column_value, bounds, costs, objective_columns,
    values, cells, place, violated, kept, records, walkers, steps, seed,
):  # fmt: skip
    """Make a slice of steps with groups of 256 lanes."""
    model = Model(
        rows, inequalities, columns, binaries, integers, objectives,
        row_start, row_column, row_value, sides, ranges, scales, column_start, column_row,
        column_value, bounds, costs, objective_columns,
    )  # fmt: skip
    for walker in prange(walkers):
        _walk_one(model, BLOCK, walker, values, cells, place, violated, kept, records, steps, seed)


@part
def _walk_one(model, lanes, walker, values, cells, place, violated, kept, records, steps, seed):
    columns, rows = model.columns, model.rows
    state = Walker(
        lanes,
        key_of(seed, walker, 1),
        values[2 * columns * walker : 2 * columns * (walker + 1)],
        cells[2 * rows * walker : 2 * rows * (walker + 1)],
        place[rows * walker : rows * (walker + 1)],
        violated[rows * walker : rows * (walker + 1)],
        kept[columns * walker : columns * (walker + 1)],
        records[RECORD * walker : RECORD * (walker + 1)],
        np.zeros(4 * MOST_ROWS + 1, np.int64),
        np.zeros(MOST_ROWS),
        np.zeros(2, np.int64),
    )
    _prepare(model, state)
    for _ in range(steps):
        over = state.record[VIOLATED] == 0.0 and not state.record[OBJECTIVE] < state.record[LIMIT]
        if over and model.objectives == 0:
            break
        state.record[STEP] += 1.0
        one, two, ends = NO_CHOICE, NO_CHOICE, False
        if state.record[VIOLATED] == 0.0:
            one, ends = _descend(model, state)
        if one[3] < 0 and not ends:
            one, two = _choose(model, state)
            if one[3] >= 0:
                _keep(model, state)
        for move, purpose in ((one, DRAW_TENURE), (two, DRAW_TENURE_PARTNER)):
            if move[3] >= 0:
                _apply(model, state, move[3], move[4], purpose)
    _keep(model, state)
    state.record[REFRESH] = 0.0
    state.record[WEIGHTED] = _weighted(model, state)
    state.record[VISITED] += float(state.notes[VISITED_NOW])
