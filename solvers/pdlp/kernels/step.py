"""The two halves of a reflected Halpern PDHG iteration, each fused into its matrix product.

With step sizes tau and sigma, reflection gamma, anchor (x0, y0) and k the number of iterations
since the anchor was set::

    primal_step:  g  = x - tau (c - A'y)         xh = clip(g, l, u)              xb = 2 xh - x
    dual_step:    v  = y - sigma A xb            yh = v - clip(v, -sigma b, -sigma a)
                                                 yb = 2 yh - y
    both:         z <- w [gamma zb + (1 - gamma) z] + (1 - w) z0,    w = (k+1) / (k+2)

``control`` holds (tau, sigma, gamma, k of the window's first iteration); ``offset`` is the
iteration's number within the window, so that a recorded graph of launches serves every window.
With ``keep`` the projected point xh (or yh) and the step zb - z are written besides.

Device and twin agree up to the order of summation within a row. Nothing else is summed, and
every element has one writer, so that a launch repeated gives the same bits.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Values
from solvers.pdlp.kernels.layout import LAYOUT, launch, matrix_bytes, work

REAL_BYTES = 8

_HALPERN = (
    Argument("control", "real[]"),
    Argument("offset", "int"),
    Argument("keep", "int"),
)

PRIMAL_STEP = Kernel(
    name="primal_step",
    arguments=(
        *LAYOUT,
        Argument("y", "real[]"),
        Argument("x", "real[]", "inout"),
        Argument("anchor", "real[]"),
        Argument("cost", "real[]"),
        Argument("lower", "real[]"),
        Argument("upper", "real[]"),
        Argument("reflected", "real[]", "out"),
        Argument("projection", "real[]", "out"),
        Argument("difference", "real[]", "out"),
        *_HALPERN,
    ),
    contract="x (n,) makes its half of the iteration from y (m,); the matrix is A'. 'reflected' "
    "becomes xb, which the dual step needs.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: _step_bytes(values, "y", vectors=7),
)

DUAL_STEP = Kernel(
    name="dual_step",
    arguments=(
        *LAYOUT,
        Argument("reflected", "real[]"),
        Argument("y", "real[]", "inout"),
        Argument("anchor", "real[]"),
        Argument("row_lower", "real[]"),
        Argument("row_upper", "real[]"),
        Argument("projection", "real[]", "out"),
        Argument("difference", "real[]", "out"),
        *_HALPERN,
    ),
    contract="y (m,) makes its half of the iteration from xb (n,); the matrix is A.",
    launch=launch,
    work=work,
    bytes_moved=lambda values: _step_bytes(values, "reflected", vectors=5),
)


def _step_bytes(values: Values, gathered: str, vectors: int) -> int:
    """Matrix and gathered vector once, and each owner's vectors (``keep`` off)."""
    return matrix_bytes(values, gathered) + vectors * REAL_BYTES * int(values["rows"])


STEP = Family("solvers.pdlp.kernels", "step", (PRIMAL_STEP, DUAL_STEP))
