"""The two halves of a reflected Halpern PDHG iteration, each fused into its matrix product.

With step sizes tau and sigma, reflection gamma, anchor (x0, y0), the squared scales C^2 and R^2
and k the number of iterations since the anchor was set::

    primal_step:  t  = tau C^2        g = x - t (c - A'y)    xh = clip(g, l, u)    xb = 2 xh - x
    dual_step:    s  = sigma R^2      v = y - s A xb         yh = v - clip(v, -s b, -s a)
                                                             yb = 2 yh - y
    both:         z <- w [gamma zb + (1 - gamma) z] + (1 - w) z0,    w = (k+1) / (k+2)

This is the iteration of the paper on the problem scaled by R and C, written in the variables of
the problem as it was given: the scales appear as step sizes of their own for each row and column,
and the coefficients stay what they were, which makes them few and short to store.

``codes`` are those of the bounds l and u, or of the sides a and b, by ``solvers/pdlp/bounds.py``.

``control`` (``solvers/pdlp/control.py``) holds tau, sigma, gamma and the k of the block's first
iteration; ``offset`` is the iteration's number within the block, so that a recorded graph of
launches serves every block. ``keep`` has bit 1 in the block's first iteration, which leaves its
step zb - z in ``first_difference``, and bit 2 in its last, which leaves the projected point xh or
yh and its step. Nothing happens while ``control`` says to stop.

Device and twin agree up to the order of summation within a row. Nothing else is summed, and
every element has one writer, so that a launch repeated gives the same bits.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Values, arguments, stored_types, structure
from solvers.kernels.family import Family
from solvers.pdlp.bounds import OTHERS
from solvers.pdlp.kernels.matrix import (
    MATRIX_ARGUMENTS,
    REAL_BYTES,
    matrix_bytes,
    unit_launch,
    work,
)

KEEP_NONE, KEEP_FIRST, KEEP_LAST = 0, 1, 2

COLUMN_SIDE = structure(
    "x",
    "inout real[] point; real[] anchor, cost, lower, upper, metric; code[] codes; real[] pairs; "
    "out real[] reflected, projection, difference, first_difference",
)

ROW_SIDE = structure(
    "y",
    "inout real[] point; real[] anchor, lower, upper, metric; code[] codes; real[] pairs; "
    "out real[] projection, difference, first_difference",
)

_PLACE = arguments("real[] control; int offset, keep")

PRIMAL_STEP = Kernel(
    name="primal_step",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] y"), *COLUMN_SIDE, *_PLACE),
    contract="x (n,) makes its half of the iteration from y (m,); the matrix is A' and metric is "
    "C^2 (n,). 'reflected' becomes xb, which the dual step needs.",
    launch=unit_launch,
    bounds="TEAM, 6",
    work=work,
    traffic=lambda values: _step_bytes(values, "y", "x", vectors=6),
)

DUAL_STEP = Kernel(
    name="dual_step",
    arguments=(*MATRIX_ARGUMENTS, *arguments("real[] reflected"), *ROW_SIDE, *_PLACE),
    contract="y (m,) makes its half of the iteration from xb (n,); the matrix is A and metric is "
    "R^2 (m,).",
    launch=unit_launch,
    bounds="TEAM, 6",
    work=work,
    traffic=lambda values: _step_bytes(values, "reflected", "y", vectors=4),
)


def _step_bytes(values: Values, gathered: str, own: str, vectors: int) -> int:
    """Matrix and gathered vector once, and each owner's vectors (nothing kept) and bounds."""
    return matrix_bytes(values, gathered) + side_bytes(values, own, vectors)


def side_bytes(values: Values, own: str, vectors: int) -> int:
    """So many vectors of one side, ``own``, and its bounds as they are read by their codes."""
    codes, size = values[f"{own}_codes"], int(values[f"{own}_point"].size)
    coded = int((codes != OTHERS).sum())
    return REAL_BYTES * (vectors * size + 2 * (size - coded)) + int(codes.nbytes)


STEP = Family("solvers.pdlp.kernels", "step", (PRIMAL_STEP, DUAL_STEP), foreseen=stored_types(""))
