"""The two halves of a Halpern PDHG iteration for several problems with one matrix.

With step sizes tau and sigma and k the iterations since the anchor was set, all of them each
problem's own, and the squared scales C^2 and R^2 common to all::

    primal_step:  t  = tau C^2        g = x - t (c - A'y)    xh = clip(g, l, u)    xb = 2 xh - x
    dual_step:    s  = sigma R^2      v = y - s A xb         yh = v - clip(v, -s b, -s a)
                                                             yb = 2 yh - y
    both:         z <- w zb + (1 - w) z0,    w = (k+1) / (k+2)

This is the iteration of ``solvers/pdlp/kernels/step.py`` with full reflection. ``control``
(``solvers/pdlp/shared_matrix/state.py``) has a column for each problem; problems that it stopped
are left alone. ``offset`` and ``keep`` mean what they mean there: the iteration's number within its
block; and bit 1 to leave the step zb - z in ``first_difference``, bit 2 to leave the projected
point and its step in ``projection`` and ``difference``.

Device and twin agree up to the order of summation within long rows; a launch repeated gives the
same bits.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Values, arguments
from solvers.pdlp.shared_matrix.kernels.layout import (
    MATRIX,
    REAL_BYTES,
    SPLIT,
    matrix_bytes,
    unit_launch,
    work,
)

KEEP_NONE, KEEP_FIRST, KEEP_LAST = 0, 1, 2

_PLACE = arguments("real[] control; int offset, keep")

PRIMAL_STEP = Kernel(
    name="primal_step",
    arguments=(
        *MATRIX,
        *SPLIT,
        *arguments(
            "real[] y; inout real[] x; real[] anchor, cost, lower, upper, metric; "
            "out real[] reflected, projection, difference, first_difference"
        ),
        *_PLACE,
    ),
    contract="Each x (n, width) makes its half of the iteration from y (m, width); the matrix is "
    "A' and metric C^2 (n,). 'reflected' becomes xb, which the dual step needs.",
    launch=unit_launch,
    work=work,
)

DUAL_STEP = Kernel(
    name="dual_step",
    arguments=(
        *MATRIX,
        *SPLIT,
        *arguments(
            "real[] reflected; inout real[] y; real[] anchor, row_lower, row_upper, metric; "
            "out real[] projection, difference, first_difference"
        ),
        *_PLACE,
    ),
    contract="Each y (m, width) makes its half of the iteration from xb (n, width); the matrix is "
    "A and metric R^2 (m,).",
    launch=unit_launch,
    work=work,
)


def _step_bytes(values: Values, gathered: str, own: str, vectors: int) -> int:
    """Matrix and gathered vectors once, and each owner's vectors (nothing kept)."""
    sizes = int(values[gathered].size) + vectors * int(values[own].size)
    return matrix_bytes(values) + REAL_BYTES * sizes


STEP = Family("solvers.pdlp.shared_matrix.kernels", "step", (PRIMAL_STEP, DUAL_STEP))
