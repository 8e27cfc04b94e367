"""Recomputing values and reduced costs with the inverse, once no pivot is delayed.

    row_residual:    r = [A -I] x                    apply_inverse:  v = B^-1 r
    correct_basics:  x_B <- x_B - v                  place_dual:     y <- y + B^-T d_B
    reduced_costs:   d = c - [A -I]'y

One round computes from scratch, a second one refines what rounding left.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, arguments, by_owner
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import each, one_block, warps

# Changing the stored columns of the inverse: after a factorisation, and when pivots are folded in.
#
# gather_basis     the basic structurals as dense columns, split into nucleus and other rows
# spread_inverse   the inverse's columns by position, from those two parts
# open_slots       unit columns become stored ones, before pivots are folded in
# gather_eta_rows  the delayed pivot rows by stored column
# close_slots      stored columns that have become unit columns give room to others


GATHER_BASIS = Kernel(
    name="gather_basis",
    arguments=arguments(
        "int count; index[] starts, indices; real[] values; index[] variables, place_of_row; "
        "inout real[] nucleus, rest"
    ),
    contract="Writes column c of the structurals 'variables' (count,) into row place_of_row[i] of "
    "nucleus (count, count), or row -1 - place_of_row[i] of rest (m - count, count); both were "
    "zero; exact.",
    launch=warps("count"),
)

SPREAD_INVERSE = Kernel(
    name="spread_inverse",
    arguments=arguments(
        "int rows, capacity, count; index[] place_of_position; real[] inner, outer; "
        "out real[] inverse"
    ),
    contract="Row p of inverse (m, capacity) becomes row place_of_position[p] of inner (count, "
    "count), or row -1 - place_of_position[p] of outer (m - count, count), then zeros; exact.",
    launch=each("rows", "capacity"),
)

OPEN_SLOTS = Kernel(
    name="open_slots",
    arguments=arguments(
        "int rows, capacity; index[] slots, positions; inout real[] inverse; int count"
    ),
    contract="Columns slots (count,) of inverse (m, capacity) become minus the unit columns of "
    "positions (count,); exact.",
    launch=each("rows", "count"),
)

GATHER_ETA_ROWS = Kernel(
    name="gather_eta_rows",
    arguments=arguments(
        "int rows, capacity, most; index[] row_of_slot; real[] eta_rows; out real[] by_slot; "
        "int count, slots"
    ),
    contract="by_slot (most, capacity): the first 'count' of eta_rows (most, m) by stored column, "
    "zero elsewhere; exact.",
    launch=each("most", "capacity"),
)

CLOSE_SLOTS = Kernel(
    name="close_slots",
    arguments=arguments(
        "int rows, capacity; index[] targets, sources; inout real[] inverse; int count"
    ),
    contract="Columns sources (count,) of inverse (m, capacity) move to columns targets, or "
    "nowhere where a target is -1, and leave zeros; no target is a source; exact.",
    launch=each("rows", "count"),
)


ROW_RESIDUAL = Kernel(
    name="row_residual",
    arguments=arguments(
        "int rows, structurals, lanes; index[] starts, indices; real[] values, x; "
        "out real[] residual"
    ),
    contract="residual (m,) = A x minus the logicals; the matrix is by rows. Up to the order of "
    "sums.",
    launch=by_owner("rows", "lanes"),
)

APPLY_INVERSE = Kernel(
    name="apply_inverse",
    arguments=arguments(
        "int rows, capacity, slots; real[] inverse; index[] unit_row, row_of_slot; real[] right; "
        "out real[] result"
    ),
    contract="result (m,) by position = inverse times right (m,) by row, with no pivot delayed. Up "
    "to the order of sums.",
    launch=warps("rows"),
)

CORRECT_BASICS = Kernel(
    name="correct_basics",
    arguments=arguments(
        "int rows; index[] basic; real[] lower, upper, change; "
        "inout real[] x, x_basic, lower_basic, upper_basic"
    ),
    contract="Takes change (m,) off the basic variables in x (n + m,), and copies them and their "
    "bounds by position; exact.",
    launch=each("rows"),
)

SPREAD_BASICS = Kernel(
    name="spread_basics",
    arguments=arguments("int rows; index[] basic; real[] x_basic; inout real[] x"),
    contract="Copies x_basic (m,) by position into x (n + m,); exact.",
    launch=each("rows"),
)

GATHER_BASICS = Kernel(
    name="gather_basics",
    arguments=arguments("int rows; index[] basic; real[] vector; out real[] by_position"),
    contract="by_position (m,) = the elements of vector (n + m,) of basic variables; exact.",
    launch=each("rows"),
)

PLACE_DUAL = Kernel(
    name="place_dual",
    arguments=arguments(
        "int rows; index[] slot_of_row, unit_position; real[] product, by_position; "
        "inout real[] dual"
    ),
    contract="Adds B^-T by_position to dual (m,) by row: 'product' (capacity,) is that of the "
    "stored columns, and unit_position (m,) says where a row's logical is basic; exact.",
    launch=each("rows"),
)

REDUCED_COSTS = Kernel(
    name="reduced_costs",
    arguments=arguments(
        "int rows, structurals, lanes; index[] starts, indices; real[] values, cost, dual; "
        "out real[] reduced_cost"
    ),
    contract="reduced_cost (n + m,) = cost - [A -I]'dual; the matrix is by columns. Up to the "
    "order of sums.",
    launch=lambda values: Launch(
        -(-(int(values["structurals"]) * int(values["lanes"]) + int(values["rows"])) // 256), 256
    ),
)

SETTLE_DUALS = Kernel(
    name="settle_duals",
    arguments=arguments(
        "int variables, repair; inout index[] status; real[] lower, upper; "
        "inout real[] x, cost, reduced_cost; real[] scalars"
    ),
    contract="Sets reduced costs of basic variables to zero. With repair = 1, nonbasic variables "
    "whose reduced cost has the wrong sign by more than the tolerance go to their other bound, "
    "or have their cost shifted if they have none; exact.",
    launch=each("variables"),
)

LARGEST = Kernel(
    name="largest",
    arguments=arguments("int count, place; real[] vector; inout real[] scalars"),
    contract="Leaves the largest magnitude of vector (count,) in scalars[place]; infinity for one "
    "that holds a NaN; exact.",
    launch=one_block,
)


REFRESH = Family(
    "solvers.simplex.dense_gpu.kernels",
    "refresh",
    (
        GATHER_BASIS,
        SPREAD_INVERSE,
        OPEN_SLOTS,
        GATHER_ETA_ROWS,
        CLOSE_SLOTS,
        ROW_RESIDUAL,
        APPLY_INVERSE,
        CORRECT_BASICS,
        SPREAD_BASICS,
        GATHER_BASICS,
        PLACE_DUAL,
        REDUCED_COSTS,
        SETTLE_DUALS,
        LARGEST,
    ),
    in_numpy=True,
)
