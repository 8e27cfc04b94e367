"""Slack, violated rows and objective anew from the values, as ``refresh.cuh`` has it."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.walkers.kernels.arithmetic_cpu import lane_sum, part, violation
from solvers.mip.walkers.whole.kernels.fields import CHUNK, PIECES
from solvers.mip.walkers.whole.kernels.places_cpu import OBJECTIVE, REFRESH
from solvers.mip.walkers.whole.kernels.tree_cpu import set_violated
from solvers.mip.walkers.whole.kernels.walk_cpu import LANES, width_of

BLOCK = 256
LANE_ROW = 64


@part
def _activity(model, values, first, end, stride):
    total = 0.0
    for e in range(first, end, stride):
        total += float(model.row_value[e]) * float(values[2 * model.row_column[e]])
    return total


@part
def _warp_activity(model, values, begin, end):
    parts = np.zeros(LANES)
    for lane in range(LANES):
        parts[lane] = _activity(model, values, begin + lane, end, LANES)
    return lane_sum(parts)


@part
def _row_activity(model, values, row):
    """Return a row's activity, summed by a lane, a warp, or chunk by chunk."""
    begin, end = model.row_start[row], model.row_start[row + 1]
    if end - begin <= LANE_ROW:
        return _activity(model, values, begin, end, 1)
    if end - begin <= CHUNK:
        return _warp_activity(model, values, begin, end)
    parts = np.zeros(LANES)
    for chunk in range((end - begin + CHUNK - 1) // CHUNK):
        first = begin + chunk * CHUNK
        parts[chunk % LANES] += _warp_activity(model, values, first, min(first + CHUNK, end))
    return lane_sum(parts)


@part
def empty_claims(walk):
    """Forget who claimed which row in earlier rounds."""
    for row in range(walk.model.rows):
        walk.claims[row] = 0


@part
def refresh(walk):
    """Compute slack, violated rows and objective anew from the values."""
    model, values = walk.model, walk.values
    empty_claims(walk)
    for node in range(walk.tree.nodes.size):
        walk.tree.nodes[node] = 0
    for row in range(model.rows):
        slack = float(model.sides[row]) - _row_activity(model, values, row)
        walk.cells[2 * row] = slack
        if violation(slack, width_of(model, row)) > 0.0:
            set_violated(walk.tree, row, True)
    pieces, parts = np.zeros(PIECES), np.zeros(BLOCK)
    for j in range(model.columns):
        pieces[j % PIECES] += float(model.costs[j]) * float(values[2 * j])
    for piece in range(PIECES):
        parts[piece % BLOCK] += pieces[piece]
    walk.record[OBJECTIVE] = lane_sum(parts)
    walk.record[REFRESH] = 0.0
