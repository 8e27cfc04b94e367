"""Numba twin of ``window.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from solvers.kernels.twin import twin
from solvers.pdlp.kernels.step_cpu import dual_step, primal_step

_primal_serial, _dual_serial = primal_step.serial, dual_step.serial


@twin
def window_steps(
    column_slices, column_height, column_meta, column_indices, column_values, column_table,
    column_splits, column_partials, column_tickets,
    row_slices, row_height, row_meta, row_indices, row_values, row_table,
    row_splits, row_partials, row_tickets,
    x, x_anchor, cost, lower, upper, column_metric, reflected, x_projection, x_difference,
    x_first_difference, y, y_anchor, row_lower, row_upper, row_metric, y_projection, y_difference,
    y_first_difference, control, count, blocks, arrivals,
):  # fmt: skip
    """Run the iterations of a window one after the other."""
    for offset in range(count):
        keep = 0
        if offset == 0:
            keep |= 1
        if offset == count - 1:
            keep |= 2
        _primal_serial(
            column_slices, column_height, column_meta, column_indices, column_values,
            column_table, column_splits, column_partials, column_tickets,
            y, x, x_anchor, cost, lower, upper, column_metric, reflected, x_projection,
            x_difference, x_first_difference, control, offset, keep,
        )  # fmt: skip
        _dual_serial(
            row_slices, row_height, row_meta, row_indices, row_values,
            row_table, row_splits, row_partials, row_tickets,
            reflected, y, y_anchor, row_lower, row_upper, row_metric, y_projection, y_difference,
            y_first_difference, control, offset, keep,
        )  # fmt: skip
