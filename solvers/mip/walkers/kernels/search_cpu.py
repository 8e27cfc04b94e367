"""A walker's step as ``walker.cuh`` has it: its candidates, their scores, and the choice."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import (
    below,
    draw,
    lane_sum,
    part,
    tie_rank,
    violation,
)
from solvers.mip.walkers.kernels.fields import MOST_ROWS, NONE, TOLERANCE, Field

LEAST_GAIN = 1e-9
ROW_ENTRIES = 64
LOOKS = 8
MOST_TIES = 4095
LONG_COLUMN = 256
UNBOUNDED = 1e308
DRAW_ROW, DRAW_OFFSET, DRAW_BREAK = 0, 16, 32
DRAW_LIFT_TIE, DRAW_PAIR_TIE, DRAW_PAIR_OFFSET, DRAW_BROKEN_TIE = 39, 41, 42, 45

STEP, ORIGIN, OBJECTIVE, VIOLATED, LIMIT = (
    int(Field.STEP),
    int(Field.ORIGIN),
    int(Field.OBJECTIVE),
    int(Field.VIOLATED),
    int(Field.LIMIT),
)
OBJECTIVE_WEIGHT, TARGET, LAST, LAST_UP, JUMP, SCALE = (
    int(Field.OBJECTIVE_WEIGHT),
    int(Field.TARGET),
    int(Field.LAST),
    int(Field.LAST_UP),
    int(Field.JUMP),
    int(Field.SCALE),
)
STARTS, OFFSETS, LENGTHS, BEFORE = 0, MOST_ROWS, 2 * MOST_ROWS, 3 * MOST_ROWS
"""Where the parts of a sample stand in its array of integers."""
VISITED_NOW, PENDING = 0, 1
"""Places of what a walker notes during a launch."""
NO_CHOICE = (0.0, 0.0, 0, -1, 0.0, 0.0)
"""Progress, bonus, tie, column, value and stamp where there is no move."""


class Model(NamedTuple):
    """The model's arrays, as the kernels' arguments name them."""

    rows: Any
    inequalities: Any
    columns: Any
    binaries: Any
    integers: Any
    objectives: Any
    row_start: Any
    row_column: Any
    row_value: Any
    sides: Any
    ranges: Any
    scales: Any
    column_start: Any
    column_row: Any
    column_value: Any
    bounds: Any
    costs: Any
    objective_columns: Any


class Walker(NamedTuple):
    """One walker's part of the state, its key, its sample of rows, and notes of the launch."""

    lanes: Any
    key: Any
    values: Any
    cells: Any
    place: Any
    violated: Any
    kept: Any
    record: Any
    sample: Any
    needs: Any
    notes: Any


@numba.njit(inline="always")
def _width(model, row):
    return UNBOUNDED if row < model.inequalities else float(model.ranges[row - model.inequalities])


@numba.njit(inline="always")
def _row_score(jump, before, after, weight, width):
    """Return progress and bonus of one row's change of slack."""
    progress, bonus = 0.0, 0.0
    was, now = violation(before, width), violation(after, width)
    if jump:
        progress = weight * (was - now)
    elif was > 0.0:
        if now == 0.0:
            progress = 2.0 * weight
        elif now < was:
            progress = weight
        elif now > was:
            progress = -weight
    elif now > 0.0:
        progress = -2.0 * weight
    else:
        had = before > TOLERANCE and width - before > TOLERANCE
        has = after > TOLERANCE and width - after > TOLERANCE
        if has and not had:
            bonus = weight
        if had and not has:
            bonus = -weight
    return progress, bonus


@part
def rows_score(
    column_row, column_value, cells, ranges, inequalities, first, end, stride, jump, delta
):
    """Return progress and bonus of some entries of a column that moves by ``delta``."""
    progress, bonus = 0.0, 0.0
    for e in range(first, end, stride):
        row = column_row[e]
        width = UNBOUNDED if row < inequalities else float(ranges[row - inequalities])
        before = float(cells[2 * row])
        after = before - column_value[e] * delta
        gain, room = _row_score(jump, before, after, float(cells[2 * row + 1]), width)
        progress += gain
        bonus += room
    return progress, bonus


@part
def _long_rows_score(
    lanes, column_row, column_value, cells, ranges, inequalities, begin, end, jump, delta
):
    """Score a long column as all lanes together do."""
    progress, bonus = np.zeros(lanes), np.zeros(lanes)
    for lane in range(lanes):
        gain, room = rows_score(
            column_row, column_value, cells, ranges, inequalities,
            begin + lane, end, lanes, jump, delta,
        )  # fmt: skip
        progress[lane] = gain
        bonus[lane] = room
    return lane_sum(progress), lane_sum(bonus)


