"""What the kernels of the paper's solver share: the control array, and shapes of launches.

``control`` is one array of float64 that steers the iteration on the device; the host reads it
after a batch of iterations. ``paper.cuh`` numbers its places in the same way.
"""

from __future__ import annotations

from solvers.kernels.declaration import Launch, Values, arguments, structure

(STOP, PHASE, ITERATION, LIMIT, SINCE_INVERSE, ENTERING, ENTERING_COST, ENTERING_WEIGHT,
 LEAVING, STEP, PIVOT, COSTS_MOVED, DUAL_ERROR, BLAND, DUAL_TOLERANCE, PRIMAL_TOLERANCE,
 ZERO_PIVOT, SAFE_PIVOT, ERROR_ALLOWED, DEGENERATE) = range(20)  # fmt: skip
"""Places in ``control``.

STOP says why no more pivots are made, PHASE is 1 or 2, ITERATION counts pivots and LIMIT ends a
batch, SINCE_INVERSE counts pivots since the inverse was fresh. ENTERING to PIVOT describe the
pivot under way. COSTS_MOVED is 1 when a pivot of phase 1 changed costs beside that of the pivot.
DUAL_ERROR is the largest reduced cost of a basic variable, which should be zero: the measured error
of the inverse. BLAND asks for Bland's rule. The rest are tolerances, and DEGENERATE counts pivots
without a step.
"""

CONTROL_SIZE = 32

RUNNING, NO_CANDIDATE, NO_RATIO, INACCURATE, SMALL_PIVOT, BATCH_DONE = range(6)
"""Values of STOP: still at work; nothing prices out; no ratio is bounded; the inverse has to be
made anew; the pivot is too small even so; the batch is over."""

BLOCK = 256
"""Threads of every block."""

MOST_PARTS = 256
"""Blocks that share a reduction; every block of the next kernel reads their results."""

SLOTS = 3
"""Numbers that a block leaves of a reduction."""

REAL_BYTES = 8

CONTROL = arguments("inout real[] control")

MATRIX = structure("matrix", "index[] starts, rows; real[] values", prefix="")
"""A by columns, which is A' by rows: pricing reads it in one stream (paper, section 3.2)."""

SHAPE = structure("shape", "int size, stride, columns, parts", prefix="")
"""Rows, the distance of the inverse's columns, columns, and blocks that share a reduction."""


def by_parts(values: Values) -> Launch:
    """Return a launch of as many blocks as share the reduction."""
    return Launch(int(values["parts"]), BLOCK)


def one_block(values: Values) -> Launch:
    """Return a launch of a single block."""
    return Launch(1, BLOCK)


def by_size(values: Values) -> Launch:
    """Return a launch of a thread for each of ``size`` elements."""
    return Launch(-(-int(values["size"]) // BLOCK), BLOCK)


def by_warps(values: Values) -> Launch:
    """Return a launch of a block for each 32 of ``size`` elements, to which its warps add up."""
    return Launch(-(-int(values["size"]) // 32), BLOCK)


def by_column_of_inverse(values: Values) -> Launch:
    """Return a launch of ``team`` threads for each column of the inverse."""
    return Launch(-(-int(values["size"]) * int(values["team"]) // BLOCK), BLOCK)


def parts_for(count: int, each: int = 1) -> int:
    """Return how many blocks share a reduction over ``count`` owners of ``each`` threads."""
    return max(1, min(MOST_PARTS, -(-count * each // BLOCK)))
