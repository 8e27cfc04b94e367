"""Products of a matrix with a vector, in each of the ``formats``.

CSR. The device gives a row some threads of a warp, as many for one row as for another, or, if it is
long, one or several blocks; the twin is a plain loop and has no use for that. The sum of a row
shared by several blocks is put together in a fixed order by the block that comes last.

COO, sorted by rows: equal work for every warp. Entries are cut into chunks of equal size whatever
the rows are. Rows that lie inside a chunk are summed and written there; what a chunk holds of its
first and of its last row goes into ``carries`` and is added up in a second pass, in the order of
the chunks.

ELL and SELL: rows are padded and stored column by column. In ELL all rows have one width. Entry k
of row i stands at ``k * rows + i``, so that the threads of a warp, one for each row, read
neighbouring words. ``lengths`` says where a row ends: padding is never read, and an infinite
element of the vector is never multiplied by a padded zero. SELL-C-sigma (Kreutzer et al., SIAM J.
Sci. Comput. 36, 2014): within windows of sigma rows the rows are sorted by length, and slices of
C = 2^slice_shift places are padded to their longest row only. ``order`` leads from a place to its
row.

No sum uses an atomic operation, so that a launch repeated gives the same bits. Device and twin
agree up to the order of summation within a row, and the contraction of products and sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.kernels.declaration import WARP, Kernel, Launch, Values, arguments, by_owner, structure
from solvers.kernels.family import Family

BLOCK, BLOCK_OF_PLACES = 256, 128
"""Threads of a block; of one whose threads own a place of ELL or SELL each."""

ENTRIES_PER_LANE = 2
"""Entries for which a row gets one more thread: neighbouring threads read neighbouring words, and
a thread has several reads under way."""

LONG_LENGTHS = (32, 64, 128, 256, 512, 1024)
"""Rows longer than the first of these get blocks, unless too many are; then the next."""

CHUNKS = (1024, 2048, 4096, 8192)
"""Entries of a long row that one block takes: 4 to 32 for each thread."""

BLOCKS_AT_ONCE = 1024
"""Blocks that a large GPU runs at the same time. Up to this, more blocks end sooner."""


@dataclass(frozen=True, eq=False)
class Shared:
    """How rows are shared out over threads; see the contract of ``csr_multiply``."""

    lanes: int
    long_length: int
    chunk: int
    chunks: int
    chunk_rows: Any
    chunk_firsts: Any
    partials: Any
    tickets: Any


def share_rows(xp: Any, lengths: Any) -> Shared:
    """Share out rows of these lengths: long ones over as many blocks as run at once."""
    for limit in LONG_LENGTHS:
        rows = xp.flatnonzero(lengths > limit)
        if rows.size <= BLOCKS_AT_ONCE:
            break
    long = np.array(lengths[rows].tolist(), dtype=np.int64)
    chunk = next((c for c in CHUNKS if (-(-long // c)).sum() <= BLOCKS_AT_ONCE), CHUNKS[-1])
    pieces = -(-long // chunk)
    total = int(pieces.sum())
    short = max(1, lengths.size - long.size)
    mean = (float(lengths.sum()) - float(long.sum())) / short
    lanes = 1
    while lanes < WARP and lanes * ENTRIES_PER_LANE < mean:
        lanes *= 2
    chunk_rows = np.repeat(np.array(rows.tolist(), dtype=np.int32), pieces)
    chunk_firsts = np.repeat((np.cumsum(pieces) - pieces).astype(np.int32), pieces)
    return Shared(
        lanes, limit, chunk, total, xp.asarray(chunk_rows), xp.asarray(chunk_firsts),
        xp.zeros(total), xp.zeros(total, dtype=np.int32),
    )  # fmt: skip


def launch(values: Values) -> Launch:
    """Return a block for each chunk of a long row, then whole blocks of rows."""
    threads = int(values["rows"]) * int(values["lanes"])
    return Launch(int(values["chunks"]) + -(-threads // BLOCK), BLOCK)


CSR_MULTIPLY = Kernel(
    name="csr_multiply",
    arguments=(
        *structure("matrix", "index rows; index[] starts, indices; real[] values", prefix=""),
        *structure(
            "shared",
            "int lanes; index long_length, chunk, chunks; index[] chunk_rows, chunk_firsts; "
            "inout real[] partials; inout index[] tickets",
            prefix="",
        ),
        *arguments("real[] vector; out real[] product"),
    ),
    contract="product (rows,) becomes the matrix times vector (columns,). Rows of at most "
    "long_length entries have 'lanes' threads each; longer ones are cut into chunks of 'chunk' "
    "entries, of which chunk_rows (chunks,) are the rows and chunk_firsts the first chunks of "
    "these; 'tickets' must be 0 before and is 0 again after.",
    launch=launch,
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
)


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

ELL_MULTIPLY = Kernel(
    name="ell_multiply",
    arguments=arguments(
        "index rows; index[] lengths, indices; real[] values, vector; out real[] product"
    ),
    contract="product (rows,) becomes the matrix times vector (columns,); row i has lengths[i] "
    "entries, the k-th at k * rows + i.",
    launch=by_owner("rows", block=BLOCK_OF_PLACES),
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
)

SELL_MULTIPLY = Kernel(
    name="sell_multiply",
    arguments=arguments(
        "index rows; int slice_shift; index[] slice_starts, lengths, order, indices; "
        "real[] values, vector; out real[] product"
    ),
    contract="product (rows,) becomes the matrix times vector (columns,). Place p holds row "
    "order[p] with lengths[p] entries; with C = 2^slice_shift, the "
    "k-th stands at slice_starts[p / C] + k * C + p % C.",
    launch=by_owner("rows", block=BLOCK_OF_PLACES),
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
)

PRODUCTS = Family(
    "solvers.papers.sparse_formats.kernels",
    "products",
    (CSR_MULTIPLY, COO_CLEAR, COO_SEGMENTS, COO_CARRIES, ELL_MULTIPLY, SELL_MULTIPLY),
)
