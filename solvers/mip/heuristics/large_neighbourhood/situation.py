"""What a neighbourhood is made from, and the small steps that all of them share.

A row asks something of its columns together: to free one of them is of no use where the others
cannot give way. So columns around rows or columns are freed in the order in which a search through
shared rows meets them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.core.rows import SparseRows
from solvers.mip.model import INTEGRALITY_TOLERANCE, IndexArray, MipModel, Relaxation
from solvers.mip.solutions.incumbents import Found
from solvers.mip.submip import SubMip

FEWEST_APART = 10
"""Columns on which points have to differ for a neighbourhood of these alone."""

LOOSE_AGREEMENT = 1e-2
"""How close values have to be to count as equal beside a point of a first-order method, whose last
digits mean nothing."""


def _nothing() -> IndexArray:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known when a neighbourhood is chosen.

    Parameters
    ----------
    points : tuple of Found
        Feasible points, best first.
    relaxation : Relaxation, optional
        A point of the linear relaxation.
    infeasible_point : (n,) float64, optional
        The least-violated point known, for want of a feasible one.
    cutoff : float
        Objective, offset included, that a new point has to reach; inf without a feasible point.
    implied : (d,) int32
        Columns that equations define by the others. They are never fixed: to fix the stock of a
        period is to fix the sum of all that comes and goes.
    keeps_agreement : bool
        Whether neighbourhoods of what points agree on fix all of that, and not only their rate.
    """

    model: MipModel
    points: tuple[Found, ...] = ()
    relaxation: Relaxation | None = None
    infeasible_point: FloatArray | None = None
    cutoff: float = np.inf
    implied: IndexArray = field(default_factory=_nothing)
    keeps_agreement: bool = False

    @property
    def incumbent(self) -> FloatArray | None:
        """The best point, or None."""
        return self.points[0].x if self.points else None

    @cached_property
    def decidable(self) -> IndexArray:
        """Integer columns with more than one value that nothing else defines, rising."""
        open_ones = self.model.lower < self.model.upper
        open_ones[self.implied] = False
        integers = self.model.integers
        return integers[open_ones[integers]]

    @property
    def agreement(self) -> float:
        """How close a value of the relaxation has to be to count as equal."""
        exact = self.relaxation is None or self.relaxation.is_exact
        return INTEGRALITY_TOLERANCE if exact else LOOSE_AGREEMENT

    def count_to_fix(self, rate: float) -> int:
        """Return how many of the decidable columns a rate stands for."""
        return int(np.clip(round(rate * self.decidable.size), 0, self.decidable.size))

    def count_agreeing(self, rate: float, agree: BoolArray) -> int:
        """Return how many columns to fix where ``agree`` (k,) tells on which points agree."""
        count, agreeing = self.count_to_fix(rate), int(np.count_nonzero(agree))
        if self.keeps_agreement and agree.size - agreeing >= FEWEST_APART:
            return max(count, agreeing)
        return count

    def box(self, fixed: IndexArray, x: FloatArray) -> SubMip:
        """Return the model's box with columns fixed at the nearest whole values of ``x`` (n,)."""
        lower, upper = self.model.lower.copy(), self.model.upper.copy()
        values = np.clip(np.round(x[fixed]), lower[fixed], upper[fixed])
        lower[fixed] = upper[fixed] = values
        return SubMip(lower, upper, cutoff=self.cutoff)


def choose(
    agree: BoolArray,
    distance: FloatArray,
    count: int,
    rng: np.random.Generator,
    keys: FloatArray | None = None,
) -> IndexArray:
    """Pick ``count`` places: at random among those that agree, then the nearest of the others.

    Parameters
    ----------
    agree : (k,) bool
    distance : (k,) float64
        What puts the others in order; ties are broken at random.
    keys : (k,) float64, optional
        What puts those that agree in order, smallest first, in place of chance.
    """
    agreeing = np.flatnonzero(agree)
    if agreeing.size >= count:
        if keys is not None:
            agreeing = agreeing[np.argsort(keys[agreeing], kind="stable")]
        else:
            agreeing = rng.permutation(agreeing)
        return np.sort(agreeing[:count]).astype(np.int32)
    others = np.flatnonzero(~agree)
    order = np.lexsort((rng.random(others.size), distance[others]))
    chosen = np.concatenate([agreeing, others[order[: count - agreeing.size]]])
    return np.sort(chosen).astype(np.int32)


SMALLEST_GAIN = 1e-4
"""Relative, that of the gap at which a model counts as solved."""

STEP_MARGIN = 1e-6
"""Part of an objective's step by which the cutoff stays away from the next value, and the smallest
improvement asked for, absolute, of objectives near zero."""


def cutoff_below(objective: float, step: float) -> float:
    """Return the objective that an improving point has to reach; inf where there is none yet.

    Parameters
    ----------
    objective : float
        Of the best point, offset included; inf without one.
    step : float
        See :attr:`~solvers.mip.model.MipModel.objective_step`.
    """
    if not np.isfinite(objective):
        return np.inf
    least = max(SMALLEST_GAIN * abs(objective), STEP_MARGIN)
    return objective - max(least, step * (1.0 - STEP_MARGIN))


LONG_ROW = 200
"""Rows at least this long, and holding a tenth of all columns, are not walked through: they would
join everything to everything in one step."""

LONG_SHARE = 0.1


def near_rows(
    model: MipModel, rows: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    """Return ``count`` of the ``wanted`` (n,) columns, or all: those nearest to ``rows`` first.

    The columns of the last layer that is met are taken at random, and so are those that cannot be
    reached. Every entry of the matrix is visited a few times at the most.
    """
    columns = _members(model.rows, np.unique(rows))
    return _grown(model, columns, wanted, count, rng)


def near_columns(
    model: MipModel, columns: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    """Return ``count`` of the ``wanted`` (n,) columns, those nearest to ``columns`` first."""
    return _grown(model, np.unique(columns), wanted, count, rng)


def _grown(
    model: MipModel, layer: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    lengths = model.rows.lengths
    seen_row = lengths >= max(LONG_ROW, LONG_SHARE * model.num_columns)
    seen = np.zeros(model.num_columns, dtype=bool)
    taken: list[IndexArray] = []
    room = count
    while layer.size and room > 0:
        seen[layer] = True
        useful = layer[wanted[layer]]
        if useful.size > room:
            useful = rng.permutation(useful)[:room]
        taken.append(useful.astype(np.int32))
        room -= useful.size
        rows = _members(model.columns, layer)
        rows = rows[~seen_row[rows]]
        seen_row[rows] = True
        around = _members(model.rows, rows)
        layer = around[~seen[around]]
    if room > 0:
        others = np.flatnonzero(wanted & ~seen).astype(np.int32)
        taken.append(rng.permutation(others)[:room])
    return np.sort(np.concatenate(taken)) if taken else np.empty(0, dtype=np.int32)


def _members(matrix: SparseRows, chosen: IndexArray) -> IndexArray:
    """Return the distinct indices of the chosen rows of a matrix, rising."""
    begins = matrix.indptr[chosen].astype(np.int64)
    lengths = matrix.indptr[chosen + 1] - begins
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    places = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    members: IndexArray = np.unique(matrix.indices[places])
    return members
