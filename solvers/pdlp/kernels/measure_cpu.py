"""Numba twins of ``measure.cu``; a slot holds an even share of the slices."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.pdlp.kernels.products_cpu import slice_product, slice_rows
from solvers.pdlp.kernels.step_cpu import STOP


@twin
def measure_rows(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    x_projection, x_difference, x_first_difference, projection, difference, first_difference,
    anchor, row_lower, row_upper, metric, control, slots, partial,
):  # fmt: skip
    """Sum what a check needs of the rows."""
    if control[STOP] == 0.0:
        for slot in prange(slots):
            residuals, support, distances, steps, cross = 0.0, 0.0, 0.0, 0.0, 0.0
            first_steps, first_cross = 0.0, 0.0
            for at in range(slot * slices // slots, (slot + 1) * slices // slots):
                rows, first = slice_rows(meta, at)
                for which in range(rows):
                    i = first + which
                    activity = slice_product(
                        height, meta, indices, values, table, at, which, x_projection
                    )
                    moved = slice_product(
                        height, meta, indices, values, table, at, which, x_difference
                    )
                    moved_first = slice_product(
                        height, meta, indices, values, table, at, which, x_first_difference
                    )
                    residuals += (activity - min(max(activity, row_lower[i]), row_upper[i])) ** 2
                    if projection[i] > 0.0:
                        support += projection[i] * row_lower[i]
                    elif projection[i] < 0.0:
                        support += projection[i] * row_upper[i]
                    distances += (projection[i] - anchor[i]) ** 2 / metric[i]
                    steps += difference[i] ** 2 / metric[i]
                    cross += difference[i] * moved
                    first_steps += first_difference[i] ** 2 / metric[i]
                    first_cross += first_difference[i] * moved_first
            partial[slot, 0] = residuals
            partial[slot, 1] = support
            partial[slot, 2] = distances
            partial[slot, 3] = steps
            partial[slot, 4] = cross
            partial[slot, 5] = first_steps
            partial[slot, 6] = first_cross


@twin
def measure_columns(
    slices, height, meta, indices, values, table, splits, partials, tickets,
    y_projection, projection, difference, first_difference, anchor, cost, lower, upper, metric,
    control, slots, partial,
):  # fmt: skip
    """Sum what a check needs of the columns."""
    if control[STOP] == 0.0:
        for slot in prange(slots):
            residuals, support, distances, steps, objective = 0.0, 0.0, 0.0, 0.0, 0.0
            first_steps = 0.0
            for at in range(slot * slices // slots, (slot + 1) * slices // slots):
                rows, first = slice_rows(meta, at)
                for which in range(rows):
                    j = first + which
                    reduced = cost[j] - slice_product(
                        height, meta, indices, values, table, at, which, y_projection
                    )
                    side = lower[j] if reduced > 0.0 else upper[j]
                    if np.isfinite(side):
                        support += reduced * side
                    else:
                        residuals += reduced**2
                    distances += (projection[j] - anchor[j]) ** 2 / metric[j]
                    steps += difference[j] ** 2 / metric[j]
                    objective += cost[j] * projection[j]
                    first_steps += first_difference[j] ** 2 / metric[j]
            partial[slot, 0] = residuals
            partial[slot, 1] = support
            partial[slot, 2] = distances
            partial[slot, 3] = steps
            partial[slot, 4] = objective
            partial[slot, 5] = first_steps
            partial[slot, 6] = 0.0
