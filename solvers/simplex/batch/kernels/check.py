"""Residuals of points and duals of the LPs of a batch, on their data as it was given.

What ``gpu_bridge.verify.verify`` asks of a linear program, for all LPs at once and where their
answers are: on a GPU neither data nor answers have to travel for it. Nothing here decides what is
optimal. What does travel home goes in a narrower type, where it is small whole numbers.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, arguments, by_owner, structure
from solvers.kernels.family import Family

VARYING = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "offset")
"""Arrays that may differ from LP to LP, in the order of their bits."""

FIGURES = (
    "objective",
    "dual_objective",
    "primal",
    "primal_relative",
    "dual",
    "dual_relative",
    "gap_relative",
    "inside",
)
"""What is found out about each LP, in the columns of ``figures``; ``inside`` is one where the
point is exactly within its bounds, else zero."""

(
    OBJECTIVE,
    DUAL_OBJECTIVE,
    PRIMAL,
    PRIMAL_RELATIVE,
    DUAL,
    DUAL_RELATIVE,
    GAP_RELATIVE,
    INSIDE,
) = range(len(FIGURES))

BLOCK = 128
"""Threads that check an LP on a GPU: a warp for each row, a thread for each column."""

STEPS_PER_ENTRY = 8
"""What checking an LP costs, in elementary steps for each entry of its matrix."""


CHECK = Kernel(
    name="check",
    arguments=(
        *arguments("index count, rows, columns"),
        *structure(
            "lps",
            "index[] starts, indices, column_starts, column_rows, column_entries; "
            "int is_full, varying; real[] values, cost, lower, upper, row_lower, row_upper, offset",
            prefix="",
        ),
        *arguments("int claims; index[] ending; real[] x; inout real[] y; out real[] figures"),
    ),
    contract="figures (count, 8) gets FIGURES of each LP whose ending is one of the bits of "
    "`claims`, and NaN for the others. Of those LPs y (count, m) gets zeros where a dual leans on "
    "an infinite side, before anything is computed with it. is_full says that every row has all "
    "columns in their order; the pattern by columns (starts, rows, places of the entries by rows) "
    "is read on a GPU only, and only without is_full. Sums are of different order on device and "
    "in twin: figures agree to rounding of the terms, inside and y exactly.",
    launch=lambda values: Launch(int(values["count"]), BLOCK),
    work=lambda values: STEPS_PER_ENTRY * int(values["count"]) * int(values["indices"].size),
    bounds="BLOCK",
)

NARROW = Kernel(
    name="narrow",
    arguments=arguments("index count; index[] wide; out packed[] narrowed"),
    contract="narrowed (count,) gets what is in wide (count,), which its type has room for.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
)

FAMILY = Family(
    "solvers.simplex.batch.kernels", "check", (CHECK, NARROW), foreseen=({}, {"narrowed": "uint8"})
)
