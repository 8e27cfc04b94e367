"""The way back for a simplex basis, by the places that point and duals took on theirs.

Each step puts as many basic columns and rows in as it puts rows in, so that the basis keeps its
size; degenerate choices follow the statuses, others the multipliers.
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
    SECOND_AT_LEAST,
)
from gpu_bridge.presolve.light.workspace import (
    ABSORBED_AT_LOWER,
    ABSORBED_AT_UPPER,
    ABSORBED_BETWEEN,
    FIXED_COLUMN,
    FORCING_ROW,
    PARALLEL_COLUMN,
    PARALLEL_ROW,
    RECEDING_COLUMN,
    REDUNDANT_ROW,
    SINGLETON_ROW,
    STEPS,
)
from solvers.outcome import BasisStatus

LOWER, BASIC = int(BasisStatus.LOWER), int(BasisStatus.BASIC)
UPPER, ZERO = int(BasisStatus.UPPER), int(BasisStatus.ZERO)


@compiled
def undo_basis(w, columns, rows, place, leaning):
    """Complete statuses of columns (n,) and rows (m,), which hold those of the reduced problem."""
    for step in range(w.count[STEPS] - 1, -1, -1):
        kind, i, j = w.kind[step], w.row[step], w.column[step]
        if kind == REDUNDANT_ROW:
            rows[i] = BASIC
        elif kind == FIXED_COLUMN:
            columns[j] = _standing(w, j, w.payload[step, 0])
        elif kind == FORCING_ROW:
            rows[i] = BASIC
            if leaning[step] > 0:
                rows[i] = LOWER if w.payload[step, 0] > 0.0 else UPPER
                columns[leaning[step] - 1] = BASIC
        elif kind == SINGLETON_ROW:
            a, origin = w.payload[step, 0], int(w.payload[step, 3])
            rows[i], columns[j] = _shared(columns[j], leaning[step], origin, a)
        elif kind == PARALLEL_ROW:
            kept = int(w.payload[step, 0])
            ratio, origin = w.payload[step, 1], int(w.payload[step, 2])
            rows[i], rows[kept] = _shared(rows[kept], leaning[step], origin, ratio)
        elif kind == RECEDING_COLUMN:
            columns[j] = _standing(w, j, 0.0)
            if place[step] >= 0:
                limiting = place[step]
                columns[j] = BASIC
                rows[limiting] = UPPER if w.row_upper[limiting] < np.inf else LOWER
        elif kind == PARALLEL_COLUMN:
            _part(w, columns, step, place[step])
        elif kind in (ABSORBED_AT_LOWER, ABSORBED_AT_UPPER, ABSORBED_BETWEEN):
            _unfold(w, columns, rows, step, place[step])


@merged
def _standing(w, j, value):
    """Return the status of a nonbasic column at a value."""
    if value == w.lower[j]:
        return LOWER
    if value == w.upper[j]:
        return UPPER
    if w.lower[j] > -np.inf:
        return LOWER
    return UPPER if w.upper[j] < np.inf else ZERO


@merged
def _mirrored(status):
    if status == LOWER:
        return UPPER
    return LOWER if status == UPPER else status


@merged
def _shared(status, leaning, origin, factor):
    """Share a status out to the row that gave a side, by its factor, and to what took it over.

    ``origin`` has 1 where the lower side came from the row and 2 where the upper did.
    """
    if status == BASIC:
        return BASIC, BASIC
    if leaning > 0:
        status = LOWER
    elif leaning < 0:
        status = UPPER
    from_row = (status == LOWER and origin & 1) or (status == UPPER and origin & 2)
    if not from_row:
        return BASIC, status
    return (status if factor > 0.0 else _mirrored(status)), BASIC


@merged
def _unfold(w, columns, rows, step, place):
    """Give a column back that was slack of its row."""
    i, j, a = w.row[step], w.column[step], w.payload[step, 2]
    status = rows[i]
    if status == BASIC:
        if place == COLUMN_AT_BOUND:
            columns[j] = _standing(w, j, 0.0)
            if w.lower[j] > -np.inf and w.upper[j] < np.inf:
                columns[j] = LOWER if abs(w.lower[j]) <= abs(w.upper[j]) else UPPER
        else:
            columns[j] = BASIC
            rows[i] = LOWER if place == ROW_AT_LOWER else UPPER
        return
    # what was left at its lower side stands there by the greatest value of the slack
    at_most = status == LOWER
    columns[j] = UPPER if at_most == (a > 0.0) else LOWER
    if w.kind[step] == ABSORBED_AT_LOWER:
        rows[i] = LOWER
    elif w.kind[step] == ABSORBED_AT_UPPER:
        rows[i] = UPPER


@merged
def _part(w, columns, step, place):
    """Give a column back that was merged into another."""
    k, j, ratio = w.column[step], int(w.payload[step, 0]), w.payload[step, 1]
    status = columns[j]
    if status == BASIC:
        if place in (FIRST_AT_LOWER, FIRST_AT_UPPER):
            columns[j] = LOWER if place == FIRST_AT_LOWER else UPPER
            columns[k] = BASIC
        elif w.lower[k] == -np.inf and w.upper[k] == np.inf:
            columns[k] = ZERO
        else:
            columns[k] = LOWER if (place == SECOND_AT_LEAST) == (ratio > 0.0) else UPPER
    else:
        columns[k] = status if ratio > 0.0 else _mirrored(status)
