"""What a dual pivot changes: values, reduced costs, weights, statuses, and another eta column.

With theta_p = (x_r - beta_r - bound) / alpha_r and theta_d = d_q / alpha_q::

    x_B <- x_B - beta - theta_p alpha        d <- d - theta_d alpha_N
    steepest edge: w_p <- max(w_p - 2 (alpha_p / alpha_r) tau_p + (alpha_p / alpha_r)^2 w_r, 1e-4)
    Devex:         w_p <- max(w_p, (alpha_p / alpha_r)^2 w_r)

Nothing is changed if alpha_r came out differently from row and column. The kernel also leaves what
``choose_row`` does, for the next iteration.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import BLOCK, ceiling, row_groups
from solvers.simplex.dense_gpu.kernels.structures import (
    basics,
    flipped,
    partials,
    solutions,
)


def _launch(values: Values) -> Launch:
    rows, structurals = int(values["rows"]), int(values["structurals"])
    return Launch(row_groups(rows) + ceiling(rows + structurals, BLOCK) + 1, BLOCK)


UPDATE_DUAL = Kernel(
    name="update_dual",
    arguments=(
        *arguments("int rows, structurals, most, steepest; real[] alpha_rows"),
        *structure(
            "changed",
            "real[] lower, upper; inout real[] x, cost, reduced_cost; "
            "inout index[] status, reference",
            prefix="",
        ),
        *solutions("in"),
        *flipped("in"),
        *basics("inout"),
        *arguments("inout real[] etas, weights; inout index[] pivot_log"),
        *partials("inout"),
        *arguments("inout index[] control; inout real[] scalars"),
    ),
    contract="Makes the pivot and the flips before it, counts them, and appends (position, "
    "leaving, entering) to 'pivot_log' (most, 3); or says INACCURATE and changes nothing. Exact "
    "but for the contraction of products and sums.",
    launch=_launch,
    bounds="BLOCK",
)

DUAL_UPDATE = Family(
    "solvers.simplex.dense_gpu.kernels", "dual_update", (UPDATE_DUAL,), in_numpy=True
)
