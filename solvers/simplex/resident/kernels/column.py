"""Solving with the basis: the entering column, the flipped ones, and steepest edge's vector.

    alpha = B^-1 a_q    beta = B^-1 (sum of flipped columns times steps)    tau = B^-1 rho

A warp takes a position and goes once through its row of the stored inverse for all three. An
entering column with few entries is gathered instead.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Values
from solvers.simplex.resident.kernels.layout import indices, ints, reals, warps


def _bytes(values: Values) -> int:
    rows, slots = int(values["rows"]), int(values["control"][8])
    return 8 * rows * (slots + int(values["control"][1]) + 3)


SOLVE_COLUMN = Kernel(
    name="solve_column",
    arguments=(
        *ints("rows", "structurals", "capacity", "most", "dual", "steepest"),
        *reals("inverse"),
        *indices("unit_row", "slot_of_row"),
        *reals("etas", "eta_rows", "row_slots"),
        *indices("starts", "indices"),
        *reals("values", "column", "column_slots", "flip_column", "flip_slots"),
        *reals("column_dots", "flip_dots", "dots"),
        *indices("control"),
        *reals("alpha", "beta", "tau", changed="out"),
    ),
    contract="Leaves alpha (m,), beta if there are flips and tau if steepest = 1. With dual = 1 "
    "the pivot of this iteration has been counted already. Device and twin agree up to the order "
    "of sums.",
    launch=warps("rows"),
    work=lambda values: int(values["rows"]) * (int(values["control"][8]) + 1),
    bytes_moved=_bytes,
)

COLUMN = Family("solvers.simplex.resident.kernels", "column", (SOLVE_COLUMN,))
