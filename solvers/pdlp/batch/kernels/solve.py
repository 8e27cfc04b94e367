"""Many small LPs of one sparsity pattern, each solved to its end within one launch.

An LP is ``min c'x + offset, row_lower <= A x <= row_upper, lower <= x <= upper``. Bit b of
``varying`` says that the b-th of :data:`VARYING` has a row for each LP, (count, ...); otherwise
all share one. The method is that of ``solvers.pdlp`` (restarted reflected Halpern PDHG with a PID
primal weight, termination on the unscaled data) with, per LP, its own scaling where coefficients
vary, step size, weight, restarts, exit, and two additions:

* a basis that stands still over two checks and is square is solved for exactly, and the vertex
  taken if it meets the criteria;
* a step between iterates that looks like a ray ends the LP, for the caller to prove.

On the device a block takes one LP after the other from a queue, so that slow ones hold up nobody.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values

VARYING = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "offset", "x0", "y0")
"""Arrays that may differ from LP to LP, in the order of their bits."""

LIMIT, CONVERGED, DUAL_RAY, PRIMAL_RAY, TROUBLE, VERTEX = range(6)
"""How an LP ended: at the iteration limit, at the tolerance, with a candidate for a ray, with
numbers that are not finite, at the tolerance on a vertex."""

DENSE, SPARSE, MIXED, LARGE = range(4)
"""Where a block keeps an LP: in shared memory with the matrix as padded rows; there with two
copies of the entries; these in global memory and the vectors in shared memory; all in global
memory. A shared matrix of MIXED and LARGE stands scaled, by rows and by columns, behind the
blocks' parts of ``scratch``."""

COLUMN_VECTORS = 9
ROW_VECTORS = 10
"""Vectors of an LP; see solve.cu."""

SOLVE = Kernel(
    name="solve",
    arguments=(
        Argument("count", "index"),
        Argument("rows", "index"),
        Argument("columns", "index"),
        Argument("starts", "index[]"),
        Argument("indices", "index[]"),
        Argument("column_starts", "index[]"),
        Argument("column_rows", "index[]"),
        Argument("column_entries", "index[]"),
        Argument("varying", "int"),
        Argument("values", "real[]"),
        Argument("cost", "real[]"),
        Argument("lower", "real[]"),
        Argument("upper", "real[]"),
        Argument("row_lower", "real[]"),
        Argument("row_upper", "real[]"),
        Argument("offset", "real[]"),
        Argument("x0", "real[]"),
        Argument("y0", "real[]"),
        Argument("row_scale", "real[]"),
        Argument("column_scale", "real[]"),
        Argument("parameters", "real[]"),
        Argument("ruiz_passes", "int"),
        Argument("power_iterations", "int"),
        Argument("iteration_limit", "int"),
        Argument("check_interval", "int"),
        Argument("vertex_limit", "int"),
        Argument("storage", "int"),
        Argument("leading", "int"),
        Argument("vertex_shared", "int"),
        Argument("block", "int"),
        Argument("blocks", "int"),
        Argument("shared", "int"),
        Argument("scratch_step", "index"),
        Argument("scratch", "real[]", "inout"),
        Argument("queue", "index[]", "inout"),
        Argument("x", "real[]", "out"),
        Argument("y", "real[]", "out"),
        Argument("status", "index[]", "out"),
        Argument("iterations", "index[]", "out"),
    ),
    contract="x (count, n) and y (count, m) get each LP's last projected point, unscaled and "
    "within its bounds, or in y its candidate for a dual ray; status and iterations say how it "
    "ended. queue (1,) is zero before; where somebody makes it negative meanwhile, the twin ends "
    "each LP at its next check, as at the limit, and those not begun are NOT_REACHED. Device and "
    "twin agree up to rounding, which a long run "
    "may amplify: what both hold is that CONVERGED and VERTEX meet the criteria.",
    launch=lambda values: _launch(values),
    work=lambda values: 1000 * int(values["count"]) * int(values["indices"].size),
    bytes_moved=lambda values: sum(
        int(values[name].nbytes) for name in (*VARYING, "x", "y", "status", "iterations")
    ),
)


def _launch(values: Values) -> Launch:
    """As many blocks as run at once, but no more than there are LPs."""
    grid = min(int(values["blocks"]), int(values["count"]))
    return Launch(grid, int(values["block"]), int(values["shared"]))


FAMILY = Family("solvers.pdlp.batch.kernels", "solve", (SOLVE,))
