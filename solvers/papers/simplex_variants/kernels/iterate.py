"""One iteration of the variant "graphs", in five kernels that a CUDA graph repeats.

With B the basis, T the transpose of its inverse (``inverse``, row k of which is column k of
B^-1, ``stride`` apart), y = B^-T c_B and rho the last pivot row divided by its pivot::

    price      s_j = c_j - a_j'y,  w_j = max(w_j, (a_j'rho)^2 w_q);  q maximises s_q^2 / w_q
    direction  d = B^-1 a_q, and the first pass of Harris's ratio test
    choose     its second pass: r, the largest |d_r| among ratios within the relaxed minimum
    make_pivot x -= theta d, x_r = theta, basis, costs of the basis, rho = T[:, r] / d_r
    update     T[k, i] -= rho_k d_i for all i but r, T[k, r] = rho_k;  y_k = sum_i T[k, i] c_i

``make_pivot`` takes the snapshot of the pivot row, ``update`` streams over the matrix (paper,
section 3.4). Three things are ours. Pricing is Devex's, for one more product in the same pass over
A. The dual vector comes out of the stream that updates the inverse, which the paper reads a third
time. And columns whose rho_k is zero are left alone, which changes nothing and saves most of the
traffic on sparse models.

Every kernel does nothing once ``control`` says to stop, and every block of a kernel decides for
itself, from the same numbers, what the blocks of the kernel before it found together: so two-stage
reductions need no launch of their own, and nothing depends on the order of blocks. Ties go to the
smaller index.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, arguments, structure
from solvers.kernels.family import Family
from solvers.papers.simplex_variants.kernels.layout import (
    CONTROL,
    MATRIX,
    SHAPE,
    by_column_of_inverse,
    by_parts,
)

PRICE = Kernel(
    name="price",
    arguments=(
        *arguments("int columns, lanes, parts"),
        *MATRIX,
        *structure(
            "costs",
            "real[] cost, y, pivot_row; index[] position; real[] basic_cost",
            prefix="",
        ),
        *arguments("inout real[] weight; out real[] reduced, offers"),
        *CONTROL,
    ),
    contract="reduced (columns,) = c - A'y (c of nonbasic columns is zero in phase 1), Devex "
    "weights brought up to date, and each block's best candidate (s^2/w, j, largest |s| of a basic "
    "j) in offers. Stops at the limit. Agrees with the twin up to the order of summation within a "
    "column.",
    launch=by_parts,
    bounds="BLOCK",
)

DIRECTION = Kernel(
    name="direction",
    arguments=(
        *SHAPE,
        *MATRIX,
        *structure("found", "int offered; real[] reduced, weight, offers", prefix=""),
        *arguments("real[] inverse, x; index[] basic; out real[] d, nearest"),
        *CONTROL,
    ),
    contract="With q the best of the offers, d (size,) = B^-1 a_q and each block's smallest "
    "relaxed ratio in nearest (negated, with an index). Stops where there is no offer, or where "
    "the error measured by pricing asks for a new inverse.",
    launch=by_parts,
    bounds="BLOCK",
)

CHOOSE = Kernel(
    name="choose",
    arguments=(
        *arguments(
            "int size, columns, parts; real[] x; index[] basic; real[] d, nearest; "
            "out real[] chosen"
        ),
        *CONTROL,
    ),
    contract="Each block's best leaving position among exact ratios within the smallest relaxed "
    "one, as (|d_r|, r, ratio) in chosen; by Bland's rule the smallest variable. Stops where no "
    "ratio is bounded.",
    launch=by_parts,
)

MAKE_PIVOT = Kernel(
    name="make_pivot",
    arguments=(
        *SHAPE,
        *arguments(
            "real[] inverse, d, cost, chosen; inout real[] x; inout index[] basic, position; "
            "inout real[] basic_cost; out real[] pivot_row"
        ),
        *CONTROL,
    ),
    contract="Makes the pivot that was chosen: x, the basis, its costs, and the snapshot of the "
    "normalised pivot row. Stops instead where the pivot is too small to be trusted.",
    launch=by_parts,
    bounds="BLOCK",
)

UPDATE = Kernel(
    name="update",
    arguments=(
        *arguments(
            "int size, stride, team; real[] d, pivot_row, basic_cost; inout real[] inverse, y"
        ),
        *CONTROL,
    ),
    contract="The rank-one update of the inverse from the snapshot of the pivot row, and "
    "y = B^-T c_B of the new basis; a column of the inverse is left out where its pivot element "
    "is zero and no other cost has changed. Agrees with the twin up to order of summation in y.",
    launch=by_column_of_inverse,
)

ITERATE = Family(
    "solvers.papers.simplex_variants.kernels",
    "iterate",
    (PRICE, DIRECTION, CHOOSE, MAKE_PIVOT, UPDATE),
    in_numpy=True,
)
