"""The orders in which dives fix integer columns, one batch of lanes for each.

All lanes of a batch share an order, so that the rows they change are mostly the same ones.
Of FPR's orders those that solve instances which no other does are all here: by locks (rail01)
and by cliques (peg-solitaire-a3, unitcal_7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.inference.cliques import Cliques
from solvers.mip.model import IndexArray, MipModel

FRACTION_CUTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Between these a column's fraction counts as the same, and chance decides."""

SMALLEST_SLACK = 1e-6
"""A row's slack counts as no less than this in what a column consumes of it."""


@dataclass(frozen=True, eq=False)
class Guide:
    """What orders and rules go by.

    Parameters
    ----------
    model : MipModel
    lower, upper : (n,) float64
        The box the dives begin in.
    reference : (n,) float64 or None
        A point that values may be rounded from, such as the relaxation's.
    cliques : Cliques or None
    up_locks, down_locks : (n,) int32
        Those of the model.
    """

    model: MipModel
    lower: FloatArray
    upper: FloatArray
    reference: FloatArray | None
    cliques: Cliques | None
    up_locks: IndexArray
    down_locks: IndexArray

    @classmethod
    def of(
        cls,
        model: MipModel,
        lower: FloatArray,
        upper: FloatArray,
        reference: FloatArray | None,
        cliques: Cliques | None,
    ) -> Guide:
        """Gather them."""
        return cls(model, lower, upper, reference, cliques, *model.locks)

    @property
    def integers(self) -> IndexArray:
        """The integer columns that the box leaves open, rising."""
        columns = self.model.integers
        return np.asarray(columns[self.lower[columns] < self.upper[columns]])


def orders(guide: Guide, random: np.random.Generator) -> Iterator[tuple[str, IndexArray]]:
    """Yield names and orders of the open integer columns, the most promising first."""
    columns = guide.integers
    if guide.reference is not None:
        yield "reference", _by_reference(guide, columns, guide.reference, random)
    if guide.cliques is not None and len(guide.cliques):
        yield "cliques", _by_cliques(guide, columns, guide.cliques)
    keyed: tuple[tuple[str, Callable[[Guide, IndexArray], Any]], ...] = (
        ("locks", lambda guide, columns: -(guide.up_locks + guide.down_locks)[columns]),
        ("slack", lambda guide, columns: -slack_consumption(guide)[columns]),
        ("objective", lambda guide, columns: -np.abs(guide.model.cost[columns])),
        ("type", lambda guide, columns: np.zeros(columns.size)),
    )
    for name, key in keyed:
        yield name, _by_class(guide, columns, key(guide, columns))
    yield "random", random.permutation(columns).astype(np.int32)


def by_blame(guide: Guide, blame: npt.NDArray[np.int64], random: np.random.Generator) -> IndexArray:
    """Sort columns first that other dives found without a value left, chance deciding among equals.

    What is decided while there is still a choice cannot run out of values later (the weighted
    degrees of constraint programming: Boussemart et al. 2004).
    """
    columns = guide.integers
    order = np.lexsort((random.random(columns.size), -blame[columns]))
    return np.asarray(columns[order], dtype=np.int32)


def _by_class(guide: Guide, columns: IndexArray, key: Any) -> IndexArray:
    """Sort binary columns first, then ternary ones, then others; within those by a key."""
    order = np.lexsort((columns, key, _domain_class(guide, columns)))
    return np.asarray(columns[order], dtype=np.int32)


def _domain_class(guide: Guide, columns: IndexArray) -> npt.NDArray[np.int64]:
    width = guide.upper[columns] - guide.lower[columns]
    return np.minimum(width, 3.0).astype(np.int64)


def _by_reference(
    guide: Guide, columns: IndexArray, reference: FloatArray, random: np.random.Generator
) -> IndexArray:
    """Sort by how near the reference point is to an integer, shuffled within cells."""
    x = reference[columns]
    cell = np.digitize(np.abs(x - np.round(x)), FRACTION_CUTS)
    chance = random.random(columns.size)
    order = np.lexsort((chance, cell, _domain_class(guide, columns)))
    return np.asarray(columns[order], dtype=np.int32)


def _by_cliques(guide: Guide, columns: IndexArray, cliques: Cliques) -> IndexArray:
    """Sort by the largest clique of each column; columns in none come last.

    Within a clique those come first that the reference point, or the objective, would choose.
    """
    sizes = np.diff(cliques.start)
    rank = np.empty(sizes.size, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    best = np.full(guide.model.num_columns, sizes.size, dtype=np.int64)
    np.minimum.at(best, cliques.member >> 1, np.repeat(rank, sizes))
    preferred = guide.model.cost if guide.reference is None else -guide.reference
    order = np.lexsort((columns, preferred[columns], best[columns]))
    return np.asarray(columns[order], dtype=np.int32)


def slack_consumption(guide: Guide) -> FloatArray:
    """Return how much of its rows' slack a unit of each column takes, (n,).

    It is the root of the sum over rows of the squares of coefficient by slack; the slack of a row
    is that of the side nearer to its activity's bound, where that is finite.
    """
    model = guide.model
    value, column = model.rows.data, model.rows.indices
    row = np.repeat(np.arange(model.num_rows), model.rows.lengths)
    at_low = np.where(value > 0.0, guide.lower[column], guide.upper[column])
    at_high = np.where(value > 0.0, guide.upper[column], guide.lower[column])
    with np.errstate(invalid="ignore", over="ignore"):
        least = np.bincount(row, value * at_low, model.num_rows)
        most = np.bincount(row, value * at_high, model.num_rows)
        slack = np.fmin(model.row_upper - least, most - model.row_lower)
    slack = np.where(np.isnan(slack), np.inf, np.maximum(slack, SMALLEST_SLACK))
    share = np.square(value / slack[row])
    return np.sqrt(np.bincount(column, share, model.num_columns))
