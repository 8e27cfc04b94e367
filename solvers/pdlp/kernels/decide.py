"""What a check concludes from its sums: optimal or not, restart or not, and the next weight.

Everything that steers the iteration is decided where the numbers are, so that the next block can
begin while the host is still reading about this one. ``decide`` is one small block of threads:

Termination
    is_optimal of ``solvers/pdlp/termination.py`` stops the kernels until the host has judged the
    point on the original data.
Restarts (cuPDLPx, arXiv 2507.14051)
    The fixed-point metric r of the last iteration against r0, that of the first since the last
    restart: restart at the first check, when r <= sufficient r0, when r <= necessary r0 and r has
    grown since the check before, or when more than artificial times all iterations have passed.
    r^2 = omega |dx|_C^2 + |dy|_R^2 / omega + 2 eta dy'A dx; if that is negative, the step eta is
    too long, and is shortened.
Standstill
    On the way to a point r falls like one over the iterations. Where it is still more than
    standstill times what it was at half of them, x or y goes on in a straight line, with its
    residual as small as it is constant and a gap that does not close. What helps then is a weight
    that lets that side take longer steps, so there is a restart long before the artificial one;
    the distances, in whose ratio the weight is set anew, tell the side.
Primal weight omega
    At each restart it becomes dual over primal distance, travelled since the last restart, times
    (primal / dual residual)^1/4, both relative. The ratio of the distances is where a controller
    brings it in one step (ibid., section 3.3); it does not see that one residual has long been
    small, which on stochastic and energy models leaves the weight decades off for most of the
    iterations (``docs/pdlp-constants.md``). A change that goes back on the last one is made by
    half, in the logarithm: else the weight swings from one side to the other. Where the distances
    say nothing, or the residuals differ too much, the weight is taken that balanced the residuals
    best so far. A residual that is exactly zero tells nothing about the balance: where every column
    has both bounds no dual point is ever infeasible, and taking that for an imbalance froze the
    weight and cost 20 times the iterations.
Best points
    The one of least error, and the feasible one of least objective, for when a limit comes.

``settle`` then carries out what was decided: it moves point and anchor to the projected point, and
copies the best ones. Device and twin of ``decide`` agree up to rounding, those of ``settle``
exactly.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments
from solvers.kernels.family import Family
from solvers.pdlp.kernels.measure import SUMS

BLOCK = 1024
"""Threads of the one block that sums and decides: the most that a block may have."""

DECIDE = Kernel(
    name="decide",
    arguments=arguments(
        "int row_slots; real[] row_partial; int column_slots; real[] column_partial; int count; "
        "inout real[] control"
    ),
    contract="control takes the statistics from the partial sums (slots, 7) of a block of "
    "'count' iterations, and the decisions that follow.",
    launch=lambda values: Launch(1, BLOCK),
    work=lambda values: SUMS * (int(values["row_slots"]) + int(values["column_slots"])),
    traffic=lambda values: int(values["row_partial"].nbytes) + int(values["column_partial"].nbytes),
)


def _settle_launch(values: Values) -> Launch:
    longest = max(int(values["columns"]), int(values["rows"]), 1)
    return Launch(min(-(-longest // BLOCK), 264), BLOCK)


SETTLE = Kernel(
    name="settle",
    arguments=arguments(
        "int columns; inout real[] x, x_anchor; real[] x_projection; "
        "inout real[] best_x, feasible_x; int rows; inout real[] y, y_anchor; real[] y_projection; "
        "inout real[] best_y; real[] control"
    ),
    contract="On RESTART point and anchor become the projected point; on KEEP_BEST the best point "
    "does, on KEEP_FEASIBLE the feasible one. Otherwise nothing changes.",
    launch=_settle_launch,
    work=lambda values: int(values["columns"]) + int(values["rows"]),
    traffic=lambda values: 24 * (int(values["columns"]) + int(values["rows"])),
)

DECISIONS = Family("solvers.pdlp.kernels", "decide", (DECIDE, SETTLE))
