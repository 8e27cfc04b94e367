"""The dual ratio test with bound flips, in one block.

Break points are passed in groups while the slope stays positive: variables that change sides there
are flipped to their other bound. Among the groups passed, from the last one back, the column with
the largest pivot element enters, if that is large enough (lp-algorithms.md, 3.2; after HiGHS).
The block then lays out the right sides for the solves that follow.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values
from solvers.simplex.resident.control import BLOCK, ONE_BLOCK
from solvers.simplex.resident.kernels.layout import WARP, indices, ints, reals

VARIABLES_PER_THREAD = 8
"""Variables for which a thread of the ratio test is worth its while."""


def _launch(values: Values) -> Launch:
    """Launch a block that is no larger than its work: waiting for each other costs threads time."""
    wanted = WARP * -(-int(values["candidates"].size) // (WARP * VARIABLES_PER_THREAD))
    return Launch(1, max(BLOCK, min(ONE_BLOCK, wanted)))


CHOOSE_COLUMN = Kernel(
    name="choose_column",
    arguments=(
        *ints("rows", "structurals", "most", "lanes", "steepest"),
        *indices("starts", "indices"),
        *reals("values"),
        *indices("slot_of_row", "reference"),
        *reals("lower", "upper", "alpha_rows"),
        *indices("candidates", "counts"),
        *reals("ratios", "squares", "dots"),
        *indices("status", changed="inout"),
        *reals("x", "cost", "reduced_cost", changed="inout"),
        *indices("selected", "group", "flips", changed="inout"),
        *reals(
            "flip_steps", "column", "column_slots", "flip_column", "flip_slots", changed="inout"
        ),
        *reals("column_dots", "flip_dots", changed="inout"),
        *indices("control", changed="inout"),
        *reals("scalars", changed="inout"),
    ),
    contract="Counts the iteration and sets ENTERING, PIVOT, DUAL_STEP and NORM, or says "
    "NO_PIVOT. Flipped variables have changed status and x. 'column' and 'flip_column' (m,) hold "
    "the entering column and the sum of flipped columns times their steps, by row, and the same "
    "by slot; both were zero before. 'column_dots' and 'flip_dots' (most,) are their products "
    "with the delayed pivot rows. Device and twin agree up to the order of sums.",
    launch=_launch,
    work=lambda values: int(values["candidates"].size),
    bytes_moved=lambda values: 40 * int(values["candidates"].size),
)

RATIO = Family("solvers.simplex.resident.kernels", "ratio", (CHOOSE_COLUMN,))