@numba.njit(inline="always")
def clipped(bounds, j, value):
    """Return a value moved into the bounds of a column."""
    return min(max(value, float(bounds[2 * j])), float(bounds[2 * j + 1]))


@numba.njit(inline="always")
def tight(bounds, kinds, j, x, a, need):
    """Return the value at which a column meets what a row needs."""
    move = need / a
    if j < kinds[0]:
        return 1.0 if move > 0.0 else 0.0
    if j < kinds[1]:
        excess = 0.5 * TOLERANCE / abs(a)
        move = np.ceil(move - excess) if move > 0.0 else np.floor(move + excess)
    return clipped(bounds, j, x + move)


@numba.njit(inline="always")
def breaking(model, record, j, x):
    """Return the value at which a column alone brings the objective to its target."""
    cost = float(model.costs[j])
    move = (record[TARGET] - record[OBJECTIVE]) / cost
    if j < model.binaries:
        return 0.0 if cost > 0.0 else 1.0
    if j < model.integers:
        move = np.floor(move) if cost > 0.0 else np.ceil(move)
    return clipped(model.bounds, j, x + move)


@numba.njit(inline="always")
def _forbidden(record, j, delta, stamp, weak):
    if weak:
        return j == int(record[LAST]) and (delta > 0.0) != (record[LAST_UP] > 0.0)
    clock = record[STEP] - record[ORIGIN]
    return abs(stamp) > clock and (delta > 0.0) != (stamp > 0.0)


@numba.njit(inline="always")
def _objective_progress(record, change):
    """Return what a change of the objective is worth: a row that holds at the target."""
    if not record[TARGET] < NONE:
        return 0.0
    weight, after = record[OBJECTIVE_WEIGHT], record[OBJECTIVE] + change
    if record[JUMP] > 0.0:
        return -(weight * (change * record[SCALE]))
    if record[OBJECTIVE] > record[TARGET]:
        if after <= record[TARGET]:
            return 2.0 * weight
        return weight if change < 0.0 else (-weight if change > 0.0 else 0.0)
    return -2.0 * weight if after > record[TARGET] else 0.0


@numba.njit(inline="always")
def objective_score(model, record, j, delta):
    """Return progress and bonus of a move in the objective."""
    change = float(model.costs[j]) * delta
    better = change < 0.0 and record[OBJECTIVE] + change < record[LIMIT]
    bonus = record[OBJECTIVE_WEIGHT] if better and record[TARGET] < NONE else 0.0
    return _objective_progress(record, change), bonus


@numba.njit(inline="always")
def better(progress, bonus, tie, stamp, best):
    """Whether a move goes before the best so far."""
    if best[2] == 0:
        return tie != 0
    if progress != best[0]:
        return progress > best[0]
    if bonus != best[1]:
        return bonus > best[1]
    if stamp != best[5]:
        return stamp < best[5]
    return tie > best[2]


@numba.njit(inline="always")
def unit_of(model, walker, row):
    """Return the least weight of a row: for jumps its violation is measured in its entries."""
    return float(model.scales[row]) if walker.record[JUMP] > 0.0 else 1.0


@part
def need_of(model, walker, row):
    """Return by how much the activity of a violated row has to change."""
    slack = float(walker.cells[2 * row])
    return slack if slack < 0.0 else slack - _width(model, row)


@part
def put(model, walker, at, row, need, purpose):
    """Put a row at a place of the sample; a long one begins at a random entry."""
    start = model.row_start[row]
    length = model.row_start[row + 1] - start
    walker.sample[STARTS + at] = start
    walker.sample[LENGTHS + at] = length
    walker.sample[OFFSETS + at] = 0
    if length > ROW_ENTRIES:
        walker.sample[OFFSETS + at] = below(walker.key, walker.record[STEP], purpose, length)
    walker.needs[at] = need


@part
def draw_rows(model, walker, rows):
    """Put so many violated rows into the sample, from as many parts of their list."""
    count = int(walker.record[VIOLATED])
    for at in range(rows):
        length, more = count // rows, count % rows
        length_here = length + (1 if at < more else 0)
        chosen = below(walker.key, walker.record[STEP], DRAW_ROW + at, length_here)
        position = at * length + min(at, more) + chosen
        row = walker.violated[position]
        put(model, walker, at, row, need_of(model, walker, row), DRAW_OFFSET + at)


@part
def sampled(walker, rows):
    """Return the number of entries in the sample, and note what stands before each row."""
    total = 0
    for at in range(rows):
        walker.sample[BEFORE + at] = total
        total += min(walker.sample[LENGTHS + at], ROW_ENTRIES)
    return total


