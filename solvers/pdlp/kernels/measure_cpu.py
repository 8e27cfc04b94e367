"""Numba twins of ``measure.cu``; a slot holds an even share of the rows."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin


@twin
def measure_rows(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    x_projection, x_difference, projection, difference, anchor, row_lower, row_upper, row_scale,
    slots, partial,
):  # fmt: skip
    """Sum what a check needs of the rows."""
    for slot in prange(slots):
        residuals, support, distances, steps, cross = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(slot * rows // slots, (slot + 1) * rows // slots):
            activity, moved = 0.0, 0.0
            for entry in range(starts[i], starts[i + 1]):
                activity += values[entry] * x_projection[indices[entry]]
                moved += values[entry] * x_difference[indices[entry]]
            residual = activity - min(max(activity, row_lower[i]), row_upper[i])
            residuals += (residual / row_scale[i]) ** 2
            if projection[i] > 0.0:
                support += projection[i] * row_lower[i]
            elif projection[i] < 0.0:
                support += projection[i] * row_upper[i]
            distances += (projection[i] - anchor[i]) ** 2
            steps += difference[i] ** 2
            cross += difference[i] * moved
        partial[slot, 0] = residuals
        partial[slot, 1] = support
        partial[slot, 2] = distances
        partial[slot, 3] = steps
        partial[slot, 4] = cross


@twin
def measure_columns(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    y_projection, projection, difference, anchor, cost, lower, upper, column_scale,
    slots, partial,
):  # fmt: skip
    """Sum what a check needs of the columns."""
    for slot in prange(slots):
        residuals, support, distances, steps, objective = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(slot * rows // slots, (slot + 1) * rows // slots):
            reduced = cost[j]
            for entry in range(starts[j], starts[j + 1]):
                reduced -= values[entry] * y_projection[indices[entry]]
            side = lower[j] if reduced > 0.0 else upper[j]
            if np.isfinite(side):
                support += reduced * side
            else:
                residuals += (reduced / column_scale[j]) ** 2
            distances += (projection[j] - anchor[j]) ** 2
            steps += difference[j] ** 2
            objective += cost[j] * projection[j]
        partial[slot, 0] = residuals
        partial[slot, 1] = support
        partial[slot, 2] = distances
        partial[slot, 3] = steps
        partial[slot, 4] = objective
