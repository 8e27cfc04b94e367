"""The way back, step by step from the last: the point and the duals, each on its own.

``x`` and ``y`` hold the reduced problem's values at what is alive. At each step the activities of
the living rows and the reduced costs of the living columns are kept up to date, so that the whole
way back costs a few looks at each entry of the matrix. With ``scale`` 0 instead of 1 a *ray* is
brought back: of sides, bounds and costs only their being infinite counts then.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from gpu_bridge.presolve.light.places import (
    COLUMN_AT_BOUND,
    FIRST_AT_LOWER,
    FIRST_AT_UPPER,
    ROW_AT_LOWER,
    ROW_AT_UPPER,
    SECOND_AT_LEAST,
    SECOND_AT_MOST,
)
from gpu_bridge.presolve.light.workspace import (
    ABSORBED_AT_LOWER,
    ABSORBED_AT_UPPER,
    ABSORBED_BETWEEN,
    ALIVE,
    FIXED_COLUMN,
    FORCING_ROW,
    PARALLEL_COLUMN,
    PARALLEL_ROW,
    RECEDING_COLUMN,
    SINGLETON_ROW,
    STEPS,
    nearest_to_zero,
)

NOISE = 1e-9
"""Multipliers up to this size do not decide what is basic."""


@compiled
def undo_point(w, x, activity, place, scale):
    """Complete ``x`` (n,), which holds a point of the reduced problem or, with scale 0, a ray.

    ``activity`` (m,) is scratch; ``place`` (steps,) says what holds each value that was chosen:
    for the basis, in the words of ``basis``.
    """
    activity[:] = 0.0
    for i in range(activity.size):
        if w.row_removed[i] == ALIVE:
            activity[i] = _activity(w, i, x, ALIVE - 1)
    for step in range(w.count[STEPS] - 1, -1, -1):
        kind, i, j = w.kind[step], w.row[step], w.column[step]
        if i >= 0 and w.row_removed[i] == step:
            activity[i] = _activity(w, i, x, step)
        if j < 0 or w.column_removed[j] != step:
            continue
        if kind == PARALLEL_COLUMN:
            place[step] = _split(w, x, step, scale)  # which leaves all activities as they are
            continue
        if kind == FIXED_COLUMN:
            x[j] = scale * w.payload[step, 0]
        elif kind == RECEDING_COLUMN:
            x[j], place[step] = _far_enough(w, activity, j, step, scale)
        else:
            x[j], place[step] = _absorbed(w, activity[i], step, scale)
        for entry in range(w.column_start[j], w.column_start[j + 1]):
            if w.row_removed[w.column_index[entry]] > step:
                activity[w.column_index[entry]] += w.column_value[entry] * x[j]


@merged
def _scaled(value, scale):
    return value * scale if abs(value) < np.inf else value


@merged
def _activity(w, i, x, step):
    """Return the activity of a row over the columns that outlive a step."""
    total = 0.0
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        j = w.row_index[entry]
        if w.column_removed[j] > step:
            total += w.row_value[entry] * x[j]
    return total


@merged
def _absorbed(w, rest, step, scale):
    """Return the value of a column that was made slack of its row, and where that stands."""
    low, high = _scaled(w.payload[step, 0], scale), _scaled(w.payload[step, 1], scale)
    a, j = w.payload[step, 2], w.column[step]
    least, most = _scaled(w.lower[j], scale), _scaled(w.upper[j], scale)
    if w.kind[step] == ABSORBED_AT_LOWER:
        value, place = (low - rest) / a, ROW_AT_LOWER
    elif w.kind[step] == ABSORBED_AT_UPPER:
        value, place = (high - rest) / a, ROW_AT_UPPER
    else:
        value, place = nearest_to_zero(least, most), COLUMN_AT_BOUND
        if a * value < low - rest:
            value, place = (low - rest) / a, ROW_AT_LOWER
        elif a * value > high - rest:
            value, place = (high - rest) / a, ROW_AT_UPPER
    return min(max(value, least), most), place


@merged
def _far_enough(w, activity, j, step, scale):
    """Return a value at which all rows of a receding column hold, and the row that holds it."""
    down = w.payload[step, 0] < 0.0
    value = nearest_to_zero(_scaled(w.lower[j], scale), _scaled(w.upper[j], scale))
    place = -1
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i, a = w.column_index[entry], w.column_value[entry]
        if w.row_removed[i] <= step:
            continue
        # receding moves the activity away from the one finite side
        side = w.row_upper[i] if (a > 0.0) == down else w.row_lower[i]
        if abs(side) < np.inf:
            limit = (_scaled(side, scale) - activity[i]) / a
            if (limit < value) if down else (limit > value):
                value, place = limit, i
    return value, place


@merged
def _split(w, x, step, scale):
    """Share a merged column out to the two it was made of, one of them at a bound if possible."""
    k, j, ratio = w.column[step], int(w.payload[step, 0]), w.payload[step, 1]
    low, high = _scaled(w.payload[step, 2], scale), _scaled(w.payload[step, 3], scale)
    at_lower, at_upper = ratio * _scaled(w.lower[k], scale), ratio * _scaled(w.upper[k], scale)
    least, most = min(at_lower, at_upper), max(at_lower, at_upper)
    merged = x[j]
    second = nearest_to_zero(least, most)
    place = SECOND_AT_LEAST if second == least else SECOND_AT_MOST
    first = merged - second
    if first < low or first > high:
        place = FIRST_AT_LOWER if first < low else FIRST_AT_UPPER
        first = min(max(first, low), high)
        second = min(max(merged - first, least), most)
    x[j], x[k] = first, second / ratio
    return place


@compiled
def undo_duals(w, y, z, leaning, scale):
    """Complete ``y`` (m,), which holds duals of the reduced problem or, with scale 0, a ray.

    ``z`` (n,) is scratch; ``leaning`` (steps,) says, for the basis, which way a multiplier leaned
    that two had to share, and for a forcing row 1 + the column that fixes its dual.
    """
    z[:] = 0.0
    for j in range(z.size):
        if w.column_removed[j] == ALIVE:
            z[j] = _reduced_cost(w, j, y, ALIVE - 1, scale)
    for step in range(w.count[STEPS] - 1, -1, -1):
        kind, i, j = w.kind[step], w.row[step], w.column[step]
        if kind == FORCING_ROW:
            y[i], leaning[step] = _forcing_dual(w, i, z, step)
            _charge(w, i, y[i], z, step)
        elif kind == SINGLETON_ROW:
            origin = int(w.payload[step, 3])
            leaning[step] = _sign(z[j])
            if (z[j] > 0.0 and origin & 1) or (z[j] < 0.0 and origin & 2):
                y[i] = z[j] / w.payload[step, 0]
                z[j] = 0.0
        elif kind == PARALLEL_ROW:
            kept, origin = int(w.payload[step, 0]), int(w.payload[step, 2])
            leaning[step] = _sign(y[kept])
            if (y[kept] > 0.0 and origin & 1) or (y[kept] < 0.0 and origin & 2):
                y[i] = y[kept] / w.payload[step, 1]  # both together charge what one did
                y[kept] = 0.0
        elif kind in (ABSORBED_AT_LOWER, ABSORBED_AT_UPPER, ABSORBED_BETWEEN):
            # the row's other columns got back what they were charged: their z stays
            z[j] = -w.payload[step, 2] * y[i]
            y[i] += scale * w.payload[step, 3]
        elif kind == PARALLEL_COLUMN:
            z[j] = w.payload[step, 1] * z[int(w.payload[step, 0])]
        elif j >= 0:
            z[j] = _reduced_cost(w, j, y, step, scale)


@merged
def _reduced_cost(w, j, y, step, scale):
    """Return the reduced cost of a column over the rows that outlive a step."""
    total = scale * w.cost[j]
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i = w.column_index[entry]
        if w.row_removed[i] > step:
            total -= w.column_value[entry] * y[i]
    return total


@merged
def _forcing_dual(w, i, z, step):
    """Return the dual nearest to zero that gives the forced columns reduced costs of their sign."""
    to_most = w.payload[step, 0] > 0.0
    dual, column = 0.0, 0
    for entry in range(w.row_start[i], w.row_start[i + 1]):
        j = w.row_index[entry]
        if w.column_removed[j] > step:
            ratio = z[j] / w.row_value[entry]
            if (ratio > dual) if to_most else (ratio < dual):
                dual, column = ratio, 1 + j
    return dual, column


@merged
def _sign(multiplier):
    if abs(multiplier) <= NOISE:
        return 0
    return 1 if multiplier > 0.0 else -1


@merged
def _charge(w, i, dual, z, step):
    """Take a row's dual into the reduced costs of its living columns."""
    if dual != 0.0:
        for entry in range(w.row_start[i], w.row_start[i + 1]):
            if w.column_removed[w.row_index[entry]] > step:
                z[w.row_index[entry]] -= w.row_value[entry] * dual
