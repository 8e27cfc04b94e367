"""Taking a matrix in, judging its factors, and residuals: what surrounds the library's calls.

``columns`` (n, n) holds a matrix column after column, ``columns[j, i] = A[i, j]``, which is how
LAPACK and cuSOLVER want it; after the factorisation its upper triangle in that sense is U, and L
without its unit diagonal stands below. ``report`` (3, n) collects one number for each column in
each row: :data:`SUMS`, :data:`ROUNDING`, :data:`PIVOTS`.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values

SUMS, ROUNDING, PIVOTS = range(3)
"""Rows of a report: sum of magnitudes in each column of A; what rounding may have left of each
pivot; the pivots."""

STRIP = 32
"""Columns of a block: its threads are 32 lanes in 8 rows."""

BLOCK = 256


def _launch_strips(values: Values) -> Launch:
    return Launch(-(-int(values["n"]) // STRIP), BLOCK)


def _launch_rows(values: Values) -> Launch:
    """Return a launch with a warp for each row and right-hand side."""
    warps = int(values["n"]) * int(values["sides"])
    return Launch(-(-warps * 32 // BLOCK), BLOCK)


TAKE_IN = Kernel(
    name="take_in",
    arguments=(
        Argument("n", "index"),
        Argument("matrix", "real[]"),
        Argument("columns", "real[]", "out"),
        Argument("report", "real[]", "out"),
    ),
    contract="columns (n, n) becomes matrix (n, n) transposed, and report[SUMS] the sums of the "
    "magnitudes of its columns, equal up to the order of summation.",
    launch=_launch_strips,
    work=lambda values: 2 * int(values["matrix"].size),
    bytes_moved=lambda values: 2 * int(values["matrix"].nbytes),
)

JUDGE = Kernel(
    name="judge",
    arguments=(
        Argument("n", "index"),
        Argument("epsilon", "real"),
        Argument("columns", "real[]"),
        Argument("report", "real[]", "out"),
    ),
    contract="With the factors in columns (n, n), report[ROUNDING, k] becomes k epsilon times the "
    "sum over i < k of |L[k, i] U[i, k]|, equal up to the order of summation, and "
    "report[PIVOTS, k] = U[k, k].",
    launch=_launch_strips,
    work=lambda values: int(values["columns"].size),
    bytes_moved=lambda values: int(values["columns"].nbytes),
)

RESIDUAL = Kernel(
    name="residual",
    arguments=(
        Argument("n", "index"),
        Argument("sides", "int"),
        Argument("matrix", "real[]"),
        Argument("x", "real[]"),
        Argument("b", "real[]"),
        Argument("r", "real[]", "out"),
        Argument("scale", "real[]", "out"),
    ),
    contract="For each of x (sides, n) and b (sides, n), r becomes b - A x of the row-major "
    "matrix (n, n), summed in twice the precision, and scale becomes |b| + |A| |x|. Device and "
    "twin agree to rounding of the result.",
    launch=_launch_rows,
    work=lambda values: 12 * int(values["matrix"].size) * int(values["sides"]),
    bytes_moved=lambda values: (
        int(values["matrix"].nbytes) + 4 * int(values["x"].nbytes)  # x, b, r and scale
    ),
)

INSPECT = Family("solvers.linalg.dense.kernels", "inspect", (TAKE_IN, JUDGE, RESIDUAL))
