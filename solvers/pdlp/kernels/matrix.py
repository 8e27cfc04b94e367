"""What scaling and the step size need of a matrix: products, row sizes, rescaling.

Device and twin agree exactly in ``scale_entries`` and in the extremes of ``row_sizes``, and up to
the order of summation elsewhere.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel
from solvers.pdlp.kernels.layout import LAYOUT, launch, matrix_bytes, work

MULTIPLY = Kernel(
    name="multiply",
    arguments=(*LAYOUT, Argument("vector", "real[]"), Argument("product", "real[]", "out")),
    contract="product (rows,) becomes the matrix times vector (columns,).",
    launch=launch,
    work=work,
    bytes_moved=lambda values: matrix_bytes(values, "vector") + 8 * int(values["rows"]),
)

ROW_SIZES = Kernel(
    name="row_sizes",
    arguments=(
        *LAYOUT,
        Argument("row_scale", "real[]"),
        Argument("column_scale", "real[]"),
        Argument("smallest", "real[]", "out"),
        Argument("largest", "real[]", "out"),
        Argument("total", "real[]", "out"),
    ),
    contract="The least and greatest magnitude in each row of the matrix scaled by row_scale "
    "(rows,) and column_scale (columns,), and their sum; inf, 0 and 0 for an empty row.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: matrix_bytes(values, "column_scale") + 32 * int(values["rows"]),
)

SCALE_ENTRIES = Kernel(
    name="scale_entries",
    arguments=(
        *LAYOUT,
        Argument("row_scale", "real[]"),
        Argument("column_scale", "real[]"),
        Argument("scaled", "real[]", "out"),
    ),
    contract="scaled (nnz,) becomes row_scale * value * column_scale, multiplied in this order.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: matrix_bytes(values, "column_scale") + int(values["values"].nbytes),
)

MATRIX = Family("solvers.pdlp.kernels", "matrix", (MULTIPLY, ROW_SIZES, SCALE_ENTRIES))
