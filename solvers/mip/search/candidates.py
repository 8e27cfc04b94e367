"""Where moves come from: violated and satisfied rows, the objective, and lifts."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.loops import compiled, inlined
from solvers.mip.search.moves import draw
from solvers.mip.search.scoring import jump_value
from solvers.mip.search.settings import SMALLEST_STEP, VIOLATION_TOLERANCE

LIFT_WINDOW = 64
"""Columns looked at for a better lift after the first (notes, section 4.4)."""


LIFT_FADE, LIFT_LEAST = 0.7, 0.02
"""A search without a lift shortens the next by the first, at most to the second part; one that
finds a lift lengthens it again. Walks along the edge of the feasible set ask all the time."""

LONGEST_STEP = 1e14
"""Steps towards the objective's target are no longer: they would leave for the box's wall."""

ANY, NOT_BACK, FREE_ONLY = np.int64(0), np.int64(1), np.int64(2)
"""Which steps are let in: all, all but the direct way back of the last, those not forbidden."""

NONE = np.int64(0)
"""No candidates so far. (A plain 0 would be a type of its own and compile all once more.)"""


@inlined
def put(state, pairs, count, j, delta, tabu):
    """Add a step of column j, cut to its bounds, unless it is nothing or forbidden.

    ``tabu`` says which steps are forbidden.
    """
    status = state.status[0]
    column = state.columns[j]
    value = min(max(column.x + delta, column.lower), column.upper)
    delta = value - column.x
    if abs(delta) <= SMALLEST_STEP or count >= pairs.size:
        return count
    until = column.no_rise if delta > 0.0 else column.no_fall
    if tabu == FREE_ONLY and status.step < until:
        return count
    if tabu == NOT_BACK and status.step < until and column.changed >= status.step - 1:
        return count
    pairs[count].place, pairs[count].value = j, delta
    return count + 1


@inlined
def put_steps(matrix, state, parameters, j, delta, equation, pairs, count, tabu):
    """Add the steps of column j that close a gap for which it would have to change by ``delta``.

    Integers step far enough, in equations also just short of it. For Feasibility Jump the jump
    value comes first.
    """
    column = state.columns[j]
    if column.whole == 0:
        if parameters.jump == 1:
            jump = jump_value(matrix, state, j) - column.x
            count = put(state, pairs, count, j, jump, tabu)
        return put(state, pairs, count, j, delta, tabu)
    if (delta > 0.0 and column.x >= column.upper) or (delta < 0.0 and column.x <= column.lower):
        return count
    low, high = np.floor(delta + SMALLEST_STEP), np.ceil(delta - SMALLEST_STEP)
    far, short = (high, low) if delta > 0.0 else (low, high)
    if column.upper - column.lower > 1.0:
        if parameters.jump == 1:
            jump = jump_value(matrix, state, j) - column.x
            if jump != far:
                count = put(state, pairs, count, j, jump, tabu)
        if equation and short != far:
            count = put(state, pairs, count, j, short, tabu)
    return put(state, pairs, count, j, far, tabu)


@compiled
def gather_row(matrix, state, parameters, i, gap, room, pairs, count, tabu):
    """Add up to about ``room`` steps of columns of row i that close ``gap``; return the count.

    A violated row has the gap that brings its activity to the side it has left. Where the row
    has more columns than there is room for, the look round starts anywhere in it.
    """
    status = state.status[0]
    row = state.rows[i]
    equation = row.lower == row.upper
    first, length = matrix.row_start[i], matrix.row_start[i + 1] - matrix.row_start[i]
    if length == 0:
        return count
    at = 0
    if length > room:
        at = draw(status, length)
        pivot = state.pivots[i]
        if pivot.place >= 0:
            delta = gap / pivot.value
            count = put_steps(
                matrix, state, parameters, pivot.place, delta, equation, pairs, count, tabu
            )
    stop, visited, scanned = count + room, 0, min(length, parameters.scan)
    while visited < scanned and count < stop:
        k = first + at
        at += 1
        if at == length:
            at = 0
        visited += 1
        j = np.int64(matrix.row_column[np.uint64(k)])
        delta = gap / matrix.row_value[np.uint64(k)]
        count = put_steps(matrix, state, parameters, j, delta, equation, pairs, count, tabu)
    status.work += visited
    return count


@inlined
def gap_of(row):
    """Return by how much a violated row's activity has to change, with its sign."""
    if row.activity < row.lower:
        return row.lower - row.activity
    return row.upper - row.activity


