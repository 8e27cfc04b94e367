"""The order in which a dive fixes the integer columns."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.choose import Guide
from solvers.mip.heuristics.fix_and_propagate.strategy import Order
from solvers.mip.inference.cliques import Cliques
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_heuristics_fix_and_propagate_bulk import cover

NOISE = 0.5
"""Later seeds multiply the keys of an order by random numbers from [1 - NOISE, 1 + NOISE]."""


def order_columns(
    model: MipModel,
    bounds: FloatArray,
    order: Order,
    guide: Guide,
    cliques: Cliques | None,
    seed: int,
) -> IndexArray:
    """Return the integer columns that ``bounds`` (2, n) leaves open, in the order of the strategy.

    Seed 0 gives the order itself, with ties broken by column number; others disturb it.
    """
    columns: IndexArray = model.integers
    columns = columns[bounds[0, columns] < bounds[1, columns]]
    rng = np.random.default_rng(seed)
    if order is Order.RANDOM:
        return rng.permutation(columns)
    if order is Order.LEFT_TO_RIGHT:
        return _from_somewhere(columns, rng, seed)
    width = bounds[1, columns] - bounds[0, columns]
    noise = rng.uniform(1.0 - NOISE, 1.0 + NOISE, columns.size) if seed else 1.0
    tie = rng.random(columns.size) if seed else np.arange(columns.size)
    kind = np.where(width <= 1.0, 0, np.where(width <= 2.0, 1, 2))
    if order is Order.LOCKS:
        locks = (guide.up_locks + guide.down_locks)[columns]
        return columns[np.lexsort((tie, -locks * noise))]
    if order is Order.OBJECTIVE:
        return columns[np.lexsort((tie, -np.abs(guide.cost[columns]) * noise))]
    if order is Order.REFERENCE:
        point = guide.reference[columns]
        return columns[np.lexsort((tie, np.abs(point - np.round(point)) * noise, kind))]
    if order is Order.CLIQUES and cliques is not None and len(cliques):
        rank, value = _cover(cliques, guide, rng, seed)
        return columns[np.lexsort((tie, -value[columns], rank[columns], kind))]
    return columns[np.lexsort((tie, width, kind))]


def _from_somewhere(columns: IndexArray, rng: np.random.Generator, seed: int) -> IndexArray:
    if seed == 0 or columns.size == 0:
        return columns
    turned = np.roll(columns, -int(rng.integers(columns.size)))
    return turned[::-1] if seed % 2 else turned


def _cover(
    cliques: Cliques, guide: Guide, rng: np.random.Generator, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Give each column (n,) the rank of the clique that covers it, and its literal's value there.

    Cliques are taken by length, the longest first; columns in none come last.
    """
    length = np.diff(cliques.start).astype(np.float64)
    if seed:
        length = length * rng.uniform(1.0 - NOISE, 1.0 + NOISE, length.size)
    first = np.argsort(-length, kind="stable")
    rank = np.full(guide.cost.size, np.inf)
    value = np.zeros(guide.cost.size)
    cover(cliques.start, cliques.member, first, guide.reference, rank, value)
    return rank, value
