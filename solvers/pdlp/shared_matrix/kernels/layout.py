"""What the kernels of this folder have in common: a matrix by rows, and vectors side by side.

K = ``width`` problems share the matrix. Element i of problem p stands at ``[i * width + p]`` of
an interleaved vector, so that neighbouring threads, one for each problem, read one entry of the
matrix together and K neighbouring numbers for it.

Rows come in units, the work of one block: ``unit_table[u] = (first row, rows, part, parts)``. A
unit has up to :func:`rows_of_unit` rows; or it is a single long row, which the block shares
(``rows`` 0); or one of the parts of a very long one, whose partial sums begin at ``-1 - rows``.
"""

from __future__ import annotations

from solvers.kernels.family import Launch, Values, arguments

TEAM = 256
"""Threads of a block."""

LONG_ROW = 512
"""Rows with more entries than this are shared by a block."""

PART = 2048
"""Rows with more entries than this are shared by blocks, each with so many. The objective of a
model, which a pump's cut-off makes a row, is one."""

REAL_BYTES = 8

MATRIX = arguments("int units; index[] unit_table, starts, indices; real[] values; int width")

SPLIT = arguments("inout real[] partials; inout index[] tickets")
"""Where blocks leave their parts of very long rows (parts, width), and count who has; zero before
a launch and after."""


def rows_of_unit(width: int) -> int:
    """Return how many rows a block works on at once."""
    return TEAM // width


def unit_launch(values: Values) -> Launch:
    """Give each unit a block."""
    return Launch(int(values["units"]), TEAM)


def work(values: Values) -> int:
    """Entries, and a few steps for each row, for every problem."""
    rows = int(values["starts"].size) - 1
    return (int(values["values"].size) + 8 * rows) * int(values["width"])


def matrix_bytes(values: Values) -> int:
    """Bytes of the matrix, read once for all problems."""
    return sum(int(values[name].nbytes) for name in ("unit_table", "starts", "indices", "values"))
