"""Numba twin of ``restart.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.mip.walkers.kernels.arithmetic_cpu import chance, draw, key_of
from solvers.mip.walkers.kernels.fields import NONE, RECORD, Field

STEP, ORIGIN, REFRESH = int(Field.STEP), int(Field.ORIGIN), int(Field.REFRESH)
IDLE, LAST, BEST = int(Field.IDLE), int(Field.LAST), int(Field.BEST)
OBJECTIVE_WEIGHT = int(Field.OBJECTIVE_WEIGHT)


@twin
def restart(
    rows, columns, binaries, integers, bounds, points, origins, weights, shares,
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
        for row in range(rows):
            weight = 1.0
            if weights[walker] != 0:
                weight = float(cells[2 * (rows * leader + row) + 1])
            if weights[walker] == 2:
                weight = max(1.0, np.floor(0.5 * weight))
            cells[2 * (rows * walker + row) + 1] = weight
        record = RECORD * walker
        records[record + REFRESH] = 1.0
        records[record + ORIGIN] = records[record + STEP]
        records[record + IDLE] = 0.0
        records[record + LAST] = columns
        records[record + BEST] = NONE
        if follows:
            records[record + OBJECTIVE_WEIGHT] = records[RECORD * origin + OBJECTIVE_WEIGHT]
