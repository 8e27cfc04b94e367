"""Product of a matrix in compressed rows, with rows shared out by their length.

The device gives a row one, two, ... or 32 threads, a whole block, or several blocks
(``solvers/papers/sparse_formats/schedule.py`` decides); the twin is a plain loop and has no use
for that. The sum of a row shared by several blocks is put together in a fixed order by the block
that comes last, so that a launch repeated gives the same bits. Two launches at once on one matrix
would share the scratch arrays ``partials`` and ``tickets``, and must not be.

Device and twin agree up to the order of summation within a row.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values, arguments, stored_types

# How kernels are passed the entries of a matrix in whatever form they are stored.


STORAGE = arguments("packed[] indices, values; real[] dictionary; index[] bases; int base_shift")
"""Column indices and values (entries,) as stored; the reals that codes of 8 or 16 bits stand for;
and what indices of 16 bits are counted from, one base for 2^base_shift places."""


def storage_bytes(values: Values) -> int:
    """Bytes of the matrix entries and of the vector, each read once."""
    names = ("indices", "values", "dictionary", "bases", "vector")
    return sum(int(values[name].nbytes) for name in names)


BLOCK = 256
"""Threads of a block, as ``csr.cu`` takes for granted."""

LANES = (1, 2, 4, 8, 16, 32)
"""Threads that a row may get within a warp."""


def launch(values: Values) -> Launch:
    """Return a block for each chunk of a long row, then whole blocks for each number of lanes."""
    grid, begin = int(values["chunks"]), 0
    for lanes in LANES:
        end = int(values[f"end_{lanes}"])
        grid += -(-(end - begin) * lanes // BLOCK)
        begin = end
    return Launch(grid, BLOCK)


CSR_MULTIPLY = Kernel(
    name="csr_multiply",
    arguments=(
        *arguments("index rows; index[] starts"),
        *STORAGE,
        *arguments("index[] order; int ordered"),
        *(Argument(f"end_{lanes}", "index") for lanes in LANES),
        *arguments(
            "index long_length, chunk, chunks; index[] chunk_rows, chunk_firsts; "
            "inout real[] partials; inout index[] tickets; real[] vector; out real[] product"
        ),
    ),
    contract="product (rows,) becomes the matrix times vector (columns,). 'order' lists the rows "
    "of at most long_length entries by their number of threads where 'ordered', and place p is "
    "row p otherwise; end_k is the place where those with up to k threads end. Longer rows are "
    "cut into chunks of 'chunk' entries; 'tickets' must be 0 before and is 0 again after.",
    launch=launch,
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
    traffic=lambda values: (
        storage_bytes(values)
        + int(values["starts"].nbytes)
        + int(values["order"].nbytes)
        + 8 * int(values["rows"])
    ),
)

CSR = Family(
    "solvers.papers.sparse_formats.kernels", "csr", (CSR_MULTIPLY,), foreseen=stored_types("")
)
