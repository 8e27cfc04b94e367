"""What scaling, the step size and certificates need of a matrix: products and row sizes.

Device and twin agree up to rounding and the order of summation.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, arguments, stored_types
from solvers.pdlp.kernels.layout import MATRIX as MATRIX_ARGUMENTS
from solvers.pdlp.kernels.layout import REAL_BYTES, matrix_bytes, unit_launch, work

MULTIPLY = Kernel(
    name="multiply",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] vector; out real[] product")),
    contract="product (rows,) becomes the matrix times vector (columns,).",
    launch=unit_launch,
    work=work,
    traffic=lambda values: matrix_bytes(values, "vector") + int(values["product"].nbytes),
)

MULTIPLY_SCALED = Kernel(
    name="multiply_scaled",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] factor, vector; out real[] product")),
    contract="product (rows,) becomes factor (rows,) times the matrix times vector (columns,).",
    launch=unit_launch,
    work=work,
    traffic=lambda values: matrix_bytes(values, "vector") + 2 * int(values["product"].nbytes),
)

LARGEST, TOTAL = 0, 1
"""What a row is scaled by: the root of the greatest magnitude, or of the sum."""

RESCALE = Kernel(
    name="rescale",
    arguments=(
        *MATRIX_ARGUMENTS,
        *arguments("int mode; real[] row_scale, column_scale; out real[] rescaled"),
    ),
    contract="rescaled (rows,) becomes row_scale (rows,) divided by the size, as 'mode' says, of "
    "the row in the matrix scaled by row_scale and column_scale (columns,), entries that are zero "
    "left out; row_scale itself where that size is zero or not finite.",
    launch=unit_launch,
    work=work,
    traffic=lambda values: (
        matrix_bytes(values, "column_scale") + 2 * REAL_BYTES * int(values["rescaled"].size)
    ),
)

BALANCE = Kernel(
    name="balance",
    arguments=(
        *MATRIX_ARGUMENTS,
        *arguments("real ridge; real[] column_scale; out real[] balanced"),
    ),
    contract="balanced (rows,) becomes 1 over the geometric mean of the magnitudes, zeros left "
    "out, of each row of the matrix scaled by column_scale (columns,), to the power "
    "1 / (1 + ridge); 1 for an empty row.",
    launch=unit_launch,
    work=lambda values: 8 * work(values),
    traffic=lambda values: (
        matrix_bytes(values, "column_scale") + REAL_BYTES * int(values["balanced"].size)
    ),
)

MATRIX = Family(
    "solvers.pdlp.kernels",
    "matrix",
    (MULTIPLY, MULTIPLY_SCALED, RESCALE, BALANCE),
    foreseen=stored_types(""),
)
