"""What the kernels of this folder share: the layout of a matrix, and how work is spread.

Matrices come in compressed rows. Every kernel that combines sums leaves one partial sum per
slot; the block that finishes last adds the slots in their order and decides what follows, so
that the same bits come out however the blocks were scheduled.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Launch, Values

BLOCK = 256

MOST_BLOCKS = 1056
"""Blocks beside those of the long rows: eight for each of 132 multiprocessors fill an H200."""

REAL_BYTES = 8

ROWS_PER_SLOT = 2048
"""Rows whose terms the CPU adds one after the other before the sums are combined."""

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

REDUCTION = (
    Argument("slots", "int"),
    Argument("partial", "real[]", "out"),
    Argument("ticket", "index[]", "inout"),
)
"""Where sums are combined: partial (slots, sums) and ticket (1,), zero between launches."""

ALPHA, BETA, RZ, RR, ITERATIONS, STOP, TARGET, LIMIT, FRESH = range(9)
CONTROL_SIZE = 9
"""Places of the scalars in ``control``: step sizes alpha and beta, r'u, r'r, the iterations so
far, why it stopped (0: it has not), the square of the residual aimed at, the most iterations,
and whether no direction exists yet."""

RUNNING, CONVERGED, BREAKDOWN, OUT_OF_ITERATIONS = range(4)
"""Values of ``control[STOP]``."""


def launch_rows(values: Values) -> Launch:
    """One block for each long row; the rest of the rows share blocks that come round again."""
    rows = int(values["rows"])
    if rows == 0:
        return Launch(0, BLOCK)
    shared = -(-rows * int(values["lanes"]) // BLOCK)
    return Launch(int(values["long_count"]) + min(shared, MOST_BLOCKS), BLOCK)


def launch_vector(values: Values) -> Launch:
    """One thread for each element, in blocks that come round again."""
    return Launch(min(-(-int(values["rows"]) // BLOCK), MOST_BLOCKS), BLOCK)


def row_work(values: Values) -> int:
    """Entries plus a few steps for each row."""
    return int(values["values"].size) + 8 * int(values["rows"])


def vector_work(values: Values) -> int:
    """Elements of the inverse blocks plus a few steps for each row."""
    return int(values["inverse"].size) + 8 * int(values["rows"])


def matrix_bytes(values: Values, *gathered: str) -> int:
    """Bytes of the matrix and of the gathered vectors, each read once."""
    arrays = ("starts", "indices", "values", *gathered)
    return sum(int(values[name].nbytes) for name in arrays)


def vector_bytes(values: Values, count: int) -> int:
    """Bytes of ``count`` vectors with an element for each row."""
    return count * REAL_BYTES * int(values["rows"])
