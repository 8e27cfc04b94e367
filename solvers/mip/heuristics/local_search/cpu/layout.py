"""How a model is laid out for a walker: records, scales, boxes, and columns that depend on others.

All of it is linear in the model's size and done by whole arrays.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.settings import (
    CONTINUOUS_BOX,
    INTEGER_BOX,
    WalkerSettings,
)
from solvers.mip.heuristics.local_search.cpu.state import (
    BREAKPOINTS,
    CANDIDATES,
    COLUMN,
    LONGEST_CHAIN,
    PAIR,
    ROW,
    STATUS,
    Records,
    State,
)
from solvers.mip.model import MipModel


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
