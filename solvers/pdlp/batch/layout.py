"""How LPs are laid out on a GPU: where a block keeps its LP, and how many threads and blocks."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.pdlp.batch.kernels.solve import (
    COLUMN_VECTORS,
    DENSE,
    LARGE,
    MIXED,
    ROW_VECTORS,
    SPARSE,
)

REAL = 8
INT = 4

SHARED_MEMORY = 232_448
"""Bytes of shared memory a block may have on an H100 or H200."""

DECLARED_SHARED = 8 * 1024
"""Bytes of it left for what the kernel itself declares."""

DENSE_FROM = 0.35
"""Part of the entries that are not zero from which rows are kept with their zeros."""

VERTEX_SHARED = 100 * 1024
"""A block that would need more than this keeps the basis it solves for in global memory."""

LARGEST_VERTEX = 160
"""Most columns of a basis that is solved for: the work grows with the cube."""

ENTRIES_PER_THREAD = 20
SMALLEST_BLOCK, LARGEST_BLOCK = 64, 512

BLOCKS_PER_PROCESSOR = 8
LARGE_BLOCKS_PER_PROCESSOR = 2
"""Blocks in the grid for each multiprocessor; those that come later find the queue empty."""


@dataclass(frozen=True)
class Layout:
    """Launch arguments of the kernel that depend on sizes only; see ``kernels/solve.py``.

    ``scratch_step`` counts the numbers of a block's part of ``scratch``.
    """

    storage: int
    leading: int
    vertex_limit: int
    vertex_shared: bool
    block: int
    blocks: int
    shared: int
    scratch_step: int


def find_layout(
    rows: int,
    columns: int,
    nonzeros: int,
    *,
    own_matrix: bool,
    count: int,
    processors: int,
    shared_memory: int = SHARED_MEMORY,
) -> Layout:
    """Choose by size.

    Parameters
    ----------
    rows, columns, nonzeros : int
        Of each LP, all positive.
    own_matrix : bool
        Whether coefficients differ from LP to LP.
    count : int
        LPs.
    processors : int
        Multiprocessors of the GPU.
    shared_memory : int
        Bytes of shared memory a block may have on it.
    """
    block = _threads(nonzeros)
    leading = _leading(rows, columns, block)
    vectors = _vector_bytes(rows, columns)
    room = shared_memory - DECLARED_SHARED - vectors
    storage, matrix = _storage(rows, columns, nonzeros, leading, room, block)
    shared = (0 if storage == LARGE else vectors) + (matrix if storage < MIXED else 0)
    scratch = (vectors if storage == LARGE else 0) // REAL
    scratch += 2 * nonzeros if storage >= MIXED and own_matrix else 0
    vertex_limit = min(rows, columns, LARGEST_VERTEX)
    basis = REAL * vertex_limit**2
    vertex_shared = storage < MIXED and shared + basis <= VERTEX_SHARED
    if vertex_shared:
        shared += basis
    else:
        scratch += vertex_limit**2
    most = LARGE_BLOCKS_PER_PROCESSOR if storage >= MIXED else BLOCKS_PER_PROCESSOR
    blocks = max(1, min(count, most * processors))
    return Layout(
        storage, leading, vertex_limit, vertex_shared, block, blocks, shared, int(scratch)
    )


def _threads(nonzeros: int) -> int:
    """Return the smallest power of two of threads with few enough entries for each."""
    block = SMALLEST_BLOCK
    while block < LARGEST_BLOCK and block * ENTRIES_PER_THREAD < nonzeros:
        block *= 2
    return block


def _leading(rows: int, columns: int, block: int) -> int:
    """Pad rows so that the lanes of neighbouring rows read from different banks."""
    lanes = 1
    while 2 * lanes <= 32 and 2 * lanes * rows <= block and lanes < columns:
        lanes *= 2
    banks = 16  # of 8 bytes
    return columns + (lanes - columns) % banks


def _vector_bytes(rows: int, columns: int) -> int:
    reals = REAL * (COLUMN_VECTORS * columns + ROW_VECTORS * rows)
    integers = INT * (2 * columns + rows)
    return reals + -(-integers // REAL) * REAL


def _storage(
    rows: int, columns: int, nonzeros: int, leading: int, room: int, block: int
) -> tuple[int, int]:
    """Return where an LP is kept, and the bytes of its matrix there; ``room`` is beside vectors."""
    dense = REAL * (rows * leading + block)
    sparse = REAL * 2 * nonzeros
    if nonzeros >= DENSE_FROM * rows * columns and dense <= room:
        return DENSE, dense
    if sparse <= room:
        return SPARSE, sparse
    return (MIXED if room >= 0 else LARGE), sparse
