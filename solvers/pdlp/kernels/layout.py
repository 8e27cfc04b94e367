"""What the kernels of this folder have in common: how a sparse matrix is passed and shared out.

Every kernel here works row by row on a matrix in compressed rows. The step over the columns of A
gets A' instead. The last three layout arguments say how the device shares the rows out over
threads (``solvers/kernels/device/rows.cuh``); the twins, plain loops, have no use for them.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Launch, Values

BLOCK = 256

LAYOUT = (
    Argument("rows", "index"),
    Argument("starts", "index[]"),
    Argument("indices", "index[]"),
    Argument("values", "real[]"),
    Argument("long_count", "index"),
    Argument("long_rows", "index[]"),
    Argument("long_length", "index"),
    Argument("lanes", "int"),
)
"""Rows of a compressed matrix: starts (rows + 1,), indices and values (nnz,), long_rows
(long_count,) the rows above ``long_length`` entries, ``lanes`` the threads for any other row."""


def launch(values: Values) -> Launch:
    """One block for each long row, and ``lanes`` threads for each row."""
    rows = int(values["rows"])
    if rows == 0:
        return Launch(0, BLOCK)
    shared = -(-rows * int(values["lanes"]) // BLOCK)
    return Launch(int(values["long_count"]) + shared, BLOCK)


def work(values: Values) -> int:
    """Entries plus a few steps for each row."""
    return int(values["values"].size) + 8 * int(values["rows"])


def matrix_bytes(values: Values, gathered: str) -> int:
    """Bytes of the matrix and of the gathered vector, each read once."""
    arrays = (values["starts"], values["indices"], values["values"], values[gathered])
    return sum(int(array.nbytes) for array in arrays)
