"""Product of a matrix in coordinates, sorted by rows: equal work for every warp.

Entries are cut into chunks of equal size whatever the rows are. Rows that lie inside a chunk are
summed and written there; what a chunk holds of its first and of its last row goes into
``carries`` and is added up in a second pass, in the order of the chunks. No sum uses an atomic
operation, so that a launch repeated gives the same bits.

Device and twin agree up to the order of summation within a row.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, by_owner
from solvers.kernels.family import Family

BLOCK = 256
WARP = 32


def _a_warp_each(values: Values, owners: int) -> Launch:
    return Launch(-(-owners * WARP // BLOCK), BLOCK)


COO_CLEAR = Kernel(
    name="coo_clear",
    arguments=arguments("index rows; out real[] product"),
    contract="product (rows,) becomes 0; rows without entries stay so.",
    launch=by_owner("rows", block=BLOCK),
    work=lambda values: int(values["rows"]),
)

COO_SEGMENTS = Kernel(
    name="coo_segments",
    arguments=arguments(
        "index entries; int chunk; index[] row_indices, indices; real[] values, vector; "
        "out real[] product, carries"
    ),
    contract="Entries are cut into chunks of 'chunk', a multiple of 32. product[i] becomes the "
    "sum of row i where the row is neither the first nor the last of a chunk; carries[2c] and "
    "carries[2c + 1] become chunk c's sums of its first and last row, the latter 0 if they are "
    "one row.",
    launch=lambda values: _a_warp_each(values, -(-int(values["entries"]) // int(values["chunk"]))),
    work=lambda values: int(values["entries"]),
)

COO_CARRIES = Kernel(
    name="coo_carries",
    arguments=arguments(
        "index entries; int chunk; index[] row_indices; real[] carries; out real[] product"
    ),
    contract="product[i] becomes the sum of all carries of row i, for every row that has some.",
    launch=lambda values: _a_warp_each(
        values, 2 * -(-int(values["entries"]) // int(values["chunk"]))
    ),
    work=lambda values: 2 * int(values["entries"]) // int(values["chunk"]),
)

COO = Family("solvers.papers.sparse_formats.kernels", "coo", (COO_CLEAR, COO_SEGMENTS, COO_CARRIES))
