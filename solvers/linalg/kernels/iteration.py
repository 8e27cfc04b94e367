"""The steps of a conjugate gradient iteration, fused around its matrix products.

For M x = b with a preconditioner B, u = B r. One iteration of the single-reduction form
(Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems", 1989) is
``product_single``, which leaves alpha and beta in ``control``, and ``update_single``::

    w = M u      gamma = r'u, delta = u'w, rr = r'r         beta = gamma / gamma_old
                                          alpha = gamma / (delta - beta gamma / alpha_old)
    p = u + beta p    s = w + beta s    x += alpha p    r -= alpha s    u = B r

One of the classic form with its two reductions is ``product_classic`` and ``update_classic``::

    p = u + beta p    s = M p             alpha = gamma / p's
    x += alpha p      r -= alpha s    u = B r               beta = r'u / gamma, gamma = r'u

For M = A D A' ``columns_step`` goes first and makes q = D A' (u + beta p), of which the product
step then takes A q. ``polynomial_step`` improves u = B r by products with M.

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

ALPHA, BETA, RZ, RR, ITERATIONS, STOP, TARGET, LIMIT, FRESH = range(9)
CONTROL_SIZE = 9
"""Places of the scalars in ``control``: step sizes alpha and beta, r'u, r'r, the iterations so
far, why it stopped (0: it has not), the square of the residual aimed at, the most iterations,
and whether no direction exists yet."""

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
    """Elements of the inverse blocks plus a few steps for each row."""
    return int(values["inverse"].size) + 8 * int(values["rows"])


def matrix_bytes(values: Values, *gathered: str) -> int:
    """Bytes of the matrix and of the gathered vectors, each read once."""
    arrays = ("starts", "indices", "values", *gathered)
    return sum(int(values[name].nbytes) for name in arrays)


def vector_bytes(values: Values, count: int) -> int:
    """Bytes of ``count`` vectors with an element for each row."""
    return count * REAL_BYTES * int(values["rows"])


# What preconditioners and residuals need of a matrix: products, diagonals, diagonal blocks.
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


def _launch_blocks(values: Values) -> Launch:
    elements = int(values["rows"]) * int(values["block_size"])
    return Launch(-(-elements // BLOCK), BLOCK)


DIAGONAL_BLOCKS = Kernel(
    name="diagonal_blocks",
    arguments=(*LAYOUT, *arguments("real[] weight; int normal, block_size; out real[] blocks")),
    contract="blocks (whole blocks * block_size^2,) gets the entries of M whose row and "
    "column stand in the same run of block_size rows; what lies beyond the last row is left as it "
    "was. Indices within a row must ascend.",
    launch=_launch_blocks,
    work=lambda values: int(values["values"].size) * 2 * int(values["block_size"]),
    traffic=lambda values: matrix_bytes(values, "weight") + int(values["blocks"].nbytes),
)


COLUMNS_STEP = Kernel(
    name="columns_step",
    arguments=(
        *LAYOUT,
        *arguments("real[] weight, u, p; int with_p; real[] control; out real[] q"),
    ),
    contract="q (n,) becomes weight * A'(u + beta p) with the matrix A', or weight * A'u without "
    "'with_p'.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: (
        matrix_bytes(values, "u", *(["p"] if values["with_p"] else [])) + vector_bytes(values, 2)
    ),
)

PRODUCT_SINGLE = Kernel(
    name="product_single",
    arguments=(
        *LAYOUT,
        *arguments("real[] gathered, u, r; out real[] w"),
        *REDUCTION,
        *arguments("inout real[] control"),
    ),
    contract="w (m,) becomes the matrix times 'gathered', which is u for a symmetric matrix and q "
    "for A; control gets r'u, r'r, alpha and beta, one more iteration, or a reason to stop.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: (
        matrix_bytes(values, "gathered")
        + vector_bytes(values, 2 if values["gathered"] is values["u"] else 3)
    ),
)

UPDATE_SINGLE = Kernel(
    name="update_single",
    arguments=arguments(
        "index rows; int block_size; real[] inverse, w; inout real[] p, s, x, r, u; real[] control"
    ),
    contract="p, s, x, r and u (m,) take their step; inverse (whole blocks * block_size^2,) holds "
    "the symmetric diagonal blocks of B.",
    launch=launch_vector,
    work=vector_work,
    traffic=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 11),
)

PRODUCT_CLASSIC = Kernel(
    name="product_classic",
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

UPDATE_CLASSIC = Kernel(
    name="update_classic",
    arguments=(
        *arguments(
            "index rows; int block_size; real[] inverse, p, s; inout real[] x, r; out real[] u"
        ),
        *REDUCTION,
        *arguments("inout real[] control"),
    ),
    contract="x, r and u (m,) take their step; control gets r'u, r'r and beta, or a reason to "
    "stop.",
    launch=launch_vector,
    work=vector_work,
    traffic=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 7),
)

PRECONDITION = Kernel(
    name="precondition",
    arguments=arguments("index rows; int block_size; real[] inverse, r; out real[] u"),
    contract="u (m,) becomes the diagonal blocks of B times r (m,).",
    launch=launch_vector,
    work=vector_work,
    traffic=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 2),
)

POLYNOMIAL_STEP = Kernel(
    name="polynomial_step",
    arguments=(
        *LAYOUT,
        *arguments(
            "real[] gathered, inverse, r, u, direction; real a, b; "
            "out real[] direction_next, u_next; real[] control"
        ),
    ),
    contract="direction_next (m,) becomes a * direction + b * inverse * (r - matrix * gathered), "
    "and u_next (m,) u + direction_next; u_next may not be 'gathered'.",
    launch=launch_rows,
    work=row_work,
    traffic=lambda values: (
        matrix_bytes(values, "gathered")
        + vector_bytes(values, 6 - (values["direction"] is values["u"]))
        - (int(values["u"].nbytes) if values["gathered"] is values["u"] else 0)
    ),
)

ITERATION = Family(
    "solvers.linalg.kernels",
    "iteration",
    (
        MULTIPLY,
        RESIDUAL,
        DIAGONAL,
        DIAGONAL_BLOCKS,
        COLUMNS_STEP,
        PRODUCT_SINGLE,
        UPDATE_SINGLE,
        PRODUCT_CLASSIC,
        UPDATE_CLASSIC,
        PRECONDITION,
        POLYNOMIAL_STEP,
    ),
)
