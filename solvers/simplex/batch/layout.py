"""How LPs are laid out on a GPU: where a block keeps its LP, and how many threads and blocks."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.simplex.batch.kernels.simplex import (
    ALL_FAR,
    ALL_NEAR,
    COLUMN_VECTORS,
    HELD_COLUMNS,
    HELD_ENTRIES,
    MATRIX_FAR,
    ROW_VECTORS,
    VARIABLE_VECTORS,
)

REAL = 8
INT = 4

SHARED_MEMORY = 232_448
"""Bytes of shared memory a block may have on an H100 or H200."""

DECLARED_SHARED = 2 * 1024
"""Bytes of it left for what the kernel itself declares."""

ENTRIES_PER_THREAD = 25
"""Entries of a dictionary for each thread, about: enough of them to hide the waits of a pivot's
choices behind the other blocks of a multiprocessor."""

SMALLEST_BLOCK, LARGEST_BLOCK = 32, 512

WARP = 32

BLOCKS_PER_PROCESSOR = 32
FAR_BLOCKS_PER_PROCESSOR = 2
"""Blocks in the grid for each multiprocessor; those that come later find the queue empty. Where
dictionaries are in global memory, few blocks keep more of them in the cache."""


@dataclass(frozen=True)
class Layout:
    """Launch arguments of the kernel that depend on sizes only; see ``kernels/simplex.py``.

    ``held`` says that it is kernel ``simplex_held``; ``scratch_step`` counts
    the numbers of a block's part of ``scratch``.
    """

    place: int
    leading: int
    held: bool
    block: int
    blocks: int
    shared: int
    scratch_step: int


def find_layout(
    rows: int, columns: int, *, count: int, processors: int, shared_memory: int = SHARED_MEMORY
) -> Layout:
    """Choose by size.

    Parameters
    ----------
    rows, columns : int
        Of each LP.
    count : int
        LPs.
    processors : int
        Multiprocessors of the GPU.
    shared_memory : int
        Bytes of shared memory a block may have on it.
    """
    room = shared_memory - DECLARED_SHARED
    held = _held_layout(rows, columns, room, count, processors)
    if held is not None:
        return held
    block = _threads(rows, columns)
    vectors = vector_bytes(rows, columns, block)
    # an odd number of rows lets the threads that read along a row meet different banks
    leading = rows | 1
    matrix = REAL * leading * columns
    if vectors + matrix <= room:
        place, shared, scratch = ALL_NEAR, vectors + matrix, 0
    else:
        leading = -(-rows // 4) * 4  # whole sectors of 32 bytes
        scratch = leading * columns
        place, shared = MATRIX_FAR, vectors
        if vectors > room:
            place, shared = ALL_FAR, 0
            scratch += vectors // REAL
    most = BLOCKS_PER_PROCESSOR if place == ALL_NEAR else FAR_BLOCKS_PER_PROCESSOR
    blocks = max(1, min(count, most * processors))
    return Layout(place, leading, False, block, blocks, shared, scratch)


def _held_layout(rows: int, columns: int, room: int, count: int, processors: int) -> Layout | None:
    """Return the layout with the dictionary in registers, where it fits."""
    shares = -(-columns // HELD_ENTRIES)
    block = -(-rows * shares // WARP) * WARP
    if not 0 < block <= LARGEST_BLOCK or columns > HELD_COLUMNS:
        return None
    leading = rows | 1
    shared = vector_bytes(rows, columns, block) + held_bytes(columns, block)
    shared += REAL * leading * columns
    if shared > room:
        return None
    blocks = max(1, min(count, BLOCKS_PER_PROCESSOR * processors))
    return Layout(ALL_NEAR, leading, True, block, blocks, shared, 0)


def held_bytes(columns: int, block: int) -> int:
    """Return the bytes of what a block keeps beside a dictionary in registers; see held.cuh."""
    padded = -(-columns // HELD_ENTRIES) * HELD_ENTRIES
    alignment = 1
    return REAL * (alignment + 2 * padded + 2 * block)


def vector_bytes(rows: int, columns: int, block: int) -> int:
    """Return the bytes of all that a block keeps beside the dictionary; see state.cuh."""
    variables = rows + columns
    reals = COLUMN_VECTORS * columns + ROW_VECTORS * rows + VARIABLE_VECTORS * variables
    reals += block  # partial sums
    integers = 2 * variables + columns
    return REAL * (reals + -(-integers * INT // REAL))


def _threads(rows: int, columns: int) -> int:
    """Return threads of a block: whole warps for each 32 rows, with few enough entries each."""
    groups = max(1, -(-rows // WARP))
    block = SMALLEST_BLOCK * groups
    while block < LARGEST_BLOCK and block * ENTRIES_PER_THREAD < rows * columns:
        block *= 2
    return min(block, LARGEST_BLOCK)
