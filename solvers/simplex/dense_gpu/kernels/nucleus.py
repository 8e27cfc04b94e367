"""Changing the stored columns of the inverse: after a factorisation, and when pivots are folded in.

gather_basis     the basic structurals as dense columns, split into nucleus and other rows
spread_inverse   the inverse's columns by position, from those two parts
open_slots       unit columns become stored ones, before pivots are folded in
gather_eta_rows  the delayed pivot rows by stored column
close_slots      stored columns that have become unit columns give room to others
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel
from solvers.simplex.dense_gpu.control import each, indices, ints, reals, warps

GATHER_BASIS = Kernel(
    name="gather_basis",
    arguments=(
        *ints("count"),
        *indices("starts", "indices"),
        *reals("values"),
        *indices("variables", "place_of_row"),
        *reals("nucleus", "rest", changed="inout"),
    ),
    contract="Writes column c of the structurals 'variables' (count,) into row place_of_row[i] of "
    "nucleus (count, count), or row -1 - place_of_row[i] of rest (m - count, count); both were "
    "zero; exact.",
    launch=warps("count"),
    work=lambda values: int(values["nucleus"].size),
    bytes_moved=lambda values: 8 * int(values["nucleus"].size),
)

SPREAD_INVERSE = Kernel(
    name="spread_inverse",
    arguments=(
        *ints("rows", "capacity", "count"),
        *indices("place_of_position"),
        *reals("inner", "outer"),
        *reals("inverse", changed="out"),
    ),
    contract="Row p of inverse (m, capacity) becomes row place_of_position[p] of inner (count, "
    "count), or row -1 - place_of_position[p] of outer (m - count, count), then zeros; exact.",
    launch=each("rows", "capacity"),
    work=lambda values: int(values["inverse"].size),
    bytes_moved=lambda values: 16 * int(values["inverse"].size),
)

OPEN_SLOTS = Kernel(
    name="open_slots",
    arguments=(
        *ints("rows", "capacity"),
        *indices("slots", "positions"),
        *reals("inverse", changed="inout"),
        *ints("count"),
    ),
    contract="Columns slots (count,) of inverse (m, capacity) become minus the unit columns of "
    "positions (count,); exact.",
    launch=each("rows", "count"),
    work=lambda values: int(values["rows"]) * int(values["count"]),
    bytes_moved=lambda values: 8 * int(values["rows"]) * int(values["count"]),
)

GATHER_ETA_ROWS = Kernel(
    name="gather_eta_rows",
    arguments=(
        *ints("rows", "capacity", "most"),
        *indices("row_of_slot"),
        *reals("eta_rows"),
        *reals("by_slot", changed="out"),
        *ints("count", "slots"),
    ),
    contract="by_slot (most, capacity): the first 'count' of eta_rows (most, m) by stored column, "
    "zero elsewhere; exact.",
    launch=each("most", "capacity"),
    work=lambda values: int(values["most"]) * int(values["capacity"]),
    bytes_moved=lambda values: 16 * int(values["most"]) * int(values["capacity"]),
)

CLOSE_SLOTS = Kernel(
    name="close_slots",
    arguments=(
        *ints("rows", "capacity"),
        *indices("targets", "sources"),
        *reals("inverse", changed="inout"),
        *ints("count"),
    ),
    contract="Columns sources (count,) of inverse (m, capacity) move to columns targets, or "
    "nowhere where a target is -1, and leave zeros; no target is a source; exact.",
    launch=each("rows", "count"),
    work=lambda values: int(values["rows"]) * int(values["count"]),
    bytes_moved=lambda values: 24 * int(values["rows"]) * int(values["count"]),
)

NUCLEUS = Family(
    "solvers.simplex.dense_gpu.kernels",
    "nucleus",
    (GATHER_BASIS, SPREAD_INVERSE, OPEN_SLOTS, GATHER_ETA_ROWS, CLOSE_SLOTS),
)
