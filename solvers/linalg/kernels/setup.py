"""What preconditioners and residuals need of a matrix: products, diagonals, diagonal blocks.

``normal`` says which operator the matrix stands for: 0 the symmetric matrix M itself, 1 the
product M = A D A' of its rows A (m, n) and the weights D = diag(weight), which is never formed.
Device and twin agree up to the order of summation.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values
from solvers.linalg.kernels.layout import (
    BLOCK,
    LAYOUT,
    launch_rows,
    matrix_bytes,
    row_work,
    vector_bytes,
)

MULTIPLY = Kernel(
    name="multiply",
    arguments=(
        *LAYOUT,
        Argument("vector", "real[]"),
        Argument("magnitudes", "int"),
        Argument("product", "real[]", "out"),
    ),
    contract="product (rows,) becomes the matrix times vector (columns,); with 'magnitudes' the "
    "entries count without their signs.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: matrix_bytes(values, "vector") + vector_bytes(values, 1),
)

RESIDUAL = Kernel(
    name="residual",
    arguments=(
        *LAYOUT,
        Argument("vector", "real[]"),
        Argument("side", "real[]"),
        Argument("r", "real[]", "out"),
    ),
    contract="r (rows,) becomes side (rows,) less the matrix times vector (columns,).",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: matrix_bytes(values, "vector") + vector_bytes(values, 2),
)

DIAGONAL = Kernel(
    name="diagonal",
    arguments=(
        *LAYOUT,
        Argument("weight", "real[]"),
        Argument("normal", "int"),
        Argument("product", "real[]", "out"),
    ),
    contract="product (rows,) becomes the diagonal of M; weight (n,) is read for A D A' only.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: matrix_bytes(values, "weight") + vector_bytes(values, 1),
)


def _launch_blocks(values: Values) -> Launch:
    elements = int(values["rows"]) * int(values["block_size"])
    return Launch(-(-elements // BLOCK), BLOCK)


DIAGONAL_BLOCKS = Kernel(
    name="diagonal_blocks",
    arguments=(
        *LAYOUT,
        Argument("weight", "real[]"),
        Argument("normal", "int"),
        Argument("block_size", "int"),
        Argument("blocks", "real[]", "out"),
    ),
    contract="blocks (whole blocks * block_size^2,) gets the entries of M whose row and "
    "column stand in the same run of block_size rows; what lies beyond the last row is left as it "
    "was. Indices within a row must ascend.",
    launch=_launch_blocks,
    work=lambda values: int(values["values"].size) * 2 * int(values["block_size"]),
    bytes_moved=lambda values: matrix_bytes(values, "weight") + int(values["blocks"].nbytes),
)

SETUP = Family("solvers.linalg.kernels", "setup", (MULTIPLY, RESIDUAL, DIAGONAL, DIAGONAL_BLOCKS))
