"""Recomputing values and reduced costs with the inverse, once no pivot is delayed.

    row_residual:    r = [A -I] x                    apply_inverse:  v = B^-1 r
    correct_basics:  x_B <- x_B - v                  place_dual:     y <- y + B^-T d_B
    reduced_costs:   d = c - [A -I]'y

One round computes from scratch, a second one refines what rounding left.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, by_owner
from solvers.simplex.dense_gpu.control import each, indices, ints, one_block, reals, warps


def _vectors(count: int) -> int:
    return 8 * count


ROW_RESIDUAL = Kernel(
    name="row_residual",
    arguments=(
        *ints("rows", "structurals", "lanes"),
        *indices("starts", "indices"),
        *reals("values", "x"),
        *reals("residual", changed="out"),
    ),
    contract="residual (m,) = A x minus the logicals; the matrix is by rows. Up to the order of "
    "sums.",
    launch=by_owner("rows", "lanes"),
    work=lambda values: int(values["indices"].size),
    bytes_moved=lambda values: 20 * int(values["indices"].size) + 16 * int(values["rows"]),
)

APPLY_INVERSE = Kernel(
    name="apply_inverse",
    arguments=(
        *ints("rows", "capacity", "slots"),
        *reals("inverse"),
        *indices("unit_row", "row_of_slot"),
        *reals("right"),
        *reals("result", changed="out"),
    ),
    contract="result (m,) by position = inverse times right (m,) by row, with no pivot delayed. Up "
    "to the order of sums.",
    launch=warps("rows"),
    work=lambda values: int(values["rows"]) * (int(values["slots"]) + 1),
    bytes_moved=lambda values: _vectors(int(values["rows"]) * (int(values["slots"]) + 2)),
)

CORRECT_BASICS = Kernel(
    name="correct_basics",
    arguments=(
        *ints("rows"),
        *indices("basic"),
        *reals("lower", "upper", "change"),
        *reals("x", "x_basic", "lower_basic", "upper_basic", changed="inout"),
    ),
    contract="Takes change (m,) off the basic variables in x (n + m,), and copies them and their "
    "bounds by position; exact.",
    launch=each("rows"),
    work=lambda values: int(values["rows"]),
    bytes_moved=lambda values: 64 * int(values["rows"]),
)

SPREAD_BASICS = Kernel(
    name="spread_basics",
    arguments=(
        *ints("rows"),
        *indices("basic"),
        *reals("x_basic"),
        *reals("x", changed="inout"),
    ),
    contract="Copies x_basic (m,) by position into x (n + m,); exact.",
    launch=each("rows"),
    work=lambda values: int(values["rows"]),
    bytes_moved=lambda values: 20 * int(values["rows"]),
)

GATHER_BASICS = Kernel(
    name="gather_basics",
    arguments=(
        *ints("rows"),
        *indices("basic"),
        *reals("vector"),
        *reals("by_position", changed="out"),
    ),
    contract="by_position (m,) = the elements of vector (n + m,) of basic variables; exact.",
    launch=each("rows"),
    work=lambda values: int(values["rows"]),
    bytes_moved=lambda values: 20 * int(values["rows"]),
)

PLACE_DUAL = Kernel(
    name="place_dual",
    arguments=(
        *ints("rows"),
        *indices("slot_of_row", "unit_position"),
        *reals("product", "by_position"),
        *reals("dual", changed="inout"),
    ),
    contract="Adds B^-T by_position to dual (m,) by row: 'product' (capacity,) is that of the "
    "stored columns, and unit_position (m,) says where a row's logical is basic; exact.",
    launch=each("rows"),
    work=lambda values: int(values["rows"]),
    bytes_moved=lambda values: 32 * int(values["rows"]),
)

REDUCED_COSTS = Kernel(
    name="reduced_costs",
    arguments=(
        *ints("rows", "structurals", "lanes"),
        *indices("starts", "indices"),
        *reals("values", "cost", "dual"),
        *reals("reduced_cost", changed="out"),
    ),
    contract="reduced_cost (n + m,) = cost - [A -I]'dual; the matrix is by columns. Up to the "
    "order of sums.",
    launch=lambda values: Launch(
        -(-(int(values["structurals"]) * int(values["lanes"]) + int(values["rows"])) // 256), 256
    ),
    work=lambda values: int(values["indices"].size) + int(values["rows"]),
    bytes_moved=lambda values: 20 * int(values["indices"].size) + 24 * int(values["rows"]),
)

SETTLE_DUALS = Kernel(
    name="settle_duals",
    arguments=(
        *ints("variables", "repair"),
        *indices("status", changed="inout"),
        *reals("lower", "upper"),
        *reals("x", "cost", "reduced_cost", changed="inout"),
        *reals("scalars"),
    ),
    contract="Sets reduced costs of basic variables to zero. With repair = 1, nonbasic variables "
    "whose reduced cost has the wrong sign by more than the tolerance go to their other bound, "
    "or have their cost shifted if they have none; exact.",
    launch=each("variables"),
    work=lambda values: int(values["variables"]),
    bytes_moved=lambda values: 44 * int(values["variables"]),
)

LARGEST = Kernel(
    name="largest",
    arguments=(
        *ints("count", "place"),
        *reals("vector"),
        *reals("scalars", changed="inout"),
    ),
    contract="Leaves the largest magnitude of vector (count,) in scalars[place]; infinity for one "
    "that holds a NaN; exact.",
    launch=one_block,
    work=lambda values: int(values["count"]),
    bytes_moved=lambda values: _vectors(int(values["count"])),
)


REFRESH = Family(
    "solvers.simplex.dense_gpu.kernels",
    "refresh",
    (
        ROW_RESIDUAL, APPLY_INVERSE, CORRECT_BASICS, SPREAD_BASICS, GATHER_BASICS,
        PLACE_DUAL, REDUCED_COSTS, SETTLE_DUALS, LARGEST,
    ),
)  # fmt: skip
