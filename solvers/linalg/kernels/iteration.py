"""The steps of a conjugate gradient iteration, fused around its matrix products.

For M x = b with a preconditioner B, u = B r, an iteration (Hestenes and Stiefel 1952) is
``product``, which leaves alpha in ``control``, and ``update``, which leaves beta::

    p = u + beta p    s = M p             alpha = gamma / p's
    x += alpha p      r -= alpha s    u = B r               beta = r'u / gamma, gamma = r'u

For M = A D A' ``columns_step`` goes first and makes q = D A' (u + beta p), of which the product
step then takes A q.

All scalars stay in ``control`` (places below), where the block that finishes last puts them:
the host need not look before many iterations are done. Once ``control[STOP]`` is set, every step
returns at once and leaves all vectors as they are. Device and twin agree up to the order of
summation; each repeats its own bits.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values, arguments

# What the kernels of this folder share: the layout of a matrix, and how work is spread.
#
# Matrices come in compressed rows. Every kernel that combines sums leaves one partial sum per
# slot; the block that finishes last adds the slots in their order and decides what follows, so
# that the same bits come out however the blocks were scheduled.


BLOCK = 256

MOST_BLOCKS = 1056
"""Blocks beside those of the long rows: eight for each of 132 multiprocessors fill an H200."""

REAL_BYTES = 8

ROWS_PER_SLOT = 2048
"""Rows whose terms the CPU adds one after the other before the sums are combined."""

LAYOUT = arguments(
    "index rows; index[] starts, indices; real[] values; index long_count; index[] long_rows; "
    "index long_length; int lanes"
)
"""Rows of a compressed matrix: starts (rows + 1,), indices and values (nnz,), long_rows
(long_count,) the rows above ``long_length`` entries, ``lanes`` the threads for any other row."""

REDUCTION = arguments("int slots; out real[] partial; inout index[] ticket")
"""Where sums are combined: partial (slots, sums) and ticket (1,), zero between launches."""

ALPHA, BETA, RZ, RR, ITERATIONS, STOP, TARGET, LIMIT = range(8)
CONTROL_SIZE = 8
"""Places of the scalars in ``control``: step sizes alpha and beta, r'u, r'r, the iterations so
far, why it stopped (0: it has not), the square of the residual aimed at, the most iterations."""

RUNNING, CONVERGED, BREAKDOWN, OUT_OF_ITERATIONS = range(4)
"""Values of ``control[STOP]``."""


def launch_rows(values: Values) -> Launch:
    """One block for each long row; the rest of the rows share blocks that come round again."""
    rows = int(values["rows"])
    if rows == 0:
        return Launch(0, BLOCK)
    shared = -(-rows * int(values["lanes"]) // BLOCK)
    return Launch(int(values["long_count"]) + min(shared, MOST_BLOCKS), BLOCK)


def launch_vector(values: Values) -> Launch:
    """One thread for each element, in blocks that come round again."""
    return Launch(min(-(-int(values["rows"]) // BLOCK), MOST_BLOCKS), BLOCK)


def row_work(values: Values) -> int:
    """Entries plus a few steps for each row."""
    return int(values["values"].size) + 8 * int(values["rows"])


def vector_work(values: Values) -> int:
    """Count a few steps for each row."""
    return 8 * int(values["rows"])


def matrix_bytes(values: Values, *gathered: str) -> int:
    """Bytes of the matrix and of the gathered vectors, each read once."""
    arrays = ("starts", "indices", "values", *gathered)
    return sum(int(values[name].nbytes) for name in arrays)


def vector_bytes(values: Values, count: int) -> int:
    """Bytes of ``count`` vectors with an element for each row."""
    return count * REAL_BYTES * int(values["rows"])


# What preconditioners and residuals need of a matrix: products and its diagonal.
#
# ``normal`` says which operator the matrix stands for: 0 the symmetric matrix M itself, 1 the
# product M = A D A' of its rows A (m, n) and the weights D = diag(weight), which is never formed.
# Device and twin agree up to the order of summation.


MULTIPLY = Kernel(
    name="multiply",
    arguments=(*LAYOUT, *arguments("real[] vector; int magnitudes; out real[] product")),
    contract="product (rows,) becomes the matrix times vector (columns,); with 'magnitudes' the "
    "entries count without their signs.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: matrix_bytes(values, "vector") + vector_bytes(values, 1),
)

RESIDUAL = Kernel(
    name="residual",
    arguments=(*LAYOUT, *arguments("real[] vector, side; out real[] r")),
    contract="r (rows,) becomes side (rows,) less the matrix times vector (columns,).",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: matrix_bytes(values, "vector") + vector_bytes(values, 2),
)

DIAGONAL = Kernel(
    name="diagonal",
    arguments=(*LAYOUT, *arguments("real[] weight; int normal; out real[] product")),
    contract="product (rows,) becomes the diagonal of M; weight (n,) is read for A D A' only.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: matrix_bytes(values, "weight") + vector_bytes(values, 1),
)


COLUMNS_STEP = Kernel(
    name="columns_step",
    arguments=(
        *LAYOUT,
        *arguments("real[] weight, u, p, control; out real[] q"),
    ),
    contract="q (n,) becomes weight * A'(u + beta p) with the matrix A'.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: matrix_bytes(values, "u", "p") + vector_bytes(values, 2),
)

PRODUCT = Kernel(
    name="product",
    arguments=(
        *LAYOUT,
        *arguments("real[] gathered; int direct; real[] u, p; out real[] p_next, s"),
        *REDUCTION,
        *arguments("inout real[] control"),
    ),
    contract="p_next (m,) becomes u + beta p, and s (m,) the matrix times p_next with 'direct', "
    "times 'gathered' without; control gets alpha and one more iteration, or a reason to stop.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: (
        matrix_bytes(values, *([] if values["direct"] else ["gathered"])) + vector_bytes(values, 4)
    ),
)

UPDATE = Kernel(
    name="update",
    arguments=(
        *arguments("index rows; real[] inverse, p, s; inout real[] x, r; out real[] u"),
        *REDUCTION,
        *arguments("inout real[] control"),
    ),
    contract="x, r and u (m,) take their step, u by the diagonal 'inverse' (m,) of B; control gets "
    "r'u, r'r and beta, or a reason to stop.",
    launch=launch_vector,
    work=vector_work,
    traffic=lambda values: vector_bytes(values, 8),
)

ITERATION = Family(
    "solvers.linalg.kernels",
    "iteration",
    (MULTIPLY, RESIDUAL, DIAGONAL, COLUMNS_STEP, PRODUCT, UPDATE),
)
