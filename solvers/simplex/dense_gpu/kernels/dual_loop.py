"""Dual iterations in one launch: blocks that stay, and meet three or four times in each.

What ``row.py``, ``ratio.py`` and ``dual_update.py`` do in five launches, a meeting of all blocks
after each part that others need. Right sides that are short every block lists for
itself, and a row of the inverse more than its own tells each of them the pivot element: so choosing
the column, solving and updating are one part. All blocks of a launch have to run at once;
``arrivals`` (1,) counts them as they meet, and is of no other use.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values, arguments
from solvers.simplex.dense_gpu.control import BLOCK

BLOCKS_PER_PROCESSOR = 2
"""Blocks that run at once on a multiprocessor; the kernel's registers allow as many."""


def _work(values: Values) -> int:
    rows, slots = int(values["rows"]), int(values["control"][8])
    return int(values["count"]) * (int(values["indices"].size) + rows * (slots + 1))


ITERATE_DUAL = Kernel(
    name="iterate_dual",
    arguments=arguments(
        "int rows, structurals, capacity, most, lanes, full, steepest; index[] starts, indices; "
        "real[] values, inverse; index[] unit_row, slot_of_row; real[] lower, upper; "
        "inout real[] eta_rows, row_slots; inout index[] row_mask; "
        "inout real[] etas, alpha_rows, ratios, least; inout index[] counts; "
        "inout real[] squares, dots; inout index[] places; inout real[] amounts, column, "
        "column_slots, flip_column, flip_slots, alpha, beta, tau, x_basic, lower_basic, "
        "upper_basic, weights, x, cost, reduced_cost; inout index[] basic, status, reference, "
        "pivot_log; inout real[] partial_value; inout index[] partial_index, control; "
        "real[] scalars; inout index[] arrivals; int blocks, count"
    ),
    contract="Makes 'count' dual pivots, or fewer, and then STATUS says why. Basis, values, "
    "weights, prices, etas and their rows, 'pivot_log', and of 'control' STATUS, PIVOTS, "
    "ITERATIONS, ALL_FLIPS and POSITION are what the single kernels leave, up to the order of "
    "sums; the other arrays that change are scratch. The partial results, of which the device "
    "leaves one for each of its 'blocks', need no preparation.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    work=_work,
)

DUAL_LOOP = Family(
    "solvers.simplex.dense_gpu.kernels", "dual_loop", (ITERATE_DUAL,), cooperative=True
)
