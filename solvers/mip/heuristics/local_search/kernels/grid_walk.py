"""Local search by one walker that the whole GPU drives, with many moves in each round.

For models whose rows and columns are too long for a warp, or too many for thousands of walkers to
carry a state of their own. Moves, scores, weights and targets are those of the other walkers
(``walk.py``: Local-MIP and Feasibility Jump); what differs is that a round makes
all moves that do not stand in each other's way:

1. *Propose.* Each team, a warp, looks at one violated row, drawn from its own part of all of them,
   or, where there are fewer rows than teams, at one part of a row's entries. It scores up to 32
   entries' columns, each moved as far as the row needs, takes the best, and claims that column's
   rows: a row goes to the claim with the largest score (ties by a team order that changes with
   each round). Some teams, as many as the target is moves away, take columns of the objective
   instead. At a point that holds all teams look for steps that lower the objective within all
   rows; only when those are exhausted rows are broken.
2. *Settle.* A team that got all rows of its column moves it. A team without a good move adds to
   its row's weight. Moves of one round share no row, so each is worth what its score said; only
   the objective, which all share, may pass its target.
3. Block 0 counts what is violated, notes better points, and plans the next round. Where nothing
   moved, a few moves are made whatever they cost.

The longest rows would let one move through in a round. So up to ``SHARED`` rows of more than
``CHUNK`` entries are shared: a move that leaves such a row room goes by lot, with chances by which
all moves together are expected to take no more than there is; without a good lot it has to claim
the row as others. What they take is added up in the order of teams.

Columns of more than ``CHUNK`` entries are scored by all warps, a chunk each, up to ``SLOTS`` of
them in a round; the best of them is moved alone, in a round in which no team has a better move.

Violated rows are kept as bits under a tree of counts (``grid.cuh``), so that the k-th is found in
a few looks and the order in which threads change rows does not matter. Claims carry the round in
their upper bits and need no clearing. All sums of real numbers have a fixed order. So a round is
the same whatever the number of blocks, and device and twin agree bit by bit.

``control`` (CONTROL,) must be zeros before the first launch; ``records``, ``values`` and ``cells``
are those of one walker. ``long_rows`` lists rows of more than a chunk, ``shared_rows`` those of
them that are shared; ``row_chunks`` and ``column_chunks`` are the chunks of the longest row and
column, 0 if none is that long.
"""

from __future__ import annotations

from enum import IntEnum, auto

from solvers.kernels.declaration import BLOCK, Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family
from solvers.mip.heuristics.local_search.kernels.walk import MODEL

_ARGUMENTS = (
    *MODEL,
    *structure(
        "lines",
        "index[] long_rows; int long_count; index[] shared_rows; "
        "int shared_count, row_chunks, column_chunks",
        prefix="",
    ),
    *structure("carried", "inout real[] values, cells, kept; inout packed[] records", prefix=""),
    *structure(
        "round",
        "inout packed[] tree, claims, moves, slots, partials, shares, control; int teams",
        prefix="",
    ),
    *arguments("int blocks, steps, seed"),
)


def _work(values: Values) -> int:
    """Return the entries scored, by an estimate of 256 for a team and round."""
    return int(values["teams"]) * int(values["steps"]) * 256


WALK_GRID = Kernel(
    name="walk_grid",
    arguments=_ARGUMENTS,
    contract="The walker makes so many rounds, or fewer where nothing is left to search for. "
    "Device and twin agree exactly, whatever the number of blocks.",
    launch=lambda values: Launch(int(values["blocks"]), BLOCK),
    work=_work,
    bounds="BLOCK, 2",  # two blocks on a multiprocessor
)

FIXED_TYPES = {
    **{name: "float64" for name in ("costs", "records", "moves", "slots", "partials", "shares")},
    **{"claims": "int64", "control": "int32", "tree": "int32"},
}
"""Types of the arrays that do not change with the numbers of the walker."""

GRID_WALK = Family(
    "solvers.mip.heuristics.local_search.kernels",
    "grid_walk",
    (WALK_GRID,),
    cooperative=True,
    foreseen=[{"real": real, **FIXED_TYPES} for real in ("float32", "float64")],
)


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
