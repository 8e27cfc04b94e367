"""Sizes and places that ``grid_walk.cu`` and ``grid_walk.cpp`` share, by the same names."""

from __future__ import annotations

from enum import IntEnum, auto

CHUNK = 4096
"""Entries of a long row or column that a warp reads at a time; the grid shares the chunks."""

SLOTS = 32
"""Columns of more than a chunk that are scored in a round."""

SHARED = 16
"""Rows, the longest of those of more than a chunk, that many moves of a round may change."""

MOVE = 4
"""Numbers of a move: column (-1 for none), value (or the row that found none), progress, change."""

PIECES = 16384
"""Sums that the objective is taken in when it is computed anew."""

MOST_TEAMS = 4096
"""Teams that a claim can tell apart."""

CONTROL = 16
"""Numbers reserved for what the grid shares between two barriers."""


class Mode(IntEnum):
    """What a round does."""

    REPAIR = 0
    """Repairs violated rows, and lowers the objective where a target is known."""
    LIFT = auto()
    """Lowers the objective within all rows."""
    BREAK = auto()
    """Lowers the objective although rows may break."""


class Control(IntEnum):
    """Places in the control array."""

    MODE = 0
    FORCED = auto()
    """1 where moves are made whatever they cost, 2 where tabu counts for nothing as well."""
    COPY = auto()
    """1 where the point is copied out before it is left."""
    SMOOTH = auto()
    """1 where weights of rows that hold go down before the round."""
    ROW_TEAMS = auto()
    OBJECTIVE_TEAMS = auto()
    START = auto()
    """Where the window of objective columns begins."""
    PENDING = auto()
    """1 while the point is a better one that has not been copied."""
    DONE = auto()
    HUGE_USED = auto()
    """Number of columns in slots."""
    EXCLUSIVE = auto()
    """The slot whose move goes alone in this round, or -1."""
    MOVED = auto()
    SEEN = auto()
    """Columns moved and entries scored in this round."""
    MOVERS = auto()
    """Moves expected in the round, by which lots for shared rows are drawn."""
    ARRIVED = auto()
    GENERATION = auto()
    """The barrier's own: blocks that have come, and how often all have."""
