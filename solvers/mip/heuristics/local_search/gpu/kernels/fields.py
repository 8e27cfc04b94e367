"""What a walker keeps between launches: places in its record, as ``record.cuh`` has them."""

from __future__ import annotations

from enum import IntEnum, auto

RECORD = 32
"""Numbers reserved for each walker."""

NONE = 1e300
"""An objective that nothing has reached: no target, or no point yet."""

TOLERANCE = 9e-7
"""Violations up to here count as none: a little less than what the check allows."""

MOST_ROWS = 16
"""Rows a walker may sample in one step."""


class Field(IntEnum):
    """Places in a record; the first group changes in every launch, the second is drawn."""

    STEP = 0
    ORIGIN = auto()
    """Step from which stamps of columns count."""
    REFRESH = auto()
    """1 where slack and objective are to be computed anew from the values."""
    OBJECTIVE = auto()
    VIOLATED = auto()
    """Number of violated rows."""
    WEIGHTED = auto()
    """Sum of violations times weights."""
    OBJECTIVE_WEIGHT = auto()
    TARGET = auto()
    """Objective aimed at; the objective has no say while it is ``NONE``."""
    LIMIT = auto()
    """Objective below which a feasible point is kept."""
    BEST = auto()
    """Objective of the point kept."""
    KEPT = auto()
    """Number of points kept so far."""
    CURSOR = auto()
    """Where the window of objective columns stands."""
    IDLE = auto()
    """Objective columns looked at since a lift."""
    LAST = auto()
    """Column changed last, and whether it went up."""
    LAST_UP = auto()
    MOVES = auto()
    MINIMA = auto()
    """Local minima met."""
    VISITED = auto()
    """Entries of the matrix scored."""

    ROWS = auto()
    """Violated rows sampled in a step."""
    TENURE = auto()
    """Steps for which a change must not be reversed, and how many may be added at random."""
    SPREAD = auto()
    SMOOTHING = auto()
    """Probability that weights go down at a local minimum."""
    JUMP = auto()
    """1 for the scores of Feasibility Jump, 0 for those of Local-MIP."""
    BREAKTHROUGHS = auto()
    """Moves towards the target that are tried in a step."""
    FRACTION = auto()
    """By which part of the objective the target lies below the best point."""
    PAIRS = auto()
    """Probability that pairs of moves are tried at a local minimum."""
    SCALE = auto()
    """One over the largest cost."""
    GRANULARITY = auto()
    """Least difference of two objectives, 0 if there is none."""
    PATIENCE = auto()
    """Objective columns looked at for a lift before the step goes on without one."""
