"""The sums that a check needs, in one sweep over the rows and one over the columns of A.

Both kernels leave partial sums in ``partial`` (slots, 5), one slot for each block; which rows a
slot holds is not part of the contract, only the sums over the slots are. They are those of
:data:`ROW_SUMS` and :data:`COLUMN_SUMS`. Device and twin agree up to the order of summation;
each repeats its own bits.

Notation: xh, yh the projected points, dx, dy the reflected minus the current point, x0, y0 the
anchors, R and C the scalings, a, b, l, u and c the scaled sides, bounds and cost. supp(z; l, u)
is l z where z > 0 and u z where z < 0.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Values
from solvers.pdlp.kernels.layout import LAYOUT, launch, matrix_bytes, work

SUMS = 5

ROW_SUMS = (
    "primal_residual_squared",  # |(A xh - clip(A xh, a, b)) / R|^2
    "row_support",  # supp(yh; a, b)
    "row_distance_squared",  # |yh - y0|^2
    "row_step_squared",  # |dy|^2
    "cross",  # dy' A dx
)

COLUMN_SUMS = (
    "dual_residual_squared",  # |(r - [r]) / C|^2, r = c - A'yh, [r] what the bounds support of it
    "column_support",  # supp([r]; l, u)
    "column_distance_squared",  # |xh - x0|^2
    "column_step_squared",  # |dx|^2
    "primal_objective",  # c'xh
)

MEASURE_ROWS = Kernel(
    name="measure_rows",
    arguments=(
        *LAYOUT,
        Argument("x_projection", "real[]"),
        Argument("x_difference", "real[]"),
        Argument("projection", "real[]"),
        Argument("difference", "real[]"),
        Argument("anchor", "real[]"),
        Argument("row_lower", "real[]"),
        Argument("row_upper", "real[]"),
        Argument("row_scale", "real[]"),
        Argument("slots", "int"),
        Argument("partial", "real[]", "out"),
    ),
    contract="partial (slots, 5) gets the parts of ROW_SUMS; the matrix is A, and the slots are "
    "as many as the launch has blocks, or at least one.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: _bytes(values, "x_projection", vectors=6),
)

MEASURE_COLUMNS = Kernel(
    name="measure_columns",
    arguments=(
        *LAYOUT,
        Argument("y_projection", "real[]"),
        Argument("projection", "real[]"),
        Argument("difference", "real[]"),
        Argument("anchor", "real[]"),
        Argument("cost", "real[]"),
        Argument("lower", "real[]"),
        Argument("upper", "real[]"),
        Argument("column_scale", "real[]"),
        Argument("slots", "int"),
        Argument("partial", "real[]", "out"),
    ),
    contract="partial (slots, 5) gets the parts of COLUMN_SUMS; the matrix is A'.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: _bytes(values, "y_projection", vectors=7),
)


def _bytes(values: Values, gathered: str, vectors: int) -> int:
    return matrix_bytes(values, gathered) + 8 * vectors * int(values["rows"])


MEASURE = Family("solvers.pdlp.kernels", "measure", (MEASURE_ROWS, MEASURE_COLUMNS))
