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

from solvers.kernels.family import Family, Kernel, Launch, Values
from solvers.simplex.dense_gpu.control import (
    BLOCK,
    ceiling,
    indices,
    ints,
    one_block,
    reals,
    row_groups,
)
from solvers.simplex.dense_gpu.kernels.ratio import side_blocks


def _variables(values: Values) -> int:
    return int(values["rows"]) + int(values["structurals"])


PRICE_COSTS = Kernel(
    name="price_costs",
    arguments=(
        *ints("rows", "structurals"),
        *indices("status"),
        *reals("lower", "upper", "reduced_cost", "weights", "scalars"),
        *reals("partial_value", changed="out"),
        *indices("partial_index", changed="out"),
    ),
    contract="Each block leaves the largest d^2 / weight of its variables (n + m,) whose reduced "
    "cost has the wrong sign, and which that is, the lowest of equals; exact.",
    launch=lambda values: Launch(row_groups(_variables(values)), BLOCK),
    work=_variables,
    bytes_moved=lambda values: 36 * _variables(values),
)

CHOOSE_ENTERING = Kernel(
    name="choose_entering",
    arguments=(
        *ints("rows", "structurals", "most", "full", "groups"),
        *indices("starts", "indices"),
        *reals("values"),
        *indices("slot_of_row"),
        *reals("x", "reduced_cost", "weights", "alpha_rows", "partial_value"),
        *indices("partial_index"),
        *indices("places", changed="inout"),
        *reals("amounts", "column", "column_slots", changed="inout"),
        *reals("flip_column", "flip_slots", "column_dots", changed="inout"),
        *indices("control", changed="inout"),
        *reals("scalars", changed="inout"),
    ),
    contract="Sets ENTERING and DIRECTION and lays out its column as choose_column does, or says "
    "DONE, FOLD or OUT_OF_PIVOTS; exact.",
    launch=side_blocks,
    work=lambda values: int(values["groups"]),
    bytes_moved=lambda values: 12 * int(values["groups"]),
)

CHOOSE_LEAVING = Kernel(
    name="choose_leaving",
    arguments=(
        *ints("rows"),
        *indices("basic"),
        *reals("lower", "upper", "reduced_cost"),
        *reals("alpha", "x_basic", "lower_basic", "upper_basic"),
        *indices("control", changed="inout"),
        *reals("scalars", changed="inout"),
    ),
    contract="Counts the iteration and sets POSITION, LEAVING, BOUND, TO_UPPER, PRIMAL_STEP and "
    "DUAL_STEP, or FLIP_ONLY, or says NO_PIVOT; exact.",
    launch=one_block,
    work=lambda values: int(values["rows"]),
    bytes_moved=lambda values: 64 * int(values["rows"]),
)

UPDATE_PRIMAL = Kernel(
    name="update_primal",
    arguments=(
        *ints("rows", "structurals", "most"),
        *reals("alpha_rows", "alpha"),
        *reals("lower", "upper", "etas", "x_basic", "lower_basic", "upper_basic", changed="inout"),
        *reals("x", "reduced_cost", "weights", changed="inout"),
        *indices("basic", "status", "pivot_log", changed="inout"),
        *reals("partial_value", changed="inout"),
        *indices("partial_index", "control", changed="inout"),
        *reals("scalars", changed="inout"),
    ),
    contract="Makes the pivot or the bound flip, and appends a pivot to 'pivot_log'; or says "
    "INACCURATE and changes nothing. Exact but for the contraction of products and sums.",
    launch=lambda values: Launch(
        row_groups(_variables(values)) + ceiling(int(values["rows"]), BLOCK), BLOCK
    ),
    work=_variables,
    bytes_moved=lambda values: 64 * _variables(values),
)

PRIMAL = Family(
    "solvers.simplex.dense_gpu.kernels",
    "primal",
    (PRICE_COSTS, CHOOSE_ENTERING, CHOOSE_LEAVING, UPDATE_PRIMAL),
)
