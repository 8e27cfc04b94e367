"""Primal pivots: Devex pricing, Harris's ratio test, and what a pivot or bound flip changes.

    price_costs      q = argmax (wrong-signed d_j)^2 / weight, as one partial result for each block
    choose_entering  q, and its column as a right side
    choose_leaving   Harris's two passes over the positions, in one block
    update_primal    x_B, d, weights, statuses, an eta column, and price_costs for what follows

Between the last two run ``pivot_row`` and ``price_row`` as in dual pivots. A basic variable that
Harris's tolerance has let beyond its bound leaves at the value it has, which becomes its bound, so
that no step is negative.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import BLOCK, ceiling, one_block, row_groups
from solvers.simplex.dense_gpu.kernels.ratio import side_blocks
from solvers.simplex.dense_gpu.kernels.structures import (
    MATRIX,
    VARIABLES,
    basics,
    partials,
    right_sides,
)


def _variables(values: Values) -> int:
    return int(values["rows"]) + int(values["structurals"])


PRICE_COSTS = Kernel(
    name="price_costs",
    arguments=arguments(
        "int rows, structurals; index[] status; real[] lower, upper, reduced_cost, weights, "
        "scalars; out real[] partial_value; out index[] partial_index"
    ),
    contract="Each block leaves the largest d^2 / weight of its variables (n + m,) whose reduced "
    "cost has the wrong sign, and which that is, the lowest of equals; exact.",
    launch=lambda values: Launch(row_groups(_variables(values)), BLOCK),
)

CHOOSE_ENTERING = Kernel(
    name="choose_entering",
    arguments=(
        *MATRIX,
        *arguments("int most, groups"),
        *VARIABLES,
        *arguments("real[] weights, alpha_rows"),
        *partials("in"),
        *right_sides("inout"),
        *arguments("inout index[] control; inout real[] scalars"),
    ),
    contract="Sets ENTERING and DIRECTION and lays out its column as choose_column does, or says "
    "DONE, FOLD or OUT_OF_PIVOTS; exact.",
    launch=side_blocks,
    bounds="BLOCK",
)

CHOOSE_LEAVING = Kernel(
    name="choose_leaving",
    arguments=arguments(
        "int rows; index[] basic; real[] lower, upper, reduced_cost, alpha, x_basic, lower_basic, "
        "upper_basic; inout index[] control; inout real[] scalars"
    ),
    contract="Counts the iteration and sets POSITION, LEAVING, BOUND, TO_UPPER, PRIMAL_STEP and "
    "DUAL_STEP, or FLIP_ONLY, or says NO_PIVOT; exact.",
    launch=one_block,
)

UPDATE_PRIMAL = Kernel(
    name="update_primal",
    arguments=(
        *arguments("int rows, structurals, most; real[] alpha_rows, alpha"),
        *structure(
            "changed",
            "inout real[] lower, upper, x, reduced_cost, weights; inout index[] status",
            prefix="",
        ),
        *basics("inout"),
        *arguments("inout real[] etas; inout index[] pivot_log"),
        *partials("inout"),
        *arguments("inout index[] control; inout real[] scalars"),
    ),
    contract="Makes the pivot or the bound flip, and appends a pivot to 'pivot_log'; or says "
    "INACCURATE and changes nothing. Exact but for the contraction of products and sums.",
    launch=lambda values: Launch(
        row_groups(_variables(values)) + ceiling(int(values["rows"]), BLOCK), BLOCK
    ),
    bounds="BLOCK",
)

PRIMAL = Family(
    "solvers.simplex.dense_gpu.kernels",
    "primal",
    (PRICE_COSTS, CHOOSE_ENTERING, CHOOSE_LEAVING, UPDATE_PRIMAL),
    in_numpy=True,
)
