"""Taking a matrix in, judging its factors, and residuals: what surrounds the library's calls.

``columns`` (n, n) holds a matrix column after column, ``columns[j, i] = A[i, j]``, which is how
LAPACK and cuSOLVER want it; after the factorisation its upper triangle in that sense is U, and L
without its unit diagonal stands below. ``report`` (3, n) collects one number for each column in
each row: :data:`SUMS`, :data:`ROUNDING`, :data:`PIVOTS`.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values, arguments

SUMS, ROUNDING, PIVOTS = range(3)
"""Rows of a report: sum of magnitudes in each column of A; what rounding may have left of each
pivot; the pivots."""

STRIP = 32
"""Columns of a block: its threads are 32 lanes in 8 rows."""

PART = 128
"""Rows of a block. What blocks of one strip find is added afterwards, from the first to the last:
with all rows in one block, a matrix of 400 rows would wait for 13 rounds of 13 blocks."""

BLOCK = 256


def parts(n: int) -> int:
    """Return how many blocks share a column."""
    return -(-n // PART)


def _launch_tiles(values: Values) -> Launch:
    n = int(values["n"])
    return Launch(-(-n // STRIP) * parts(n), BLOCK)


def _launch_rows(values: Values) -> Launch:
    """Return a launch with a warp for each row and right-hand side."""
    warps = int(values["n"]) * int(values["sides"])
    return Launch(-(-warps * 32 // BLOCK), BLOCK)


TAKE_IN = Kernel(
    name="take_in",
    arguments=arguments("index n; real[] matrix; out real[] columns, sums"),
    contract="columns (n, n) becomes matrix (n, n) transposed, and sums (parts, n) the sums of the "
    "magnitudes of its columns, over 128 rows in each part; equal up to the order of summation.",
    launch=_launch_tiles,
    work=lambda values: 2 * int(values["matrix"].size),
)

WEIGH = Kernel(
    name="weigh",
    arguments=arguments("index n; real[] columns; out real[] sums"),
    contract="With the factors in columns (n, n), sums (parts, n) become the sums over i < k of "
    "|L[k, i] U[i, k]|, over 128 of the i in each part; equal up to the order of summation.",
    launch=_launch_tiles,
    work=lambda values: int(values["columns"].size),
)

CONCLUDE = Kernel(
    name="conclude",
    arguments=arguments(
        "index n; int parts; real epsilon; real[] columns, sums, weights; out real[] report"
    ),
    contract="report (3, n) becomes the totals over the parts of sums (parts, n), k epsilon times "
    "those of weights (parts, n) in place k, and the diagonal of columns (n, n); exactly.",
    launch=lambda values: Launch(-(-int(values["n"]) // BLOCK), BLOCK),
    work=lambda values: 2 * int(values["sums"].size),
)

RESIDUAL = Kernel(
    name="residual",
    arguments=arguments("index n; int sides; real[] matrix, x, b; out real[] r, scale"),
    contract="For each of x (sides, n) and b (sides, n), r becomes b - A x of the row-major "
    "matrix (n, n), summed in twice the precision, and scale becomes |b| + |A| |x|. Device and "
    "twin agree to rounding of the result.",
    launch=_launch_rows,
    work=lambda values: 12 * int(values["matrix"].size) * int(values["sides"]),
)

INSPECT = Family("solvers.papers.dense_lu.kernels", "inspect", (TAKE_IN, WEIGH, CONCLUDE, RESIDUAL))
