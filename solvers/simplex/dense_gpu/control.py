"""Words that steer the kernels: where the iteration stands, and by which tolerances it decides.

``control`` is an array of integers, ``scalars`` one of numbers, both where the kernels run; the
host reads them once per batch of iterations. ``kernels/structures.cuh`` repeats the places for
kernels, beside the constants that only these use.
"""

from __future__ import annotations

from collections.abc import Callable

from solvers.kernels.declaration import Launch, Values

STATUS, PIVOTS, ITERATIONS, LIMIT, POSITION, LEAVING, ENTERING, FLIPS = 0, 1, 2, 3, 4, 5, 6, 7
SLOTS, RESET, FLIP_ONLY, DIRECTION, TO_UPPER, ALL_FLIPS = 8, 9, 10, 11, 12, 13
MADE, ENTRIES, FLIP_ENTRIES = 14, 15, 16
CONTROL_WORDS = 20
"""Places in ``control``:

STATUS one of those below; PIVOTS since the inverse was last brought up to date; ITERATIONS and
their LIMIT; POSITION and variable LEAVING; variable ENTERING; FLIPS, the number of bound flips
of this iteration; SLOTS, the columns of the inverse that are stored; RESET, whether Devex starts
a new reference framework; FLIP_ONLY, a primal iteration without a pivot; DIRECTION in which the
entering variable goes; TO_UPPER, the bound that the leaving variable stops at; ALL_FLIPS so far;
MADE, PIVOTS before this one; ENTRIES of the right sides, of which FLIP_ENTRIES are those of flips,
if they are listed, else -1.
"""

RUNNING, DONE, NO_PIVOT, OUT_OF_PIVOTS, FOLD, INACCURATE = 0, 1, 2, 3, 4, 5
"""Values of STATUS. Every kernel does nothing unless it is RUNNING. FOLD: no room for another
pivot until the delayed ones are multiplied into the inverse. INACCURATE: the pivot element came
out differently from row and column; the basis has not been changed."""

VALUE, BOUND, EXCESS, WEIGHT, DUAL_STEP, PIVOT, ENTERING_VALUE, NORM = 0, 1, 2, 3, 4, 5, 6, 7
PRIMAL_STEP, LARGEST, ERROR, COST_SHIFT = 8, 9, 10, 11
PRIMAL_TOLERANCE, DUAL_TOLERANCE, SMALL_PIVOT, PIVOT_ERROR, HARRIS = 12, 13, 14, 15, 16
SCALAR_WORDS = 20
"""Places in ``scalars``:

VALUE of the leaving variable, the BOUND it goes to and the EXCESS beyond it; its WEIGHT;
DUAL_STEP; the PIVOT element by the row; the ENTERING_VALUE before the step; NORM, the weight as
measured; PRIMAL_STEP; LARGEST, a maximum that a kernel was asked for; ERROR, of the last pivot
element; COST_SHIFT, by which the cost of the entering variable falls; then tolerances: on bounds,
on reduced costs, the smallest PIVOT element, the largest difference between PIVOT elements, and
HARRIS, by which a ratio test may go too far.
"""

NONE = 2147483647
"""Index that stands for nothing found."""

MOST_DELAYED = 128
"""Pivots that wait to be multiplied into the inverse. About sqrt(m) would move the fewest bytes,
but each product also keeps the host busy for as long as some twenty
iterations take; the kernels have shared memory for so many."""

SPARSE_BELOW = 8
"""A column counts as sparse if it has fewer entries than there are rows, by this factor. Where the
inverse is read for steepest edge's sake, right sides are still gathered from it if they have fewer
entries than it has columns, by this factor: otherwise they come along for nearly nothing."""

GATHER_BELOW = 4
"""Where it is not, they are gathered if they have fewer entries than there are rows, by this
factor: a gather fetches a sector of four numbers for one, and takes as many of the inverse's
columns as the entries have rows among theirs."""

BLOCK = 256
"""Threads in a block of kernels that spread over the GPU."""

ONE_BLOCK = 1024
"""Threads of kernels that are a single block."""

MOST_FLIPS = 512
"""Break points that a ratio test looks at; the kernels have shared memory for so many."""

SEGMENT = 32
"""Most variables for which the ratio test has one least ratio."""

SIDE_ROWS = 128
"""Rows of the right sides that a block lays out."""


# How the kernels of the dense GPU core are declared and launched.


WARP = 32
MOST_GROUPS_OF_ROWS = BLOCK
"""Blocks that leave a partial result each; one block then reads them with one thread each."""


def ceiling(value: int, by: int) -> int:
    """Return value / by, rounded up."""
    return -(-value // by)


def row_groups(rows: int) -> int:
    """Return how many blocks share out the positions of the basis, or other owners."""
    return max(1, min(MOST_GROUPS_OF_ROWS, ceiling(rows, BLOCK)))


def each(*names: str) -> Callable[[Values], Launch]:
    """Return a launch rule: a thread for each element of the product of these arguments."""

    def launch(values: Values) -> Launch:
        count = 1
        for name in names:
            count *= int(values[name])
        return Launch(ceiling(count, BLOCK), BLOCK)

    return launch


def warps(name: str) -> Callable[[Values], Launch]:
    """Return a launch rule: a warp for each owner."""
    return lambda values: Launch(ceiling(int(values[name]) * WARP, BLOCK), BLOCK)


def one_block(values: Values) -> Launch:
    """Launch a single block."""
    return Launch(1, ONE_BLOCK)
