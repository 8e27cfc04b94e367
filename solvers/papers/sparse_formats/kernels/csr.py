"""Product of a matrix in compressed rows, with rows shared out by their length.

The device gives a row some threads of a warp, as many for one row as for another, or, if it is
long, one or several blocks; the twin is a plain loop and has no use for that. The sum of a row
shared by several blocks is put together in a fixed order by the block that comes last, so that a
launch repeated gives the same bits.

Device and twin agree up to the order of summation within a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.kernels.declaration import WARP, Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

BLOCK = 256

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

CSR = Family("solvers.papers.sparse_formats.kernels", "csr", (CSR_MULTIPLY,))