@part
def _movable(row_column, row_value, values, bounds, kinds, window, need):
    """Return column and value of the first of some entries of a row whose column can move.

    ``kinds`` holds the numbers of binary and of integer columns, ``window`` the row's start, its
    length, where its look begins, and the candidate's number in it.
    """
    start, length, offset, number = window
    j, value = 0, 0.0
    for look in range(LOOKS):
        if look > 0 and number >= length:
            break
        entry = offset + number
        if entry >= length:
            entry -= length
        entry += start
        j = int(row_column[entry])
        x = float(values[2 * j])
        value = tight(bounds, kinds, j, x, float(row_value[entry]), need)
        if abs(value - x) > LEAST_GAIN:
            break
        number += ROW_ENTRIES
    return j, value


@numba.njit(inline="always")
def _sampled_column(model, walker, at, candidate):
    """Return column and value of an entry of the sample."""
    sample = walker.sample
    window = (
        sample[STARTS + at],
        sample[LENGTHS + at],
        sample[OFFSETS + at],
        candidate - sample[BEFORE + at],
    )
    return _movable(
        model.row_column, model.row_value, walker.values, model.bounds,
        (model.binaries, model.integers), window, walker.needs[at],
    )  # fmt: skip


@numba.njit(inline="always")
def _objective_column(model, start, number):
    at = start + number
    return int(model.objective_columns[at if at < model.objectives else at - model.objectives])


@part
def search(model, walker, rows, entries, breaks, weak, purpose):
    """Return the best of the sample's entries and of moves that lower the objective."""
    record, cells, values, sample = walker.record, walker.cells, walker.values, walker.sample
    column_start, column_row = model.column_start, model.column_row
    column_value, ranges = model.column_value, model.ranges
    visited = 0
    base = draw(walker.key, record[STEP], purpose)
    start = below(walker.key, record[STEP], DRAW_BREAK, model.objectives) if breaks else 0
    jump = record[JUMP] > 0.0
    best = NO_CHOICE
    at = 0
    for candidate in range(entries + breaks):
        if candidate < entries:
            while at + 1 < rows and candidate >= sample[BEFORE + at + 1]:
                at += 1
            j, value = _sampled_column(model, walker, at, candidate)
        else:
            j = _objective_column(model, start, candidate - entries)
            value = breaking(model, record, j, float(values[2 * j]))
        delta = value - float(values[2 * j])
        if abs(delta) <= LEAST_GAIN or _forbidden(record, j, delta, float(values[2 * j + 1]), weak):
            continue
        begin, end = column_start[j], column_start[j + 1]
        visited += end - begin
        if end - begin <= LONG_COLUMN:
            progress, bonus = rows_score(
                column_row, column_value, cells, ranges, model.inequalities,
                begin, end, 1, jump, delta,
            )  # fmt: skip
        else:
            progress, bonus = _long_rows_score(
                walker.lanes, column_row, column_value, cells, ranges, model.inequalities,
                begin, end, jump, delta,
            )  # fmt: skip
        gain, room = objective_score(model, record, j, delta)
        progress += gain
        bonus = min(max(bonus + room, -1e9), 1e9)
        tie = tie_rank(base, candidate)
        stamp = abs(float(values[2 * j + 1]))
        if better(progress, bonus, tie, stamp, best):
            best = (progress, bonus, tie, j, value, stamp)
    walker.notes[VISITED_NOW] += visited
    return best


@part
def lift(model, walker, start, window):
    """Return the best step of one objective column that keeps every row."""
    column_start, column_row, column_value = (
        model.column_start,
        model.column_row,
        model.column_value,
    )
    cells, ranges, inequalities = walker.cells, model.ranges, model.inequalities
    base = draw(walker.key, walker.record[STEP], DRAW_LIFT_TIE)
    best = NO_CHOICE
    for candidate in range(window):
        j = _objective_column(model, start, candidate)
        begin, end = column_start[j], column_start[j + 1]
        walker.notes[VISITED_NOW] += end - begin
        cost, x = float(model.costs[j]), float(walker.values[2 * j])
        sign = -1.0 if cost > 0.0 else 1.0
        excess = 0.5 * TOLERANCE if j < model.integers else 0.0
        most = NONE
        for e in range(begin, end):
            row = column_row[e]
            left = float(cells[2 * row])
            pace = sign * float(column_value[e])
            if pace < 0.0:
                width = UNBOUNDED if row < inequalities else float(ranges[row - inequalities])
                left = width - left
            most = min(most, max(left + excess, 0.0) / abs(pace))
        if j < model.integers:
            most = np.floor(most)
        value = clipped(model.bounds, j, x + sign * most)
        gain = abs(cost) * abs(value - x)
        tie = tie_rank(base, candidate)
        if gain > LEAST_GAIN and abs(value - x) > LEAST_GAIN and better(gain, 0.0, tie, 0.0, best):
            best = (gain, 0.0, tie, j, value, 0.0)
    return best


