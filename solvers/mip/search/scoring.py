"""What a move is worth: progress and bonus of Local-MIP, or the drop of the weighted violation.

A row has two sides, each with a weight of its own. Progress counts a side that becomes satisfied
as its weight, one that becomes violated as minus its weight, one that stays violated as half of
it, up or down; the objective is one more side, satisfied below the target. The bonus counts rows
that come to hold, or no longer hold, with room to spare. (Lin, Zou and Cai, CP 2024; the drop of
the violation is that of Luteberget and Sartor, MPC 2023.)
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.loops import compiled, inlined
from solvers.mip.search.settings import SMALLEST_STEP, VIOLATION_TOLERANCE
from solvers.mip.search.state import BREAKPOINTS


@inlined
def objective_progress(status, jump, change):
    """Return the progress of the objective's side for a change of the objective."""
    if change == 0.0:
        return 0.0
    if jump == 1:
        return -status.objective_weight * status.objective_scale * change
    weight = status.objective_weight
    after = status.objective + change
    if status.objective > status.target:
        if after <= status.target:
            return weight
        return 0.5 * weight if change < 0.0 else -0.5 * weight
    return -weight if after > status.target else 0.0


@inlined
def row_progress(row, jump, before, after):
    """Return what one row gains from a change of its activity.

    Comparisons become numbers here, not branches: which rows a move wins no processor foresees.
    """
    if jump == 1:
        lower_drop = max(row.lower - before, 0.0) - max(row.lower - after, 0.0)
        upper_drop = max(before - row.upper, 0.0) - max(after - row.upper, 0.0)
        return row.scale * (row.lower_weight * lower_drop + row.upper_weight * upper_drop)
    half = 0.5 * np.float64(after > before) - 0.5 * np.float64(after < before)
    lower, upper = row.lower - VIOLATION_TOLERANCE, row.upper + VIOLATION_TOLERANCE
    below, above = np.float64(before < lower), np.float64(before > upper)
    still_below, still_above = np.float64(after < lower), np.float64(after > upper)
    gain = row.lower_weight * (below - still_below + half * below * still_below)
    return gain + row.upper_weight * (above - still_above - half * above * still_above)


@inlined
def progress_of(matrix, state, parameters, j, delta):
    """Return the progress of changing column j by ``delta``, or the drop of the violation."""
    status = state.status[0]
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    status.work += last - first
    progress = objective_progress(status, parameters.jump, state.columns[j].cost * delta)
    for k in range(first, last):
        row = state.rows[np.uint32(matrix.column_row[np.uint64(k)])]
        before = row.activity
        after = before + matrix.column_value[np.uint64(k)] * delta
        progress += row_progress(row, parameters.jump, before, after)
    return progress


@compiled
def bonus_of(matrix, state, j, delta):
    """Return the bonus of changing column j by ``delta``."""
    status = state.status[0]
    change = state.columns[j].cost * delta
    bonus = 0.0
    if change < 0.0 and status.objective + change < status.best:
        bonus = status.objective_weight
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    status.work += last - first
    for k in range(first, last):
        row = state.rows[np.uint32(matrix.column_row[np.uint64(k)])]
        before = row.activity
        after = before + matrix.column_value[np.uint64(k)] * delta
        lower, upper = row.lower + VIOLATION_TOLERANCE, row.upper - VIOLATION_TOLERANCE
        was = np.float64(before > lower) * np.float64(before < upper)
        now = np.float64(after > lower) * np.float64(after < upper)
        bonus += (now - was) * min(row.lower_weight, row.upper_weight)
    return bonus


@compiled
def choose(matrix, state, parameters, pairs, count):
    """Return the best of ``count`` candidates, -1 without one; its progress goes to the status.

    Ties go to the larger bonus, which is only then worked out, then to the older column.
    """
    status = state.status[0]
    best, best_progress, best_bonus = -1, -np.inf, np.nan
    for place in range(count):
        j, step = pairs[place].place, pairs[place].value
        progress = progress_of(matrix, state, parameters, j, step)
        if progress < best_progress:
            continue
        bonus = np.nan
        if progress == best_progress:
            other, other_step = pairs[best].place, pairs[best].value
            if j == other and step == other_step:
                continue
            if np.isnan(best_bonus):
                best_bonus = bonus_of(matrix, state, other, other_step)
            bonus = bonus_of(matrix, state, j, step)
            if bonus < best_bonus or (
                bonus == best_bonus and state.columns[j].changed >= state.columns[other].changed
            ):
                continue
        best, best_progress, best_bonus = place, progress, bonus
    status.progress = best_progress
    return best


@compiled
def jump_value(matrix, state, j):
    """Return the value of column j with the least weighted violation, the others kept.

    The violation is convex and piecewise linear in one column: its breakpoints are where rows
    meet their sides, and it is least where its slope turns from negative. Columns with more
    breakpoints than there is room for stay where they are.
    """
    status = state.status[0]
    column = state.columns[j]
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    if 2 * (last - first) > BREAKPOINTS:
        return column.x
    status.work += last - first
    slope = status.objective_weight * status.objective_scale * column.cost
    count = np.int64(0)
    for k in range(first, last):
        row = state.rows[np.uint32(matrix.column_row[np.uint64(k)])]
        value = matrix.column_value[np.uint64(k)]
        size = abs(value) * row.scale
        rising, falling = row.lower_weight * size, row.upper_weight * size
        at_lower = column.x + (row.lower - row.activity) / value
        at_upper = column.x + (row.upper - row.activity) / value
        if row.lower > -np.inf:
            slope -= rising if value > 0.0 else 0.0
            count = _insert(state.breaks, count, at_lower, rising)
        if row.upper < np.inf:
            slope -= falling if value < 0.0 else 0.0
            count = _insert(state.breaks, count, at_upper, falling)
    place = 0
    while place < count and slope + state.breaks[1, place] < 0.0:
        slope += state.breaks[1, place]
        place += 1
    if slope >= 0.0:
        value = column.lower if column.lower > -1e14 else column.x
    elif place < count:
        value = state.breaks[0, place]
    else:
        value = column.upper if column.upper < 1e14 else column.x
    if column.whole == 1:
        near = np.round(value)
        if abs(value - near) <= SMALLEST_STEP:
            value = near
        else:
            value = np.floor(value) if value < column.x else np.ceil(value)
    return min(max(value, column.lower), column.upper)


@inlined
def _insert(breaks, count, point, slope):
    """Put a breakpoint in its place among ``count`` sorted ones; return their number."""
    at = count
    while at > 0 and breaks[0, at - 1] > point:
        breaks[0, at], breaks[1, at] = breaks[0, at - 1], breaks[1, at - 1]
        at -= 1
    breaks[0, at], breaks[1, at] = point, slope
    return count + 1
