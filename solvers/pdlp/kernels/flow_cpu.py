"""Numba twin of ``flow.cu``: iterations in their order, for which no tags are needed."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import twin
from solvers.pdlp.kernels.window_cpu import window_steps

_window_serial = window_steps.serial


@twin
def flow_steps(
    column_slices, column_height, column_meta, column_indices, column_values, column_table,
    column_splits, column_partials, column_tickets,
    row_slices, row_height, row_meta, row_indices, row_values, row_table,
    row_splits, row_partials, row_tickets,
    x, x_anchor, cost, lower, upper, column_metric, x_projection, x_difference,
    x_first_difference, y, y_anchor, row_lower, row_upper, row_metric, y_projection, y_difference,
    y_first_difference, control, count, blocks, tagged_reflected, tagged_y,
):  # fmt: skip
    """Run the iterations of a window one after the other."""
    _window_serial(
        column_slices, column_height, column_meta, column_indices, column_values, column_table,
        column_splits, column_partials, column_tickets,
        row_slices, row_height, row_meta, row_indices, row_values, row_table,
        row_splits, row_partials, row_tickets,
        x, x_anchor, cost, lower, upper, column_metric, np.empty_like(x), x_projection,
        x_difference, x_first_difference, y, y_anchor, row_lower, row_upper, row_metric,
        y_projection, y_difference, y_first_difference, control, count, blocks,
        row_tickets,
    )  # fmt: skip
