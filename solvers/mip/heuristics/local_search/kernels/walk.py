"""Local search by walkers at once, each a warp of a GPU, or some in turn in a thread of the CPU.

A step of a walker, after Local-MIP (Lin, Zou and Cai, CP 2024) and Feasibility Jump (Luteberget
and Sartor, 2023), with what is sampled where those look at everything:

1. *No row is violated.* The point is noted if its objective is the best so far. Of a window of
   objective columns the one is moved whose step within all rows lowers the objective most (lift).
   Only after some windows have failed the step goes on: fewer where lifts are rare.
2. *Candidates* are the entries of a few violated rows, drawn from the list of all of them, each
   column moved just as far as its row needs (mixed tight; of a long row, columns that can move),
   and, once there is a target for the objective, columns moved as far as the target needs
   (breakthrough). A column that was moved must not go back for some steps (tabu).
3. *Scores.* Progress is the sum over the column's rows of 2 w where the row becomes satisfied,
   -2 w where it becomes violated, and w or -w where its violation shrinks or grows, w being the
   row's weight; the objective counts likewise, as a row that holds at the target. Bonus, which
   breaks ties, is the weight of rows that gain less those that lose room to spare; after that the
   column that has not changed for longest wins. Walkers of the other kind (``JUMP``) take the
   decrease of weighted violation for progress, each row's in the measure of ``scales``, of which
   their weights are multiples. The best candidate is made if its progress is positive.
4. *Local minimum.* Sometimes a pair is tried first: the best candidate with a second column that
   repairs the heaviest row it would break, which walks along equality rows and swaps members of
   set-partitioning rows. Otherwise violated rows gain weight - or, rarely, satisfied ones lose
   some - and the best move of one violated row is made whatever it costs.

Between two launches walkers are set to other points (``restart``): those of better walkers, or
points from outside, perturbed. ``number`` counts these.

Random numbers follow from seed, walker and step alone, candidates have numbers of their own that
break ties, and the list of violated rows changes in the order of lanes: so device and twin agree
move by move. ``values`` holds value and stamp of each column in turn, ``cells`` slack to the upper
side and weight of each row; rows that have a lower side only have been turned round, and those
with two sides stand last.
"""

from __future__ import annotations

from enum import IntEnum, auto

from solvers.kernels.declaration import BLOCK, WARP, Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

MODEL = structure(
    "model",
    "int rows, inequalities, columns, binaries, integers, objectives; "
    "index[] row_start, row_column; real[] row_value, sides, ranges, scales; "
    "index[] column_start, column_row; real[] column_value, bounds; packed[] costs; "
    "index[] objective_columns",
    prefix="",
)


def _work(values: Values) -> int:
    """Return the entries scored, by an estimate of 64 in a step."""
    return int(values["walkers"]) * int(values["steps"]) * 64


WALK = Kernel(
    name="walk",
    arguments=(
        *MODEL,
        *structure(
            "carried",
            "inout real[] values, cells; inout index[] place, violated; inout real[] kept; "
            "inout packed[] records",
            prefix="",
        ),
        *arguments("int walkers, steps, seed"),
    ),
    contract="Each of the walkers makes so many steps, a warp to a walker. Device and twin agree "
    "exactly.",
    launch=lambda values: Launch(int(values["walkers"]), WARP),
    work=_work,
    bounds="LANES",
)


class Weights(IntEnum):
    """What becomes of a walker's weights."""

    RESET = 0
    KEEP = auto()
    HALVE = auto()


RESTART = Kernel(
    name="restart",
    arguments=(
        *MODEL,
        *structure("from", "real[] points; index[] origins, weights; real[] shares", prefix=""),
        *arguments("inout real[] values, cells; inout packed[] records; int walkers, seed, number"),
    ),
    contract="Walker w with origins[w] >= 0 takes the values of that walker, or of point "
    "origins[w] - walkers, and a share shares[w] of them changes at random; its weights become 1, "
    "or those of the walker it follows, or half of them, as weights[w] says, and its record asks "
    "for a refresh. No walker that is followed restarts itself. Device and twin agree exactly.",
    launch=lambda values: Launch(int(values["walkers"]), BLOCK),
    work=lambda values: int(values["walkers"]) * (int(values["columns"]) + int(values["rows"])),
)

FORESEEN = tuple(
    {"real": real, "costs": "float64", "records": "float64"} for real in ("float32", "float64")
)
"""Types of numbers that walkers may have."""

WALKS = Family(
    "solvers.mip.heuristics.local_search.kernels",
    "walk",
    (WALK, RESTART),
    foreseen=FORESEEN,
)


RECORD = 32
"""Numbers reserved for each walker."""

NONE = 1e300
"""An objective that nothing has reached: no target, or no point yet."""

TOLERANCE = 9e-7
"""Violations up to here count as none: a little less than what the check allows."""


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
