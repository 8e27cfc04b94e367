"""Numba twin of ``restart.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.mip.walkers.kernels.arithmetic_cpu import chance, draw, key_of, part
from solvers.mip.walkers.kernels.fields import NONE, RECORD, Field

STEP, ORIGIN, REFRESH = int(Field.STEP), int(Field.ORIGIN), int(Field.REFRESH)
JUMP = int(Field.JUMP)
IDLE, LAST, BEST = int(Field.IDLE), int(Field.LAST), int(Field.BEST)
OBJECTIVE_WEIGHT = int(Field.OBJECTIVE_WEIGHT)


@part
def _changed(weight, mode, least):
    """Return a weight as a restart leaves it: reset, kept, or halved."""
    if mode == 0:
        return least
    return max(least, np.floor(0.5 * weight) if mode == 2 else weight)


@twin
def restart(
    rows, columns, binaries, integers, bounds, scales, points, origins, weights, shares,
    values, cells, records, walkers, seed, epoch,
):  # fmt: skip
    """Set walkers to the points they shall go on from."""
    for walker in prange(walkers):
        origin = origins[walker]
        if origin < 0:
            continue
        follows = origin < walkers
        key = key_of(seed, walker, epoch)
        own = 2 * columns * walker
        for j in range(columns):
            if follows:
                value = float(values[2 * (columns * origin + j)])
            else:
                value = float(points[columns * (origin - walkers) + j])
            if chance(key, j, 0, shares[walker]):
                low, high = float(bounds[2 * j]), float(bounds[2 * j + 1])
                if j < binaries:
                    value = 1.0 - value
                else:
                    reach = min(high - low, max(1.0, 0.2 * abs(value)))
                    turn = 2.0 * (float(draw(key, j, 1)) / 4294967296.0) - 1.0
                    value += turn * reach
                    if j < integers:
                        value = np.ceil(value) if turn > 0.0 else np.floor(value)
                    value = min(max(value, low), high)
            values[own + 2 * j] = value
            values[own + 2 * j + 1] = 0.0
        leader = origin if follows else walker
        jumps = records[RECORD * walker + JUMP] > 0.0
        others = records[RECORD * leader + JUMP] > 0.0
        for row in range(rows):
            scale = float(scales[row])
            weight = 1.0
            if weights[walker] != 0:
                weight = float(cells[2 * (rows * leader + row) + 1]) / (scale if others else 1.0)
            weight = _changed(weight, weights[walker], 1.0)
            cells[2 * (rows * walker + row) + 1] = weight * (scale if jumps else 1.0)
        record = RECORD * walker
        records[record + REFRESH] = 1.0
        records[record + ORIGIN] = records[record + STEP]
        records[record + IDLE] = 0.0
        records[record + LAST] = columns
        records[record + BEST] = NONE
        records[record + OBJECTIVE_WEIGHT] = _changed(
            records[RECORD * leader + OBJECTIVE_WEIGHT], weights[walker], 0.0 if jumps else 1.0
        )
