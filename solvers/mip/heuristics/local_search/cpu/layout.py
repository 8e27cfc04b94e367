"""What a walker holds, how a model is laid out for it, and its settings.

A row's activity, sides, weights and place fill one line of the cache, as do a column's value,
bounds, cost and tabu marks: scoring a move touches one line for each row of its column, and no
other. Memory is 64 bytes a row and a column, and two more copies of the point. The layout is linear
in the model's size and done by whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, auto
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
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
    status["granularity"] = model.objective_step
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


# Constants of the walkers and what may be chosen for each: how wide, how bold, from where.


Origin = Literal["zero", "objective", "random"]

VIOLATION_TOLERANCE = 5e-7
"""Violation above which a row counts as violated: half the model's, which leaves room for the
rounding of activities that are kept up to date and not summed anew."""

SMOOTHING = 3e-4
"""Chance to lower the weights of satisfied rows instead of raising those of violated ones at a
local minimum; Lin, Zou and Cai, CP 2024."""

INTEGER_BOX = 1e6
"""Free integers start out within this distance of their finite bound or zero; the box widens
whenever a move hits it."""

CONTINUOUS_BOX = 1e9
"""Free continuous columns stay within this distance: beyond, activities are no longer exact to a
millionth, and walks on unbounded flows would drift there."""

STAGGER = (1e-4, 1e-3, 1e-2, 5e-2)
"""How far below the best objective walkers aim, relative to it."""


@dataclass(frozen=True)
class WalkerSettings:
    """How one walker searches.

    Parameters
    ----------
    jump : bool
        Whether moves are scored by the weighted violation of Feasibility Jump, with its jump
        values, and not by progress and bonus of Local-MIP, the numbers of rows won and lost.
    rows : int
        Violated rows sampled in a step.
    breadth : int
        Candidates scored for each of these rows, at most.
    scan : int
        Entries of a row looked at for them, at most.
    breakthroughs : int
        Columns with a cost tried in a step towards the objective target.
    lift_work : int
        Entries looked at for an improving move that keeps all rows, at most.
    tabu_base, tabu_spread : int
        A move may not be reversed for ``tabu_base + random(tabu_spread)`` steps.
    smoothing : float
        See :data:`SMOOTHING`.
    objective_weight : float
        Weight of the objective at the start.
    equality_weight : float
        First weight, and its rise, of a row with equal sides.
    chain_trials, chain_depth, chain_breadth : int
        Chains of moves tried at a local minimum, their longest, and candidates for each link.
    patience : int
        Steps without a better point after which the walker asks for a restart.
    stagger : float
        How far below the best objective the walker aims, relative to it.
    origin : str
        Start where none is given: zero, bounds by the objective, or random; within bounds.
    """

    jump: bool = False
    rows: int = 3
    breadth: int = 24
    scan: int = 400
    breakthroughs: int = 8
    lift_work: int = 20_000
    tabu_base: int = 3
    tabu_spread: int = 10
    smoothing: float = SMOOTHING
    objective_weight: float = 1.0
    equality_weight: float = 1.0
    chain_trials: int = 2
    chain_depth: int = 4
    chain_breadth: int = 24
    patience: int = 200_000
    stagger: float = STAGGER[0]
    origin: Origin = "zero"


FAST = WalkerSettings(rows=1, breadth=16, scan=64, breakthroughs=2)
"""One violated row a step: most moves in a second, for plateaus that want depth."""

BALANCED = WalkerSettings()
"""A few rows a step."""

V1 = WalkerSettings(rows=12, breadth=160, scan=2000, breakthroughs=20)
"""The sampling of Local-MIP's first version: wide, slow, greedy."""

V2 = WalkerSettings(
    rows=10, breadth=225, scan=2250, breakthroughs=20,
    tabu_base=4, tabu_spread=7, smoothing=0.0, equality_weight=2.0, patience=1_000_000,
)  # fmt: skip
"""The sampling of its second version: weights only rise, equations count twice."""

JUMP = WalkerSettings(jump=True, rows=4, breadth=24, smoothing=0.0, objective_weight=0.0)
"""Feasibility Jump: weighted violation, the objective only once there is a point to beat."""


def drawn(base: WalkerSettings, rng: np.random.Generator) -> WalkerSettings:
    """Return settings near ``base``, so that walkers side by side differ."""
    return replace(
        base,
        rows=max(1, round(base.rows * float(rng.choice((0.5, 1.0, 1.0, 2.0))))),
        tabu_base=int(base.tabu_base + rng.integers(0, 3)),
        tabu_spread=int(base.tabu_spread + rng.integers(0, 6)),
        stagger=float(rng.choice(STAGGER)),
    )