@compiled
def gather_violated(matrix, state, parameters, rows, tabu):
    """Fill the candidates from so many sampled violated rows; return their number."""
    status = state.status[0]
    count = NONE
    sampled = min(rows, status.num_violated)
    for _ in range(sampled):
        i = state.violated[draw(status, status.num_violated)]
        gap = gap_of(state.rows[i])
        count = gather_row(
            matrix, state, parameters, i, gap, parameters.breadth, state.candidates,
            count, tabu,
        )  # fmt: skip
    return count


@compiled
def gather_satisfied(matrix, state, parameters, count):
    """Add steps that use up the room of sampled satisfied rows; return the count."""
    status = state.status[0]
    num_rows = state.rows.size
    for _ in range(parameters.satisfied_rows if num_rows > 0 else 0):
        i = draw(status, num_rows)
        row = state.rows[i]
        if row.place >= 0:
            continue
        side = row.upper if draw(status, 2) == 0 else row.lower
        gap = side - row.activity
        if not np.isfinite(gap) or abs(gap) <= VIOLATION_TOLERANCE:
            continue
        length = matrix.row_start[i + 1] - matrix.row_start[i]
        scanned = min(length, parameters.breadth)
        at = draw(status, max(length, 1))
        for _ in range(scanned):
            k = matrix.row_start[i] + at
            at = at + 1 if at + 1 < length else 0
            j = np.int64(matrix.row_column[k])
            delta = gap / matrix.row_value[k]
            if state.columns[j].whole == 1:
                delta = np.trunc(delta + np.copysign(SMALLEST_STEP, delta))
            count = put(state, state.candidates, count, j, delta, FREE_ONLY)
    return count


@compiled
def gather_breakthroughs(state, parameters, count, tabu):
    """Add steps of columns with a cost that reach the target, go one unit there, or all the way."""
    status = state.status[0]
    priced = state.priced.size
    if priced == 0 or status.objective <= status.target:
        return count
    gap = status.target - status.objective
    for _ in range(min(parameters.breakthroughs, priced)):
        j = state.priced[draw(status, priced)]
        column = state.columns[j]
        delta = gap / column.cost
        if column.whole == 1:
            delta = np.ceil(delta) if delta > 0.0 else np.floor(delta)
            if delta != 0.0 and column.upper - column.lower > 1.0:
                count = put(state, state.candidates, count, j, np.sign(delta), tabu)
        elif draw(status, 2) == 0:
            value = column.lower if delta < 0.0 else column.upper
            delta = value - column.x
        if abs(delta) < LONGEST_STEP:
            count = put(state, state.candidates, count, j, delta, tabu)
    return count


@compiled
def find_lift(matrix, state, parameters):
    """Return (column, step) that lowers the objective most and keeps every row; (-1, 0) if none.

    Columns with a cost are looked at in turn, from where the last search ended; within a window
    after the first find the best counts.
    """
    status = state.status[0]
    best, best_step = -1, 0.0
    best_gain = SMALLEST_STEP * max(1.0, abs(status.objective))
    visited, window = 0, 0
    most = status.lift_part * parameters.lift_work
    for _ in range(state.priced.size):
        if visited > most or window > LIFT_WINDOW:
            break
        status.pointer += 1
        if status.pointer >= state.priced.size:
            status.pointer = 0
        j = state.priced[status.pointer]
        visited += 1
        window += best >= 0
        column = state.columns[j]
        if abs(column.cost) * (column.upper - column.lower) <= best_gain:
            continue
        sign = -1.0 if column.cost > 0.0 else 1.0
        length = column.x - column.lower if column.cost > 0.0 else column.upper - column.x
        shortest = 1.0 if column.whole == 1 else SMALLEST_STEP
        k, last = matrix.column_start[j], matrix.column_start[j + 1]
        while k < last and length >= shortest - SMALLEST_STEP:
            row = state.rows[np.uint32(matrix.column_row[np.uint64(k)])]
            effect = sign * matrix.column_value[k]
            room = row.upper - row.activity if effect > 0.0 else row.activity - row.lower
            length = min(length, max(room, 0.0) / abs(effect))
            visited += 1
            k += 1
        if column.whole == 1:
            length = np.floor(length + SMALLEST_STEP)
        if length >= shortest and length < LONGEST_STEP and length * abs(column.cost) > best_gain:
            best, best_step, best_gain = j, sign * length, length * abs(column.cost)
    grown, faded = status.lift_part / LIFT_FADE, status.lift_part * LIFT_FADE
    status.lift_part = min(1.0, grown) if best >= 0 else max(LIFT_LEAST, faded)
    status.work += visited
    return best, best_step
