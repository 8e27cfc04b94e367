"""Polishing with a few integers left free, for points that an LP alone cannot mend or better.

What is left free: integers on which good points do not agree, and those in the rows that stand in
the way. What all agree on stays. The rest is a small sub-MIP with a node limit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.pool import Found, Offer
from solvers.mip.submip import Limits, SubMip, SubMipResult, solve_submip
from solvers.problem import FloatArray

MOST_FREE = 500
"""Integers left free at the most (notes on GPU heuristics, section 5.4)."""

LIMITS = Limits(nodes=50, leaves=50, stall_nodes=50)
"""Nodes of the sub-MIP (notes, section 5.4)."""

AGREEMENT = 1e-6


def soft_box(
    model: MipModel,
    x: FloatArray,
    points: Sequence[Found],
    conflict: IndexArray,
    rng: np.random.Generator,
    most_free: int = MOST_FREE,
) -> SubMip:
    """Return the box around a whole point with a few integers free.

    Parameters
    ----------
    model : MipModel
    x : (n,) float64
        Its integers are rounded first.
    points : sequence of Found
        Good points; where any of them differs from ``x``, the column is a candidate.
    conflict : (k,) int32
        Rows that stand in the way, such as :attr:`Polished.conflict`. Rows that ``x`` violates
        count too.
    rng : Generator
        Chooses among the candidates where they are too many; those of the rows come first.
    most_free : int
    """
    point = model.rounded(x)
    activity = model.activity(point)
    blamed = np.maximum(model.row_lower - activity, activity - model.row_upper)
    in_the_way = blamed > FEASIBILITY_TOLERANCE
    in_the_way[conflict] = True
    entries = np.repeat(in_the_way, np.diff(model.row_start))
    urgent = np.zeros(model.num_columns, dtype=bool)
    urgent[model.row_column[entries]] = True
    doubtful = np.zeros(model.num_columns, dtype=bool)
    for one in points:
        doubtful |= np.abs(one.x - point) > AGREEMENT
    open_ones = model.integers[model.lower[model.integers] < model.upper[model.integers]]
    candidates = open_ones[(urgent | doubtful)[open_ones]]
    order = np.lexsort((rng.random(candidates.size), ~urgent[candidates]))
    fixed = model.is_integer == 1
    fixed[candidates[order[:most_free]]] = False
    return SubMip(np.where(fixed, point, model.lower), np.where(fixed, point, model.upper))


def soft_polish(
    model: MipModel,
    x: FloatArray,
    offer: Offer,
    budget: Budget,
    *,
    points: Sequence[Found] = (),
    conflict: IndexArray | None = None,
    seconds: float = np.inf,
    seed: int = 0,
    source: str = "soft polish",
) -> SubMipResult:
    """Search the :func:`soft_box` of a point for feasible points, and offer them.

    ``seconds`` is ignored in an untimed budget, where the node limit alone ends the search.
    """
    rows = np.empty(0, dtype=np.int32) if conflict is None else conflict
    box = soft_box(model, x, points, rows, np.random.default_rng(seed))
    return solve_submip(
        model, box, offer, budget, seconds=seconds, limits=LIMITS, source=source, seed=seed
    )
