"""Product of a matrix whose rows are padded to one width and stored column by column.

Entry k of row i stands at ``k * rows + i``, so that the threads of a warp, one for each row, read
neighbouring words. ``lengths`` says where a row ends: padding is never read, and an infinite
element of the vector is never multiplied by a padded zero.

Device and twin agree up to the contraction of products and sums.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, arguments, by_owner

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
    traffic=lambda values: (
        sum(int(values[name].nbytes) for name in ("lengths", "indices", "values", "vector"))
        + 8 * int(values["rows"])
    ),
)

ELL = Family("solvers.papers.sparse_formats.kernels", "ell", (ELL_MULTIPLY,))
