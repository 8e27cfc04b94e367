"""The kernels that only the variant "resident" has, and products with the inverse.

"resident" is the paper's GPU-RS: everything stays on the device, but the ratio test is the work of
one block, the inverse is updated in one pass that reads the pivot row where it stands, and x and y
are computed anew from the inverse in every iteration. Pricing and the direction are those of
``iterate.py``. ``solution`` and ``dual`` also serve the other variant after an inversion.

In the layout of ``inverse`` (row k holds column k of B^-1) the block that updates a column is the
only one to read its pivot element, so that the hazard the paper describes, of a row read by all and
written by one, does not arise.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, arguments
from solvers.kernels.family import Family
from solvers.papers.simplex_variants.kernels.layout import (
    CONTROL,
    MATRIX,
    by_column_of_inverse,
    by_size,
    by_warps,
    one_block,
)

RATIO_TEST = Kernel(
    name="ratio_test",
    arguments=(
        *arguments("int size, columns; real[] x, d; inout index[] basic, position"),
        *CONTROL,
    ),
    contract="Both passes of Harris's ratio test in one block, which then puts the entering "
    "variable in the place of the leaving one and notes the pivot in control. Stops instead where "
    "no ratio is bounded, or the pivot is too small to be trusted.",
    launch=one_block,
)

UPDATE_IN_PLACE = Kernel(
    name="update_in_place",
    arguments=(
        *arguments("int size, stride, team; real[] d; inout real[] inverse; out real[] pivot_row"),
        *CONTROL,
    ),
    contract="The rank-one update of the inverse in one pass, whatever is zero; leaves the "
    "normalised pivot row, which Devex pricing needs. Agrees with the twin bit by bit without "
    "fused multiplication, else by the last bit.",
    launch=by_column_of_inverse,
)

SOLUTION = Kernel(
    name="solution",
    arguments=(
        *arguments(
            "int size, stride, columns; real[] inverse, rhs, cost; index[] basic; "
            "out real[] x, basic_cost"
        ),
        *CONTROL,
    ),
    contract="x (size,) = B^-1 b, and the costs of the basic variables: their own in phase 2, the "
    "gradient of the sum of infeasibilities in phase 1.",
    launch=by_warps,
)

BASIS_ROWS = Kernel(
    name="basis_rows",
    arguments=(
        *arguments("int size, columns"),
        *MATRIX,
        *arguments("index[] basic; inout real[] transposed"),
    ),
    contract="Writes the columns of the basis into the rows of 'transposed' (size x size), which "
    "was zero; that of an artificial is a unit vector.",
    launch=by_size,
    bounds="BLOCK",
)

DUAL = Kernel(
    name="dual",
    arguments=(
        *arguments("int size, stride, team; real[] inverse, basic_cost; out real[] y"),
        *CONTROL,
    ),
    contract="y (size,) = B^-T c_B; agrees with the twin up to the order of summation.",
    launch=by_column_of_inverse,
)

RESIDENT = Family(
    "solvers.papers.simplex_variants.kernels",
    "resident",
    (RATIO_TEST, UPDATE_IN_PLACE, SOLUTION, BASIS_ROWS, DUAL),
    in_numpy=True,
)
