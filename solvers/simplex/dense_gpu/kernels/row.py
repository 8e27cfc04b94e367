"""The pivot row: which position leaves, its row of the inverse, and its products with all columns.

With the inverse kept as B^-1 = B0^-1 + sum_j n_j u_j' (n_j an eta column, u_j the pivot row of the
inverse when pivot j was made)::

    choose_row:  r = argmax infeasibility^2 / weight, as one partial result for each block
    pivot_row:   rho = e_r' B0^-1 + sum_j n_j[r] u_j'
    price_row:   alpha_j = rho' a_j, and which j bound the dual step

Of B0^-1 only the columns are stored that are not unit columns: the logical of row i being basic in
B0 at position p, column i of B0^-1 is -e_p. ``inverse`` is (m, capacity), row i has column
``slot_of_row[i]`` or none (-1), and ``unit_row[p]`` is the row whose logical is basic at p in B0,
or -1. Columns beyond those in use are zero.

Products of a column basic at the time are set to what they must be, one for the leaving variable
and zero for others: so ``alpha_rows`` holds u_j'a for every column a, and solving with the inverse
needs no further products with the u_j.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import BLOCK, SEGMENT, WARP, ceiling, row_groups, warps
from solvers.simplex.dense_gpu.kernels.structures import (
    MATRIX,
    VARIABLES,
    basics,
    candidates,
    inverse,
    partials,
    right_sides,
    solutions,
)

CHOOSE_ROW = Kernel(
    name="choose_row",
    arguments=arguments(
        "int rows; real[] x_basic, lower_basic, upper_basic, weights, scalars; "
        "out real[] partial_value; out index[] partial_index"
    ),
    contract="Each block leaves the largest infeasibility^2 / weight of its positions, (m,) "
    "arrays, and where it is, the lowest position of equals; exact.",
    launch=lambda values: Launch(row_groups(int(values["rows"])), BLOCK),
)

PIVOT_ROW = Kernel(
    name="pivot_row",
    arguments=(
        *arguments("int rows, groups"),
        *inverse("inout"),
        *arguments("index[] slot_of_row"),
        *basics("in"),
        *arguments("real[] weights"),
        *partials("in"),
        *arguments("inout index[] control; inout real[] scalars"),
    ),
    contract="With groups > 0 takes the position from so many partial results, or says DONE, FOLD "
    "or OUT_OF_PIVOTS; with groups = 0 takes it from 'control'. Leaves rho (m,) as the next of "
    "'eta_rows' (most, m), and by slot in 'row_slots' (capacity,). Up to the "
    "order of sums.",
    launch=lambda values: Launch(max(1, ceiling(int(values["rows"]), WARP)), BLOCK),
    bounds="BLOCK",
)


def segment_blocks(rows: int, structurals: int, lanes: int) -> tuple[int, int]:
    """Return how many blocks take structurals, and how many logicals."""
    return ceiling(structurals * lanes, BLOCK), ceiling(rows, BLOCK)


def segments(rows: int, structurals: int, lanes: int) -> int:
    """Return how many segments of variables have a least ratio each; blocks hold whole ones."""
    width = min(SEGMENT, BLOCK // lanes)
    structural, logical = segment_blocks(rows, structurals, lanes)
    return structural * (BLOCK // lanes // width) + logical * (BLOCK // width)


def _price_launch(values: Values) -> Launch:
    rows, structurals = int(values["rows"]), int(values["structurals"])
    blocks = sum(segment_blocks(rows, structurals, int(values["lanes"])))
    return Launch(blocks + (int(values["most"]) + 1 if values["steepest"] else 0), BLOCK)


PRICE_ROW = Kernel(
    name="price_row",
    arguments=(
        *MATRIX,
        *arguments("int most, dual, steepest; real[] eta_rows"),
        *VARIABLES,
        *arguments("index[] control; real[] scalars; inout real[] alpha_rows"),
        *candidates("inout"),
    ),
    contract="Leaves alpha (n + m,) as the next of 'alpha_rows' (most, n + m); full = 1 says that "
    "no column has a zero, so that indices need not be read. With dual = 1 also Harris ratios (n + "
    "m,), infinite for all but candidates for entering; of each segment of variables the least "
    "one and the number of candidates; and with steepest = 0 for each block the sum of alpha^2 "
    "over the reference framework; with steepest = 1, further "
    "blocks leave the products of rho with the rows of 'eta_rows', and with itself in the last "
    "place. Device and twin agree up to the order of sums.",
    launch=_price_launch,
    bounds="BLOCK, 4",
)


# Solving with the basis: the entering column, the flipped ones, and steepest edge's vector.
#
#     alpha = B^-1 a_q    beta = B^-1 (sum of flipped columns times steps)    tau = B^-1 rho
#
# A warp takes a position and goes once through its row of the stored inverse for all three. Right
# sides with few entries are gathered from it instead (``ratio.py`` says how they are given).


SOLVE_COLUMN = Kernel(
    name="solve_column",
    arguments=(
        *arguments("int rows, dual, steepest"),
        *inverse("in"),
        *right_sides("in"),
        *arguments("real[] dots; index[] control"),
        *solutions("out"),
    ),
    contract="Leaves alpha (m,), with dual = 1 beta, and tau if steepest = 1. Device and twin "
    "agree up to the order of sums.",
    launch=warps("rows"),
    bounds="BLOCK",
)

ROW = Family(
    "solvers.simplex.dense_gpu.kernels",
    "row",
    (
        CHOOSE_ROW,
        PIVOT_ROW,
        PRICE_ROW,
        SOLVE_COLUMN,
    ),
    in_numpy=True,
)
