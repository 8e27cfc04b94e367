"""All iterations of a block in one launch, without any barrier: rows wait for what they read.

``flow_steps`` does what ``barrier_steps`` does, for models small enough that waiting for all
blocks would cost more than the work. An element of the reflected primal point or of y travels
with the number of its iteration beside it, and who reads it looks again until that number is
there. No element is overwritten too early, because A and A' have the same pattern: x_j of the
next iteration needs y_i of every row i that reads x_j of this one, and y_i is written after that
has been read; likewise for y. Entries that are zero are never read, so padding waits for nothing.

Each half of an element stands beside its tag in a word of eight bytes, which the GPU writes at
once, so that no half can pass for a whole. All blocks have to run at once. ``tagged_reflected``
(n, 2) and ``tagged_y`` (m, 2) belong to this kernel alone; they begin as zeros, and tags count
iterations from one on, through all blocks of iterations.

Device and twin agree up to the order of summation within a row; a launch repeated gives the same
bits.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, stored_types
from solvers.pdlp.kernels.barrier import ARGUMENTS, BLOCK, staying_bytes, staying_work

FLOW_STEPS = Kernel(
    name="flow_steps",
    arguments=(
        *(argument for argument in ARGUMENTS if argument.name not in ("arrivals", "reflected")),
        Argument("tagged_reflected", "real[]", "inout"),
        Argument("tagged_y", "real[]", "inout"),
    ),
    contract="x (n,) and y (m,) make 'count' iterations; the first leaves its step in the "
    "first_difference arrays, the last its projection and step.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    work=staying_work,
    bytes_moved=staying_bytes,
)

FLOW = Family(
    "solvers.pdlp.kernels",
    "flow",
    (FLOW_STEPS,),
    cooperative=True,
    foreseen=stored_types("row_", "column_"),
)
