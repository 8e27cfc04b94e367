"""Many small matrices, one block each, in shared memory from their first column to their last.

Matrices are row-major, ``matrices`` (count, n, n). Rows are never interchanged: a row that has
given a pivot is passed over from then on, and takes its place when the result is written.
``order[b, k]`` is the row of matrix b that gave the pivot of column k, the largest magnitude left
in it, the first of equals.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values, arguments

REAL_BYTES = 8
INDEX_BYTES = 8
"""At most, in shared memory."""

SIDES_AT_ONCE = 8
"""Right-hand sides that one block of ``solve`` treats; they share its copy of the factors."""


def shared_bytes(n: int, sides: int = 0) -> int:
    """Return the shared memory for a matrix: rows of odd length, which spread over the banks.

    Behind it stand three vectors of numbers, the places of the rows, and the sides of ``solve``.
    """
    vectors = 3 + (min(sides, SIDES_AT_ONCE) if sides else 0)
    return n * (n | 1) * REAL_BYTES + vectors * n * REAL_BYTES + (n + 2) * INDEX_BYTES


def block_size(n: int) -> int:
    """Return the threads for a matrix: about one for every sixteen entries, whole warps.

    A column's step is a search by one warp and an update of (n - k)^2 entries by all; more threads
    make the update shorter and the barriers between them longer.
    """
    for threads in (64, 128, 256):
        if n * n <= 16 * threads:
            return threads
    return 512


def _launch_matrices(values: Values) -> Launch:
    n = int(values["n"])
    return Launch(int(values["count"]), block_size(n), shared_bytes(n))


def _launch_sides(values: Values) -> Launch:
    n, sides = int(values["n"]), int(values["sides"])
    chunks = -(-sides // SIDES_AT_ONCE)
    return Launch(int(values["count"]) * chunks, block_size(n), shared_bytes(n, sides))


FACTORISE = Kernel(
    name="factorise",
    arguments=arguments(
        "index count, n; real epsilon; real[] matrices; out real[] factors; "
        "out index[] order, singular; out real[] verdict"
    ),
    contract="Row k of factors[b] holds U from the diagonal on and L before it, with "
    "matrices[b, order[b]] = L U; singular[b] becomes the first column k whose pivot is at most "
    "its rounding, which is k epsilon times the sum over i < k of |L[k, i] U[i, k]|, or no number, "
    "and -1 if there is none. verdict[b] (4,) becomes the 1-norm of matrices[b], that column, its "
    "pivot and its rounding (0 for no column). Device and twin agree up to rounding, which may "
    "decide between nearly equal pivots.",
    launch=_launch_matrices,
    work=lambda values: int(values["matrices"].size) * int(values["n"]),
)

INVERT = Kernel(
    name="invert",
    arguments=arguments(
        "index count, n; real[] matrices; out real[] inverses, norms; out index[] singular"
    ),
    contract="inverses[b] becomes the inverse of matrices[b] by Gauss-Jordan elimination in "
    "place, norms (2, count) the 1-norms of both, and singular[b] the first column whose pivot is "
    "zero or no number, or -1. Device and twin agree up to rounding.",
    launch=_launch_matrices,
    work=lambda values: 2 * int(values["matrices"].size) * int(values["n"]),
)

SOLVE = Kernel(
    name="solve",
    arguments=arguments(
        "index count, n, sides; int transposed; real[] factors; index[] order; real[] b; "
        "out real[] x"
    ),
    contract="For each of b (count, sides, n), x becomes the solution of the matrix whose factors "
    "and order are those of 'factorise', or of its transpose; x may be b itself. Device and twin "
    "agree up to rounding.",
    launch=_launch_sides,
    work=lambda values: int(values["factors"].size) * int(values["sides"]),
)

BATCHED = Family("solvers.papers.dense_lu.kernels", "batched", (FACTORISE, INVERT, SOLVE))
