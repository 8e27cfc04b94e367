"""Solving with the basis: the entering column, the flipped ones, and steepest edge's vector.

    alpha = B^-1 a_q    beta = B^-1 (sum of flipped columns times steps)    tau = B^-1 rho

A warp takes a position and goes once through its row of the stored inverse for all three. Right
sides with few entries are gathered from it instead (``ratio.py`` says how they are given).
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Values
from solvers.simplex.dense_gpu.control import indices, ints, reals, warps


def _bytes(values: Values) -> int:
    rows, slots = int(values["rows"]), int(values["control"][8])
    return 8 * rows * (slots + int(values["control"][1]) + 3)


SOLVE_COLUMN = Kernel(
    name="solve_column",
    arguments=(
        *ints("rows", "capacity", "most", "dual", "steepest"),
        *reals("inverse"),
        *indices("unit_row"),
        *reals("etas", "eta_rows", "row_slots"),
        *indices("places"),
        *reals("amounts", "column", "column_slots", "flip_column", "flip_slots"),
        *reals("column_dots", "flip_dots", "dots"),
        *indices("control"),
        *reals("alpha", "beta", "tau", changed="out"),
    ),
    contract="Leaves alpha (m,), with dual = 1 beta, and tau if steepest = 1. Device and twin "
    "agree up to the order of sums.",
    launch=warps("rows"),
    work=lambda values: int(values["rows"]) * (int(values["control"][8]) + 1),
    bytes_moved=_bytes,
)

COLUMN = Family("solvers.simplex.dense_gpu.kernels", "column", (SOLVE_COLUMN,))
