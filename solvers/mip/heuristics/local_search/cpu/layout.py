"""What a walker holds, and how a model is laid out for it: records, scales, dependent columns.

A row's activity, sides, weights and place fill one line of the cache, as do a column's value,
bounds, cost and tabu marks: scoring a move touches one line for each row of its column, and no
other. Memory is 64 bytes a row and a column, and two more copies of the point. The layout is linear
in the model's size and done by whole arrays.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.settings import (
    CONTINUOUS_BOX,
    INTEGER_BOX,
    WalkerSettings,
)
from solvers.mip.model import MipModel

Records = npt.NDArray[np.void]
LongArray = npt.NDArray[np.int64]


class Kept(IntEnum):
    """Places in ``State.kept``."""

    BEST = 0
    """The best feasible point."""
    LEAST = auto()
    """The least violated one."""


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


def state_of(model: MipModel, settings: WalkerSettings, seed: int) -> State:
    """Lay out a walker's state, with no point in it yet; O(n + m + nnz)."""
    m, n = model.num_rows, model.num_columns
    rows, columns = np.zeros(m, dtype=ROW), np.zeros(n, dtype=COLUMN)
    rows["lower"], rows["upper"] = model.row_lower, model.row_upper
    largest = model.rows.largest
    rows["scale"] = 1.0 / np.where(largest > 0.0, largest, 1.0)
    rows["place"] = -1
    columns["cost"] = model.cost
    columns["whole"] = model.is_integer
    columns["lower"], columns["upper"] = working_bounds(model)
    status = np.zeros(1, dtype=STATUS)
    status["best"], status["target"] = np.inf, -np.inf
    status["granularity"] = granularity(model)
    highest = float(np.max(np.abs(model.cost), initial=0.0))
    status["objective_scale"] = 1.0 / highest if highest > 0.0 else 0.0
    status["aim"] = settings.stagger
    status["chain_chance"] = 1.0
    status["lift_part"] = 1.0
    status["boxed"] = int(
        np.any(
            (model.is_integer == 1)
            & ((columns["lower"] != model.lower) | (columns["upper"] != model.upper))
        )
    )
    status["random"] = _scrambled(seed)
    return State(
        rows=rows,
        columns=columns,
        status=status,
        violated=np.zeros(m, dtype=np.int64),
        priced=np.flatnonzero((model.cost != 0.0) & (model.lower < model.upper)),
        bounds=np.column_stack([model.lower, model.upper]),
        kept=np.zeros((2, n)),
        candidates=np.zeros(CANDIDATES, dtype=PAIR),
        links=np.zeros(CANDIDATES, dtype=PAIR),
        chain=np.zeros(LONGEST_CHAIN, dtype=PAIR),
        origins=np.zeros(m, dtype=PAIR),
        pivots=dependent_columns(model),
        breaks=np.zeros((2, BREAKPOINTS)),
    )


def working_bounds(
    model: MipModel, point: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return bounds (n,) within which the walk starts: a box round free columns and ``point``."""
    lower, upper = model.lower, model.upper
    centre = np.clip(np.zeros(lower.size), lower, upper) if point is None else point
    size = np.where(model.is_integer == 1, INTEGER_BOX, CONTINUOUS_BOX)
    low = np.where(np.isfinite(lower), lower, np.minimum(centre, 0.0) - size)
    high = np.where(np.isfinite(upper), upper, np.maximum(centre, 0.0) + size)
    return low, high


def granularity(model: MipModel) -> float:
    """Return the least distance between two objectives, 0 where it is not known.

    Known where all columns with a cost are integer and the costs whole multiples of one number,
    looked for among 1 and the smallest cost.
    """
    priced = np.flatnonzero((model.cost != 0.0) & (model.lower < model.upper))
    if priced.size == 0 or not model.is_integer[priced].all():
        return 0.0
    cost = np.abs(model.cost[priced])
    if np.all(cost == np.round(cost)) and cost.max() < 2.0**53:
        return float(np.gcd.reduce(cost.astype(np.int64)))
    least = float(cost.min())
    ratio = cost / least
    if np.all(np.abs(ratio - np.round(ratio)) <= 1e-9 * ratio) and ratio.max() < 1e9:
        return least
    return 0.0


def dependent_columns(model: MipModel) -> Records:
    """Return for each row (m,) the column that depends on its others most plainly, or -1.

    That is the continuous column with the fewest rows, or else an integer one with more than two
    values. In a long equation such as y = sum of binaries no sample of columns would meet y,
    which alone can keep the equation.
    """
    found = np.zeros(model.num_rows, dtype=PAIR)
    found["place"] = -1
    filled = np.flatnonzero(model.rows.lengths > 0)
    if filled.size == 0:
        return found
    length = model.columns.lengths.astype(np.int64)
    barred = np.iinfo(np.int64).max
    rank = np.where(model.is_integer == 1, length + 2 * model.num_rows, length) << 31
    rank[model.upper - model.lower <= model.is_integer] = barred
    entry = np.arange(model.num_nonzeros, dtype=np.int64)
    keys = rank[model.rows.indices]
    keys[keys != barred] += entry[keys != barred]
    best = np.minimum.reduceat(keys, model.rows.indptr[filled])
    rows, best = filled[best < barred], best[best < barred] & ((1 << 31) - 1)
    found["place"][rows] = model.rows.indices[best]
    found["value"][rows] = model.rows.data[best]
    return found


def _scrambled(seed: int) -> int:
    """Spread a small seed over 64 bits; never zero, where the generator would stay."""
    word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    return word or 1
