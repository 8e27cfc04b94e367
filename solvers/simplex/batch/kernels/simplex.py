"""Many small LPs of one shape, each solved to its vertex by the simplex method in one launch.

An LP is ``min c'x, row_lower <= A x <= row_upper, lower <= x <= upper``, in the slack form of
``solvers.simplex.state``: variables n..n+m-1 are the activities of the rows. Bit b of
``varying`` says that the b-th of :data:`VARYING` has a row for each LP; otherwise all share one.

What pivots act on is the dictionary of a basis, the m x n matrix with x_B = D x_N (a tableau
without its unit columns). Basic infeasibilities go by the dual method, with Devex weights, the
bound-flipping ratio test and Harris' tolerance; costs that are not dual feasible and cannot be
made so by a flip are shifted meanwhile, and what that leaves is done by the primal method, from a
feasible point, on the true costs. A method that stalls perturbs, and the other one cleans up. The
dictionary is checked against A every some pivots and before anything is claimed, and built anew
from A where it is not accurate.

On the device a block takes one LP after the other from a queue, so that slow ones hold up nobody.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

VARYING = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "given")
"""Arrays that may differ from LP to LP, in the order of their bits."""

LIMIT, OPTIMAL, INFEASIBLE, UNBOUNDED, TROUBLE = range(5)
"""How an LP ended: at the limit of pivots, at an optimal vertex, with a row that proves it
infeasible, with a ray, or without an accurate basis."""

SLACK, DICTIONARY, BASES = range(3)
"""Where LPs start: at the slack basis, at a dictionary that all share, at bases of statuses."""

ALL_NEAR, MATRIX_FAR, ALL_FAR = range(3)
"""Where a block keeps an LP: all in shared memory; the dictionary in global memory; all there."""

MOST_SIZE = 100.0
"""Bounds larger than this do not loosen the primal tolerance further."""

ROUNDING = 1e-15
"""Part of the largest cost that reduced costs may be wrong by, whatever the tolerance."""

HELD_ENTRIES = 40
"""Entries of a row that a thread holds in registers: with that many, a block is small and a
multiprocessor has several, which compute while others choose a pivot."""

HELD_COLUMNS = 256
"""Columns of an LP up to which dictionaries are held."""

COLUMN_VECTORS = 5
ROW_VECTORS = 3
VARIABLE_VECTORS = 3
"""Vectors of an LP; see state.cuh."""

_ARGUMENTS = (
    *arguments("index count, rows, columns"),
    *structure(
        "batch",
        "index[] starts, indices; int varying; real[] values, cost, lower, upper, row_lower, "
        "row_upper; index[] given",
        prefix="",
    ),
    *structure(
        "start",
        "real[] row_scale, column_scale, dictionary; index[] heads; int start",
        prefix="",
    ),
    *arguments("real[] parameters; int limit"),
    *structure(
        "room",
        "int leading, place, block, blocks, shared; index scratch_step; inout real[] scratch",
        prefix="",
    ),
    *arguments("inout index[] queue"),
    *structure("answers", "out real[] x, y, ray; out index[] basis, ending, iterations", prefix=""),
)

_WORK = 100
"""Passes over its dictionary that an LP takes, about."""


def _work(values: Values) -> int:
    return _WORK * int(values["count"]) * int(values["rows"]) * max(1, int(values["columns"]))


def _launch(values: Values) -> Launch:
    """As many blocks as run at once, but no more than there are LPs."""
    grid = min(int(values["blocks"]), int(values["count"]))
    return Launch(grid, int(values["block"]), int(values["shared"]))


SIMPLEX = Kernel(
    name="simplex",
    arguments=_ARGUMENTS,
    contract="x (count, n), y (count, m) and basis (count, n + m) get each LP's last basic point, "
    "within its bounds and in the units of the problem, its row duals and statuses; y the Farkas "
    "row of an INFEASIBLE one, ray (count, n) the direction of an UNBOUNDED one and nothing "
    "else. given (count or 1, n + m) are statuses to start from; start DICTIONARY takes "
    "dictionary (n, m), by columns, with heads (m + n), basic then nonbasic variables, for all. "
    "queue (1,) is zero before; where somebody makes it negative meanwhile, the twin ends each LP "
    "at its next look at accuracy, as at the limit, and those not begun are NOT_REACHED. Sums are "
    "of different order on device and in twin: the same pivots up to rounding, and the same vertex "
    "where the optimum is one.",
    launch=_launch,
    work=_work,
    bounds="512, 2",  # two such blocks on a multiprocessor, or more smaller ones
)

HELD = Kernel(
    name="simplex_held",
    arguments=_ARGUMENTS,
    contract="The same for LPs that are kept ALL_NEAR, with at least one row and column, where "
    "each thread holds HELD_ENTRIES entries of a row in registers during dual pivots, for no more "
    "than HELD_COLUMNS columns, and with `block` at least rows times the shares of that size that "
    "a row has.",
    launch=_launch,
    work=_work,
    bounds="512, 1",  # registers for the dictionary
)

FAMILY = Family("solvers.simplex.batch.kernels", "simplex", (SIMPLEX, HELD))
