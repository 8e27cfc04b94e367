"""Product of a matrix in slices of rows of like length, each stored column by column.

SELL-C-sigma (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014): within windows of sigma rows the
rows are sorted by length, and slices of C = 2^slice_shift places are padded to their longest row
only. ``order`` leads from a place to its row. As in ELL, padding is never read.

Device and twin agree up to the contraction of products and sums.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, arguments, by_owner, stored_types
from solvers.papers.sparse_formats.kernels.storage import STORAGE, storage_bytes

BLOCK = 128

SELL_MULTIPLY = Kernel(
    name="sell_multiply",
    arguments=(
        *arguments(
            "index rows; int slice_shift; index[] slice_starts, lengths, order; int ordered"
        ),
        *STORAGE,
        *arguments("real[] vector; out real[] product"),
    ),
    contract="product (rows,) becomes the matrix times vector (columns,). Place p holds row "
    "order[p], or p where not 'ordered', with lengths[p] entries; with C = 2^slice_shift, the "
    "k-th stands at slice_starts[p / C] + k * C + p % C.",
    launch=by_owner("rows", block=BLOCK),
    work=lambda values: int(values["values"].size) + 4 * int(values["rows"]),
    traffic=lambda values: (
        storage_bytes(values)
        + sum(int(values[name].nbytes) for name in ("slice_starts", "lengths", "order"))
        + 8 * int(values["rows"])
    ),
)

SELL = Family(
    "solvers.papers.sparse_formats.kernels", "sell", (SELL_MULTIPLY,), foreseen=stored_types("")
)
