"""What scaling, the step size and certificates need of a matrix: products and row sizes.

Device and twin agree up to rounding and the order of summation.
"""

from __future__ import annotations

from solvers.core.machine import STEPS_PER_LOOK
from solvers.kernels.declaration import (
    WARP,
    Argument,
    Kernel,
    Launch,
    Values,
    arguments,
    by_owner,
    stored_types,
    structure,
)
from solvers.kernels.family import Family

# What the kernels of this folder have in common: how a matrix in slices is passed.
#
# Every kernel here works on the rows of a matrix in sliced rows (``solvers/sparse/slices.py``). The
# half of an iteration that owns the columns of A gets A' instead.


TEAM = 256
"""Threads of a team: eight warps, for the eight slices of a unit."""

REAL_BYTES = 8
"""Of a number in double precision."""


def matrix_arguments(prefix: str = "") -> tuple[Argument, ...]:
    """Return the arguments by which a matrix in slices is passed; ``Slices.arguments``."""
    return structure(
        f"{prefix}matrix",
        "int slices, height; index[] meta; packed[] indices, values; real[] table; "
        "index[] splits; inout real[] partials; inout index[] tickets",
        prefix,
    )


MATRIX_ARGUMENTS = matrix_arguments()


def unit_launch(values: Values) -> Launch:
    """Give each unit of slices a block of its own."""
    return Launch(-(-int(values["slices"]) // 8), TEAM)


def work(values: Values) -> int:
    """Entries plus a few steps for each slice, which on a CPU is a row."""
    return int(values["values"].size) + 8 * int(values["slices"])


def matrix_bytes(values: Values, gathered: str, prefix: str = "") -> int:
    """Bytes of the matrix and of the gathered vector, each read once."""
    names = [f"{prefix}{name}" for name in ("meta", "indices", "values", "table")]
    return sum(int(values[name].nbytes) for name in (*names, gathered))


MULTIPLY = Kernel(
    name="multiply",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] vector; out real[] product")),
    contract="product (rows,) becomes the matrix times vector (columns,).",
    launch=unit_launch,
    bounds="TEAM",
    work=work,
    traffic=lambda values: matrix_bytes(values, "vector") + int(values["product"].nbytes),
)

MULTIPLY_SCALED = Kernel(
    name="multiply_scaled",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] factor, vector; out real[] product")),
    contract="product (rows,) becomes factor (rows,) times the matrix times vector (columns,).",
    launch=unit_launch,
    bounds="TEAM",
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
    bounds="TEAM",
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
    bounds="TEAM",
    work=lambda values: 8 * work(values),
    traffic=lambda values: (
        matrix_bytes(values, "column_scale") + REAL_BYTES * int(values["balanced"].size)
    ),
)

SQUARE = Kernel(
    name="square",
    arguments=arguments("int count; real[] values; out real[] squared"),
    contract="squared (count,) becomes the square of values (count,), exactly as rounded.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
)

TIMES_ROOT = Kernel(
    name="times_root",
    arguments=arguments("int count; real[] squares; inout real[] values"),
    contract="values (count,) are multiplied by the roots of squares (count,), as rounded.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
)

DIVIDE = Kernel(
    name="divide",
    arguments=arguments("int count; real divisor; inout real[] values"),
    contract="values (count,) are divided by the divisor, as rounded.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
)

FILL = Kernel(
    name="fill",
    arguments=arguments("int count; real value; out real[] filled"),
    contract="filled (count,) becomes the value, in all its elements; device and twin agree.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
)

SUMMED = 256
"""Elements whose products are summed one after the other; blocks of them are summed in pairs."""

QUOTIENT_SUMS = Kernel(
    name="quotient_sums",
    arguments=arguments("int count, blocks; real[] q, image, weight; out real[] sums"),
    contract="sums (3 blocks,) become what each block of SUMMED elements has of q'Wq, then of "
    "q'Wp and then of p'Wp, where p is the image, and W divides by weight (count,), all (count,); "
    "device and twin give the same bits.",
    launch=by_owner("blocks", block=WARP),
    work=lambda values: STEPS_PER_LOOK * int(values["count"]),
)

SIZE_SUMS = Kernel(
    name="size_sums",
    arguments=arguments("int count, blocks; real[] low, high, metric; out real[] sums"),
    contract="sums (blocks,) become what each block of SUMMED elements has of the sum of squares "
    "of the larger finite one of low and high (count,), in magnitude, or zero without any, times "
    "the root of metric (count,); device and twin give the same bits but for contracted products.",
    launch=by_owner("blocks", block=WARP),
    work=lambda values: STEPS_PER_LOOK * int(values["count"]),
)

MATRIX = Family(
    "solvers.pdlp.kernels",
    "matrix",
    (
        *(MULTIPLY, MULTIPLY_SCALED, RESCALE, BALANCE),
        *(SQUARE, TIMES_ROOT, DIVIDE, FILL, QUOTIENT_SUMS, SIZE_SUMS),
    ),
    foreseen=stored_types(""),
)
