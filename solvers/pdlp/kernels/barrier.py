"""All iterations of a block in one launch: threads that stay and meet at barriers.

``barrier_steps`` does what ``count`` pairs of ``primal_step`` and ``dual_step`` do, with
KEEP_FIRST in the first and KEEP_LAST in the last. Its thread blocks run all at once, one on each
multiprocessor, and meet at a barrier after each half of an iteration, which costs less than the
end of one launch and the beginning of the next. ``arrivals`` (1,) counts who came to the barrier;
it must be zero before the launch and is not after.

Device and twin agree up to the order of summation within a row; a launch repeated gives the same
bits.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values, stored_types
from solvers.pdlp.kernels.layout import REAL_BYTES, matrix_arguments, matrix_bytes

BLOCK = 1024

ARGUMENTS = (
    *matrix_arguments("column_"),
    *matrix_arguments("row_"),
    Argument("x", "real[]", "inout"),
    Argument("x_anchor", "real[]"),
    Argument("cost", "real[]"),
    Argument("lower", "real[]"),
    Argument("upper", "real[]"),
    Argument("column_metric", "real[]"),
    Argument("reflected", "real[]", "inout"),
    Argument("x_projection", "real[]", "out"),
    Argument("x_difference", "real[]", "out"),
    Argument("x_first_difference", "real[]", "out"),
    Argument("y", "real[]", "inout"),
    Argument("y_anchor", "real[]"),
    Argument("row_lower", "real[]"),
    Argument("row_upper", "real[]"),
    Argument("row_metric", "real[]"),
    Argument("y_projection", "real[]", "out"),
    Argument("y_difference", "real[]", "out"),
    Argument("y_first_difference", "real[]", "out"),
    Argument("control", "real[]"),
    Argument("count", "int"),
    Argument("blocks", "int"),
    Argument("arrivals", "index[]", "inout"),
)


def staying_bytes(values: Values) -> int:
    """Both matrices and all vectors, in every iteration."""
    matrices = matrix_bytes(values, "y", "column_") + matrix_bytes(values, "x", "row_")
    vectors = 8 * int(values["x"].size) + 6 * int(values["y"].size)
    return int(values["count"]) * (matrices + REAL_BYTES * vectors)


def staying_work(values: Values) -> int:
    """Entries of both matrices plus a few steps for each slice, in every iteration."""
    entries = int(values["column_values"].size) + int(values["row_values"].size)
    owners = int(values["column_slices"]) + int(values["row_slices"])
    return int(values["count"]) * (entries + 8 * owners)


BARRIER_STEPS = Kernel(
    name="barrier_steps",
    arguments=ARGUMENTS,
    contract="x (n,) and y (m,) make 'count' iterations; the first leaves its step in the "
    "first_difference arrays, the last its projection and step.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    work=staying_work,
    bytes_moved=staying_bytes,
)

BARRIER = Family(
    "solvers.pdlp.kernels",
    "barrier",
    (BARRIER_STEPS,),
    cooperative=True,
    foreseen=stored_types("row_", "column_"),
)
