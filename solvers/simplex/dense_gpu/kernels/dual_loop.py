"""Dual iterations in one launch: blocks that stay, and meet three or four times in each.

What ``row.py``, ``ratio.py`` and ``dual_update.py`` do in five launches, a meeting of all blocks
after each part that others need. Right sides that are short every block lists for
itself, and a row of the inverse more than its own tells each of them the pivot element: so choosing
the column, solving and updating are one part. All blocks of a launch have to run at once;
``arrivals`` (1,) counts them as they meet, and is of no other use.
"""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, Launch, Values
from solvers.simplex.dense_gpu.control import BLOCK, indices, ints, reals

BLOCKS_PER_PROCESSOR = 2
"""Blocks that run at once on a multiprocessor; the kernel's registers allow as many."""


def _work(values: Values) -> int:
    rows, slots = int(values["rows"]), int(values["control"][8])
    return int(values["count"]) * (int(values["indices"].size) + rows * (slots + 1))


ITERATE_DUAL = Kernel(
    name="iterate_dual",
    arguments=(
        *ints("rows", "structurals", "capacity", "most", "lanes", "full", "steepest"),
        *indices("starts", "indices"),
        *reals("values", "inverse"),
        *indices("unit_row", "slot_of_row"),
        *reals("lower", "upper"),
        *reals("eta_rows", "row_slots", changed="inout"),
        *indices("row_mask", changed="inout"),
        *reals("etas", "alpha_rows", "ratios", "least", changed="inout"),
        *indices("counts", changed="inout"),
        *reals("squares", "dots", changed="inout"),
        *indices("places", changed="inout"),
        *reals("amounts", "column", "column_slots", changed="inout"),
        *reals("flip_column", "flip_slots", "alpha", "beta", "tau", changed="inout"),
        *reals("x_basic", "lower_basic", "upper_basic", "weights", changed="inout"),
        *reals("x", "cost", "reduced_cost", changed="inout"),
        *indices("basic", "status", "reference", "pivot_log", changed="inout"),
        *reals("partial_value", changed="inout"),
        *indices("partial_index", "control", changed="inout"),
        *reals("scalars"),
        *indices("arrivals", changed="inout"),
        *ints("blocks", "count"),
    ),
    contract="Makes 'count' dual pivots, or fewer, and then STATUS says why. Basis, values, "
    "weights, prices, etas and their rows, 'pivot_log', and of 'control' STATUS, PIVOTS, "
    "ITERATIONS, ALL_FLIPS and POSITION are what the single kernels leave, up to the order of "
    "sums; the other arrays that change are scratch. The partial results, of which the device "
    "leaves one for each of its 'blocks', need no preparation.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    work=_work,
    bytes_moved=lambda values: 12 * _work(values),
)

DUAL_LOOP = Family(
    "solvers.simplex.dense_gpu.kernels", "dual_loop", (ITERATE_DUAL,), cooperative=True
)
