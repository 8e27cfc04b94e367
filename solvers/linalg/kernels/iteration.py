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

All scalars stay in ``control`` (see ``layout.py``), where the block that finishes last puts them:
the host need not look before many iterations are done. Once ``control[STOP]`` is set, every step
returns at once and leaves all vectors as they are. Device and twin agree up to the order of
summation; each repeats its own bits.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel
from solvers.linalg.kernels.layout import (
    LAYOUT,
    REDUCTION,
    launch_rows,
    launch_vector,
    matrix_bytes,
    row_work,
    vector_bytes,
    vector_work,
)

_CONTROL = Argument("control", "real[]")
_DECIDED = Argument("control", "real[]", "inout")

COLUMNS_STEP = Kernel(
    name="columns_step",
    arguments=(
        *LAYOUT,
        Argument("weight", "real[]"),
        Argument("u", "real[]"),
        Argument("p", "real[]"),
        Argument("with_p", "int"),
        _CONTROL,
        Argument("q", "real[]", "out"),
    ),
    contract="q (n,) becomes weight * A'(u + beta p) with the matrix A', or weight * A'u without "
    "'with_p'.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: (
        matrix_bytes(values, "u", *(["p"] if values["with_p"] else [])) + vector_bytes(values, 2)
    ),
)

PRODUCT_SINGLE = Kernel(
    name="product_single",
    arguments=(
        *LAYOUT,
        Argument("gathered", "real[]"),
        Argument("u", "real[]"),
        Argument("r", "real[]"),
        Argument("w", "real[]", "out"),
        *REDUCTION,
        _DECIDED,
    ),
    contract="w (m,) becomes the matrix times 'gathered', which is u for a symmetric matrix and q "
    "for A; control gets r'u, r'r, alpha and beta, one more iteration, or a reason to stop.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: (
        matrix_bytes(values, "gathered")
        + vector_bytes(values, 2 if values["gathered"] is values["u"] else 3)
    ),
)

UPDATE_SINGLE = Kernel(
    name="update_single",
    arguments=(
        Argument("rows", "index"),
        Argument("block_size", "int"),
        Argument("inverse", "real[]"),
        Argument("w", "real[]"),
        Argument("p", "real[]", "inout"),
        Argument("s", "real[]", "inout"),
        Argument("x", "real[]", "inout"),
        Argument("r", "real[]", "inout"),
        Argument("u", "real[]", "inout"),
        _CONTROL,
    ),
    contract="p, s, x, r and u (m,) take their step; inverse (whole blocks * block_size^2,) holds "
    "the symmetric diagonal blocks of B.",
    launch=launch_vector,
    work=vector_work,
    bytes_moved=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 11),
)

PRODUCT_CLASSIC = Kernel(
    name="product_classic",
    arguments=(
        *LAYOUT,
        Argument("gathered", "real[]"),
        Argument("direct", "int"),
        Argument("u", "real[]"),
        Argument("p", "real[]"),
        Argument("p_next", "real[]", "out"),
        Argument("s", "real[]", "out"),
        *REDUCTION,
        _DECIDED,
    ),
    contract="p_next (m,) becomes u + beta p, and s (m,) the matrix times p_next with 'direct', "
    "times 'gathered' without; control gets alpha and one more iteration, or a reason to stop.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: (
        matrix_bytes(values, *([] if values["direct"] else ["gathered"])) + vector_bytes(values, 4)
    ),
)

UPDATE_CLASSIC = Kernel(
    name="update_classic",
    arguments=(
        Argument("rows", "index"),
        Argument("block_size", "int"),
        Argument("inverse", "real[]"),
        Argument("p", "real[]"),
        Argument("s", "real[]"),
        Argument("x", "real[]", "inout"),
        Argument("r", "real[]", "inout"),
        Argument("u", "real[]", "out"),
        *REDUCTION,
        _DECIDED,
    ),
    contract="x, r and u (m,) take their step; control gets r'u, r'r and beta, or a reason to "
    "stop.",
    launch=launch_vector,
    work=vector_work,
    bytes_moved=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 7),
)

PRECONDITION = Kernel(
    name="precondition",
    arguments=(
        Argument("rows", "index"),
        Argument("block_size", "int"),
        Argument("inverse", "real[]"),
        Argument("r", "real[]"),
        Argument("u", "real[]", "out"),
    ),
    contract="u (m,) becomes the diagonal blocks of B times r (m,).",
    launch=launch_vector,
    work=vector_work,
    bytes_moved=lambda values: int(values["inverse"].nbytes) + vector_bytes(values, 2),
)

POLYNOMIAL_STEP = Kernel(
    name="polynomial_step",
    arguments=(
        *LAYOUT,
        Argument("gathered", "real[]"),
        Argument("inverse", "real[]"),
        Argument("r", "real[]"),
        Argument("u", "real[]"),
        Argument("direction", "real[]"),
        Argument("a", "real"),
        Argument("b", "real"),
        Argument("direction_next", "real[]", "out"),
        Argument("u_next", "real[]", "out"),
        _CONTROL,
    ),
    contract="direction_next (m,) becomes a * direction + b * inverse * (r - matrix * gathered), "
    "and u_next (m,) u + direction_next; u_next may not be 'gathered'.",
    launch=launch_rows,
    work=row_work,
    bytes_moved=lambda values: (
        matrix_bytes(values, "gathered")
        + vector_bytes(values, 6 - (values["direction"] is values["u"]))
        - (int(values["u"].nbytes) if values["gathered"] is values["u"] else 0)
    ),
)

ITERATION = Family(
    "solvers.linalg.kernels",
    "iteration",
    (
        COLUMNS_STEP,
        PRODUCT_SINGLE,
        UPDATE_SINGLE,
        PRODUCT_CLASSIC,
        UPDATE_CLASSIC,
        PRECONDITION,
        POLYNOMIAL_STEP,
    ),
)
