"""Gaussian elimination by three kernels for each column, as a paper describes it.

De Luca, Fiorillo, Marcellino, *A GPU-CUDA numerical algorithm for solving a biological model*
(AppliedMath 5, 2025), section 4: the augmented matrix [A | b] stands row after row, n rows of n + 1
columns; step k looks for the pivot, interchanges two rows and subtracts multiples of the pivot's
row. It is here to be measured, not to be used: each step passes over the whole matrix in memory,
for two operations on each number, and waits for the host three times.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments
from solvers.kernels.family import Family

PIVOT_BLOCK = 256
SWAP_BLOCK = 256

TILE = 16
"""Rows and columns of the matrix that a block of ``eliminate`` covers: 256 threads."""


def _tiles(values: Values) -> int:
    n = int(values["n"])
    return -(-n // TILE) * -(-(n + 1) // TILE)


FIND_PIVOT = Kernel(
    name="find_pivot",
    arguments=arguments("index n, k; real[] augmented; out index[] row"),
    contract="row (1,) becomes the row from k on with the largest magnitude in column k, the first "
    "of equals; n where all of them are no numbers. Device and twin agree exactly.",
    launch=lambda values: Launch(1, PIVOT_BLOCK),
)

SWAP_ROWS = Kernel(
    name="swap_rows",
    arguments=arguments("index n, k, other; inout real[] augmented"),
    contract="Rows k and 'other' of augmented (n, n + 1) are interchanged, exactly.",
    launch=lambda values: Launch(-(-(int(values["n"]) + 1) // SWAP_BLOCK), SWAP_BLOCK),
)

ELIMINATE = Kernel(
    name="eliminate",
    arguments=arguments("index n, k; inout real[] augmented"),
    contract="Row k of augmented (n, n + 1), times what makes their entries in column k vanish, is "
    "subtracted from the rows below, from column k + 1 on; the entries of column k stay. Device "
    "and twin agree to rounding.",
    launch=lambda values: Launch(_tiles(values), TILE * TILE),
)

ELIMINATION = Family(
    "solvers.papers.dense_lu.kernels",
    "elimination",
    (FIND_PIVOT, SWAP_ROWS, ELIMINATE),
    in_numpy=True,
)
