"""All iterations of a block in one launch: threads that stay, and meet or wait for what they read.

Both kernels do what ``count`` pairs of ``primal_step`` and ``dual_step`` do, with KEEP_FIRST in the
first and KEEP_LAST in the last. All their thread blocks run at once.

``barrier_steps``
    One thread block stays on each multiprocessor, and all meet at a barrier after each half of an
    iteration, which costs less than the end of one launch and the beginning of the next.
    ``arrivals`` (1,) counts who came to the barrier; it must be zero before the launch and is not
    after.
``flow_steps``
    For models so small that waiting for all blocks would cost more than the work there is no
    barrier: rows wait for what they read. An element of the reflected primal point or of y travels
    with the number of its iteration beside it, and who reads it looks again until that number is
    there. No element is overwritten too early, because A and A' have the same pattern: x_j of the
    next iteration needs y_i of every row i that reads x_j of this one, and y_i is written after
    that has been read; likewise for y. Entries that are zero are never read, so padding waits for
    nothing. Each half of an element stands beside its tag in a word of eight bytes, which the GPU
    writes at once, so that no half can pass for a whole. ``tagged_reflected`` (n, 2) and
    ``tagged_y`` (m, 2) belong to this kernel alone; they begin as zeros, and tags count iterations
    from one on, through all blocks of iterations.

Device and twin agree up to the order of summation within a row; a launch repeated gives the same
bits.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, stored_types
from solvers.kernels.family import Family
from solvers.pdlp.kernels.matrix import matrix_arguments, matrix_bytes
from solvers.pdlp.kernels.step import COLUMN_SIDE, ROW_SIDE, side_bytes

BLOCK = 1024
"""Threads of a block: the most that it may have, so that few blocks wait for each other."""

ARGUMENTS = (
    *matrix_arguments("column_"),
    *matrix_arguments("row_"),
    *COLUMN_SIDE,
    *ROW_SIDE,
    *arguments("real[] control; int count, blocks"),
)


def staying_bytes(values: Values) -> int:
    """Both matrices and all vectors, in every iteration."""
    matrices = matrix_bytes(values, "y_point", "column_") + matrix_bytes(values, "x_point", "row_")
    vectors = side_bytes(values, "x", 6) + side_bytes(values, "y", 4)
    return int(values["count"]) * (matrices + vectors)


def staying_work(values: Values) -> int:
    """Entries of both matrices plus a few steps for each slice, in every iteration."""
    entries = int(values["column_values"].size) + int(values["row_values"].size)
    owners = int(values["column_slices"]) + int(values["row_slices"])
    return int(values["count"]) * (entries + 8 * owners)


BARRIER_STEPS = Kernel(
    name="barrier_steps",
    arguments=(*ARGUMENTS, *arguments("inout index[] arrivals")),
    contract="x (n,) and y (m,) make 'count' iterations; the first leaves its step in the "
    "first_difference arrays, the last its projection and step.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    bounds="TEAMS * TEAM, 1",
    work=staying_work,
    traffic=staying_bytes,
)

FLOW_STEPS = Kernel(
    name="flow_steps",
    arguments=(*ARGUMENTS, *arguments("inout real[] tagged_reflected, tagged_y")),
    contract="x (n,) and y (m,) make 'count' iterations; the first leaves its step in the "
    "first_difference arrays, the last its projection and step.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    bounds="TEAMS * TEAM, 1",
    work=staying_work,
    traffic=staying_bytes,
)

STAYING = Family(
    "solvers.pdlp.kernels",
    "staying",
    (BARRIER_STEPS, FLOW_STEPS),
    cooperative=True,
    foreseen=stored_types("row_", "column_"),
)
