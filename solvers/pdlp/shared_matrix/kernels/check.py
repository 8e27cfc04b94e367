"""The check after an iteration block, for several problems: sums, and what each problem concludes.

``measure_rows`` and ``measure_columns`` leave partial sums in ``partial`` (slots, 6, width); which
units a slot holds is not part of the contract. ``decide`` draws for each problem the conclusions
of ``solvers/pdlp/kernels/decide.py``, with the fixed-point metric without its cross term,
``omega |dx|_C^2 + |dy|_R^2 / omega``, which is equivalent to it up to a factor as long as the step
is shorter than 1 / ||A||, and without the restart on a standstill. ``settle`` carries out what was
decided. The point on which a problem stops counts as its best.

Device and twin of the sums and of ``decide`` agree up to rounding, those of ``settle`` exactly.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values, arguments
from solvers.pdlp.shared_matrix.kernels.layout import MATRIX, REAL_BYTES, TEAM, matrix_bytes, work

SUMS = 6

ROW_SUMS = (
    "primal_residual_squared",  # |A xh - clip(A xh, a, b)|^2
    "row_support",  # supp(yh; a, b)
    "row_distance_squared",  # |yh - y0|_R^2
    "row_step_squared",  # |dy|_R^2, of the block's last iteration
    "first_row_step_squared",  # |dy1|_R^2, of its first
    "unused",
)

COLUMN_SUMS = (
    "dual_residual_squared",  # |r - [r]|^2, r = c - A'yh, [r] what the bounds support of it
    "column_support",  # supp([r]; l, u)
    "column_distance_squared",  # |xh - x0|_C^2
    "column_step_squared",  # |dx|_C^2
    "first_column_step_squared",  # |dx1|_C^2
    "primal_objective",  # c'xh
)


def _slot_launch(values: Values) -> Launch:
    return Launch(int(values["slots"]), TEAM)


_OWN = arguments("real[] projection, difference, first_difference, anchor")
_END = arguments("real[] metric, control; int slots; out real[] partial")

MEASURE_ROWS = Kernel(
    name="measure_rows",
    arguments=(
        *MATRIX,
        *arguments("real[] x_projection"),
        *_OWN,
        *arguments("real[] row_lower, row_upper"),
        *_END,
    ),
    contract="partial (slots, 6, width) gets the parts of ROW_SUMS; the matrix is A. Columns of "
    "problems that are stopped hold nothing of use.",
    launch=_slot_launch,
    work=work,
)

MEASURE_COLUMNS = Kernel(
    name="measure_columns",
    arguments=(
        *MATRIX,
        *arguments("real[] y_projection"),
        *_OWN,
        *arguments("real[] cost, lower, upper"),
        *_END,
    ),
    contract="partial (slots, 6, width) gets the parts of COLUMN_SUMS; the matrix is A'. Columns "
    "of problems that are stopped hold nothing of use.",
    launch=_slot_launch,
    work=work,
)


def _bytes(values: Values, gathered: str, vectors: int) -> int:
    sizes = int(values[gathered].size) + vectors * int(values["projection"].size)
    return matrix_bytes(values) + REAL_BYTES * sizes


DECIDE = Kernel(
    name="decide",
    arguments=arguments(
        "int row_slots; real[] row_partial; int column_slots; real[] column_partial; "
        "int width, count; inout real[] control"
    ),
    contract="Each problem's column of control takes its statistics from the partial sums of a "
    "block of 'count' iterations, and the decisions that follow.",
    launch=lambda values: Launch(int(values["width"]), TEAM),
    work=lambda values: (
        SUMS * int(values["width"]) * (int(values["row_slots"]) + int(values["column_slots"]))
    ),
)


def _settle_launch(values: Values) -> Launch:
    longest = max(int(values["columns"]), int(values["rows"]), 1) * int(values["width"])
    return Launch(min(-(-longest // TEAM), 1056), TEAM)


SETTLE = Kernel(
    name="settle",
    arguments=arguments(
        "int width, columns; inout real[] x, x_anchor; real[] x_projection; inout real[] best_x; "
        "int rows; inout real[] y, y_anchor; real[] y_projection; inout real[] best_y; "
        "real[] control"
    ),
    contract="Of problems that RESTART, point and anchor become the projected point; of those "
    "that KEEP_BEST, the best point does. Otherwise nothing changes.",
    launch=_settle_launch,
    work=lambda values: (int(values["columns"]) + int(values["rows"])) * int(values["width"]),
)

CHECK = Family(
    "solvers.pdlp.shared_matrix.kernels", "check", (MEASURE_ROWS, MEASURE_COLUMNS, DECIDE, SETTLE)
)