@part
def _broken_row(model, walker, j, delta):
    """Return the heaviest row that a move would break, or -1, and what would repair it."""
    base = draw(walker.key, walker.record[STEP], DRAW_BROKEN_TIE)
    begin = model.column_start[j]
    worst, need, worst_lane = NO_CHOICE, 0.0, 0
    for e in range(begin, model.column_start[j + 1]):
        row = int(model.column_row[e])
        before, width = float(walker.cells[2 * row]), _width(model, row)
        after = before - model.column_value[e] * delta
        if violation(before, width) > 0.0 or violation(after, width) == 0.0:
            continue
        weight, tie = float(walker.cells[2 * row + 1]), tie_rank(base, (e - begin) % MOST_TIES)
        lane = (e - begin) % walker.lanes
        same = weight == worst[0] and tie == worst[2]
        if better(weight, 0.0, tie, 0.0, worst) or (same and lane < worst_lane):
            worst, worst_lane = (weight, 0.0, tie, row, 0.0, 0.0), lane
            need = after if after < 0.0 else after - width
    return worst[3], need


@part
def _coefficient(column_row, column_value, low, end, row):
    """Return the coefficient of a row among entries ``low`` to ``end`` of a column, or 0."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if column_row[middle] < row:
            low = middle + 1
        else:
            high = middle
    return float(column_value[low]) if low < end and column_row[low] == row else 0.0


@part
def _second_score(model, walker, jump, j, delta, first, first_delta):
    """Return what moving column ``j`` adds after ``first`` has moved."""
    progress, bonus = 0.0, 0.0
    column_row, column_value = model.column_row, model.column_value
    cells, ranges, inequalities = walker.cells, model.ranges, model.inequalities
    low, high = model.column_start[first], model.column_start[first + 1]
    for e in range(model.column_start[j], model.column_start[j + 1]):
        row = column_row[e]
        width = UNBOUNDED if row < inequalities else float(ranges[row - inequalities])
        weight, before = float(cells[2 * row + 1]), float(cells[2 * row])
        a = _coefficient(column_row, column_value, low, high, row)
        middle = before if a == 0.0 else before - a * first_delta
        after = middle - column_value[e] * delta
        gain, room = _row_score(jump, before, after, weight, width)
        progress += gain
        bonus += room
        if a != 0.0:
            gain, room = _row_score(jump, before, middle, weight, width)
            progress -= gain
            bonus -= room
    return progress, bonus


@part
def _pair_correction(model, record, first, first_delta, j, delta):
    """Return what the second column changes of the pair's objective score."""
    one = float(model.costs[first]) * first_delta
    both = one + float(model.costs[j]) * delta
    return _objective_progress(record, both) - _objective_progress(record, one)


@part
def partner(model, walker, chosen):
    """Return the best column to move after the chosen one, so that a row it breaks holds again."""
    record = walker.record
    first = chosen[3]
    first_delta = chosen[4] - float(walker.values[2 * first])
    row, need = _broken_row(model, walker, first, first_delta)
    best = NO_CHOICE
    if row < 0:
        return best
    put(model, walker, 0, row, need, DRAW_PAIR_OFFSET)
    jump = record[JUMP] > 0.0
    base = draw(walker.key, record[STEP], DRAW_PAIR_TIE)
    for candidate in range(sampled(walker, 1)):
        j, value = _sampled_column(model, walker, 0, candidate)
        delta = value - float(walker.values[2 * j])
        length = model.column_start[j + 1] - model.column_start[j]
        if (
            j == first
            or length > LONG_COLUMN
            or abs(delta) <= LEAST_GAIN
            or _forbidden(record, j, delta, float(walker.values[2 * j + 1]), False)
        ):
            continue
        walker.notes[VISITED_NOW] += length
        progress, bonus = _second_score(model, walker, jump, j, delta, first, first_delta)
        progress += chosen[0]
        progress += _pair_correction(model, record, first, first_delta, j, delta)
        bonus = min(max(bonus, -1e9), 1e9)
        tie = tie_rank(base, candidate)
        stamp = abs(float(walker.values[2 * j + 1]))
        if better(progress, bonus, tie, stamp, best):
            best = (progress, bonus, tie, j, value, stamp)
    return best
