"""What a walker holds: rows and columns with all that a move reads side by side.

A row's activity, sides, weights and place fill one line of the cache, as do a column's value,
bounds, cost and tabu marks: scoring a move touches one line for each row of its column, and no
other. Memory is 64 bytes a row and a column, and two more copies of the point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray

Records = npt.NDArray[np.void]
LongArray = npt.NDArray[np.int64]

BEST, LEAST = 0, 1
"""Which of the points kept is the best feasible one, and which the least violated."""

ROW = np.dtype(
    [
        ("activity", np.float64),
        ("error", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("lower_weight", np.float64),
        ("upper_weight", np.float64),
        ("scale", np.float64),
        ("place", np.int64),
    ],
    align=True,
)
"""Activity with its compensation, sides, a weight for each, 1 / largest coefficient, and where
the row stands in the list of violated rows (-1 where it is satisfied)."""

COLUMN = np.dtype(
    [
        ("x", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("cost", np.float64),
        ("no_rise", np.int64),
        ("no_fall", np.int64),
        ("changed", np.int64),
        ("whole", np.int64),
    ],
    align=True,
)
"""Value, working bounds, cost, the steps until which it may not rise or fall, the step of its
last change, and 1 for an integer column, 0 for a continuous one."""

STATUS = np.dtype(
    [
        ("step", np.int64),
        ("moves", np.int64),
        ("moves_since_refresh", np.int64),
        ("improved", np.int64),
        ("work", np.int64),
        ("num_violated", np.int64),
        ("least_violated", np.int64),
        ("pointer", np.int64),
        ("num_chain", np.int64),
        ("chains", np.int64),
        ("boxed", np.int64),
        ("done", np.int64),
        ("found", np.int64),
        ("objective", np.float64),
        ("best", np.float64),
        ("target", np.float64),
        ("aim", np.float64),
        ("granularity", np.float64),
        ("objective_weight", np.float64),
        ("objective_scale", np.float64),
        ("progress", np.float64),
        ("chain_gain", np.float64),
        ("chain_chance", np.float64),
        ("lift_part", np.float64),
        ("random", np.uint64),
    ],
    align=True,
)
"""Counters and sums of a walk: ``best`` is the objective to beat, ``target`` what moves aim at,
``aim`` how far below the best that is (relative), ``improved`` the step of the last better point,
``done`` set where nothing is left to improve, ``found`` where ``best_x`` was written, ``progress``
that of the candidate chosen last, ``chain_gain`` what the rows gain from the chain so far,
``chains`` counts chains, ``chain_chance`` is how often they are tried, ``lift_part`` how much of
the work for lifts is spent, ``random`` the state of the generator."""

PAIR = np.dtype([("place", np.int64), ("value", np.float64)], align=True)
"""A column and its step, or its value from before."""

CANDIDATES = 4096
"""Places for the candidates of one step."""

LONGEST_CHAIN = 16
"""Places for the moves of one chain."""

BREAKPOINTS = 512
"""Places for the breakpoints of a jump; longer columns step to one row's side instead."""


class State(NamedTuple):
    """Everything that changes while a walker runs.

    ``rows`` (m,), ``columns`` (n,) and ``status`` (1,) are records; ``violated`` (m,) lists the
    violated rows, ``priced`` the columns with a cost; ``bounds`` (n, 2) are the model's, beyond
    which no box widens; ``kept`` (2, n) holds the best feasible and the least violated point.
    Of pairs, ``candidates`` are those of a step, ``links`` those of a link of a chain, ``chain``
    what a chain has changed with the values from before, and ``origins`` (m,) the last chain that
    touched a row with the activity at its beginning; ``pivots`` (m,) the column of each row that
    takes up what others leave, with its coefficient (see ``layout``);
    ``breaks`` (2, .) are the breakpoints of a jump and the changes of the slope at them.
    """

    rows: Records
    columns: Records
    status: Records
    violated: LongArray
    priced: LongArray
    bounds: FloatArray
    kept: FloatArray
    candidates: Records
    links: Records
    chain: Records
    origins: Records
    pivots: Records
    breaks: FloatArray
