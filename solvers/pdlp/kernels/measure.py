"""The sums that a check needs, in one sweep over the rows and one over the columns of A.

Both kernels leave partial sums in ``partial`` (slots, 7), one slot for each block; which rows a
slot holds is not part of the contract, only the sums over the slots are. They are those of
:data:`ROW_SUMS` and :data:`COLUMN_SUMS`. Device and twin agree up to the order of summation;
each repeats its own bits. Nothing happens while ``control`` says to stop.

Notation: xh, yh the projected points, dx, dy the reflected minus the current point of the last
iteration and dx1, dy1 of the block's first, x0, y0 the anchors, R and C the scales; norms |.|_R
and |.|_C are those of the scaled problem. supp(z; l, u) is l z where z > 0 and u z where z < 0.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Values, arguments, stored_types, structure
from solvers.kernels.family import Family
from solvers.pdlp.kernels.matrix import (
    MATRIX_ARGUMENTS,
    REAL_BYTES,
    matrix_bytes,
    unit_launch,
    work,
)
from solvers.sparse.slices import Slices

SUMS = 7
"""Sums and largest values that a check needs of each side."""

ROWS_PER_SLOT = 2048
"""Rows whose terms the CPU adds one after the other before sums are combined."""

ROW_SUMS = (
    "primal_residual_squared",  # |A xh - clip(A xh, a, b)|^2
    "row_support",  # supp(yh; a, b)
    "row_distance_squared",  # |yh - y0|_R^2
    "row_step_squared",  # |dy|_R^2
    "cross",  # dy' A dx
    "first_row_step_squared",  # |dy1|_R^2
    "first_cross",  # dy1' A dx1
)

COLUMN_SUMS = (
    "dual_residual_squared",  # |r - [r]|^2, r = c - A'yh, [r] what the bounds support of it
    "column_support",  # supp([r]; l, u)
    "column_distance_squared",  # |xh - x0|_C^2
    "column_step_squared",  # |dx|_C^2
    "primal_objective",  # c'xh
    "first_column_step_squared",  # |dx1|_C^2
    "unused",
)


def slots_of(matrix: Slices) -> int:
    """Return into how many partial sums a check divides the rows of a matrix."""
    return 1 + matrix.rows // ROWS_PER_SLOT if matrix.height == 1 else max(1, matrix.units)


_SUMS = arguments("real[] control; int slots; out real[] partial")

MEASURE_ROWS = Kernel(
    name="measure_rows",
    arguments=(
        *MATRIX_ARGUMENTS,
        *structure("x", "real[] projection, difference, first_difference"),
        *structure(
            "rows",
            "real[] projection, difference, first_difference, anchor, lower, upper, metric",
            prefix="",
        ),
        *_SUMS,
    ),
    contract="partial (slots, 7) gets the parts of ROW_SUMS; the matrix is A, and the slots are "
    "as many as the launch has blocks, or at least one.",
    launch=unit_launch,
    bounds="TEAM",
    work=work,
    traffic=lambda values: _bytes(values, "x_projection", "anchor", 3, 7),
)

MEASURE_COLUMNS = Kernel(
    name="measure_columns",
    arguments=(
        *MATRIX_ARGUMENTS,
        *arguments("real[] y_projection"),
        *structure(
            "columns",
            "real[] projection, difference, first_difference, anchor, cost, lower, upper, metric",
            prefix="",
        ),
        *_SUMS,
    ),
    contract="partial (slots, 7) gets the parts of COLUMN_SUMS; the matrix is A'.",
    launch=unit_launch,
    bounds="TEAM",
    work=work,
    traffic=lambda values: _bytes(values, "y_projection", "anchor", 1, 8),
)


def _bytes(values: Values, gathered: str, own: str, gathers: int, vectors: int) -> int:
    more = (gathers - 1) * int(values[gathered].nbytes)
    return matrix_bytes(values, gathered) + more + REAL_BYTES * vectors * int(values[own].size)


MEASURE = Family(
    "solvers.pdlp.kernels", "measure", (MEASURE_ROWS, MEASURE_COLUMNS), foreseen=stored_types("")
)
