"""The dual ratio test with bound flips.

Break points are passed in groups while the slope stays positive: variables that change sides there
are flipped to their other bound. Among the groups passed, from the last one back, the column with
the largest pivot element enters, if that is large enough (as in HiGHS).
Every block finds this out for itself; they share out the right sides for the solves that follow.
What is chosen takes effect in ``update_dual``.

Of break points within reach, ``MOST_FLIPS`` are looked at: if there are more, no further step is
tried, or, if there are more within the first reach, only the first group is passed.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import BLOCK, SIDE_ROWS, ceiling
from solvers.simplex.dense_gpu.kernels.structures import (
    MATRIX,
    VARIABLES,
    candidates,
    flipped,
    right_sides,
)


def side_blocks(values: Values) -> Launch:
    """Launch a block for so many rows of the right sides."""
    return Launch(max(1, ceiling(int(values["rows"]), SIDE_ROWS)), BLOCK)


CHOOSE_COLUMN = Kernel(
    name="choose_column",
    arguments=(
        *MATRIX,
        *arguments("int most, steepest"),
        *VARIABLES,
        *arguments("real[] alpha_rows"),
        *candidates("in"),
        *flipped("inout"),
        *right_sides("inout"),
        *arguments("inout index[] control; inout real[] scalars"),
    ),
    contract="Sets ENTERING, PIVOT, DUAL_STEP, COST_SHIFT and NORM, or says NO_PIVOT. 'flips' and "
    "'flip_steps' hold FLIPS variables and how far they go. Right sides are the flipped columns "
    "times their steps, and the entering column. If they have few entries, these are listed: "
    "'amounts', at 'places' that are slots, or -1 - row where a row has none; FLIP_ENTRIES of "
    "them, and ENTRIES in all. Otherwise ENTRIES is -1, 'column' and 'flip_column' (m,) hold the "
    "entering column and, if there are flips, the sum of theirs, by row, and the others the same "
    "by slot. 'column_dots' and 'flip_dots' (most,) are their products with the delayed pivot "
    "rows. Device and twin agree up to the order of sums and flips.",
    launch=side_blocks,
    bounds="BLOCK",
)

RATIO = Family("solvers.simplex.dense_gpu.kernels", "ratio", (CHOOSE_COLUMN,), in_numpy=True)
