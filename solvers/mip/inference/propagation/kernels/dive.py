"""What a step of 32 dives does beside propagation: choose the next bulk, and fix it in every lane.

The boxes are those of ``solvers.mip.inference.propagation.kernels.batch``. All lanes follow one
``order`` of integer columns (by place), so that the rows they change are mostly the same ones;
each lane has its own :class:`Rule` for values, seed, and probability of taking a
random value instead. ``control`` keeps where the dive has got to and how many columns the bulk has.

Device and twin agree exactly.
"""

from __future__ import annotations

from enum import IntEnum, auto

from solvers.kernels.family import BLOCK, Family, Kernel, Launch, Values, arguments
from solvers.mip.inference.propagation.kernels.batch import (
    BATCH_BLOCKS,
    LANES,
    Control,
)

SELECT_BLOCK = 1024
"""Threads that choose the next bulk, all in one block."""


class Rule(IntEnum):
    """How a lane picks a value."""

    DOWN = 0
    """The lower bound."""
    UP = auto()
    """The upper bound."""
    RANDOM = auto()
    """Any value."""
    GOOD = auto()
    """The bound for the better objective."""
    BAD = auto()
    """That for the worse one."""
    LOOSE = auto()
    """The bound with fewer locks."""
    TIGHT = auto()
    """That with more."""
    REFERENCE = auto()
    """Near a reference point, where 0.3 becomes 0 for certain or almost and 0.5 either way
    (section 2.3 of arXiv 2510.20499)."""


class Amount(IntEnum):
    """How much of a bulk to fix."""

    WHOLE = 0
    HALF = auto()
    FIRST = auto()
    """Its first column."""
    OTHER = auto()
    """That, at another value."""


class Driver(IntEnum):
    """Places in ``control`` that dives use."""

    CURSOR = Control.FREE.value
    """Places of the order that every living lane has behind it."""
    BULK = auto()
    """Columns of the present bulk."""


SELECT = Kernel(
    name="dive_select",
    arguments=arguments(
        "int total, most; index[] order; int binaries; index[] masks; real[] wide; "
        "out index[] bulk; inout index[] control"
    ),
    contract="'bulk' holds the next columns of the order that some living lane has not fixed, as X",
    launch=lambda values: Launch(1, SELECT_BLOCK),
    work=lambda values: LANES * int(values["total"]),
)


def _fix_launch(values: Values) -> Launch:
    warps = BLOCK // LANES
    return Launch(max(1, min(BATCH_BLOCKS, -(-int(values["bulk"].size) // warps))), BLOCK)


FIX = Kernel(
    name="dive_fix",
    arguments=arguments(
        "int lanes, amount, columns, binaries; index[] place_column, bulk, rule, seed; "
        "real[] noise; index[] good, loose; real[] reference; "
        "inout index[] column_changed, column_list, next_masks; inout real[] next_wide; "
        "inout index[] control"
    ),
    contract="In the living lanes of the word 'lanes' the columns of the bulk, or as many of them "
    "as 'amount' says, get a value by the lane's rule; they are listed for a round of parity 0. "
    "good and loose (n,) are -1 or 1 for the bound they prefer.",
    launch=_fix_launch,
    work=lambda values: LANES * int(values["bulk"].size),
)

DIVE = Family("solvers.mip.inference.propagation.kernels", "dive", (SELECT, FIX))
