"""Products of matrices whose rows are padded and stored column by column: ELL and SELL.

In ELL all rows have one width. Entry k of row i stands at ``k * rows + i``, so that the threads of
a warp, one for each row, read neighbouring words. ``lengths`` says where a row ends: padding is
never read, and an infinite element of the vector is never multiplied by a padded zero.

SELL-C-sigma (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014): within windows of sigma rows the
rows are sorted by length, and slices of C = 2^slice_shift places are padded to their longest row
only. ``order`` leads from a place to its row.

Device and twin agree up to the contraction of products and sums.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, arguments, by_owner
from solvers.kernels.family import Family

BLOCK = 128

ELL_MULTIPLY = Kernel(
    name="ell_multiply",
    arguments=arguments(
        "index rows; index[] lengths, indices; real[] values, vector; out real[] product"
    ),
    contract="product (rows,) becomes the matrix times vector (columns,); row i has lengths[i] "
    "entries, the k-th at k * rows + i.",
    launch=by_owner("rows", block=BLOCK),
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
    launch=by_owner("rows", block=BLOCK),
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
)

SELL = Family("solvers.papers.sparse_formats.kernels", "sell", (ELL_MULTIPLY, SELL_MULTIPLY))
