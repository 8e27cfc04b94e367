"""The neighbourhoods of the best point: by the linear relaxation, and around a row.

RINS: Danna, Rothberg, Le Pape, "Exploring relaxation induced neighborhoods to improve MIP
solutions" (2005). Around a row: this one frees columns on which incumbent and relaxation agree,
too. Others were measured and left out: what leaving them out changes the noise hides, one by one
and together (``docs/mip-heuristics.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import INTEGRALITY_TOLERANCE, IndexArray, MipModel, Relaxation
from solvers.mip.solutions.incumbents import Found
from solvers.mip.submip import SubMip

# What a neighbourhood is made from, and the small steps that all of them share.
#
# A row asks something of its columns together: to free one of them is of no use where the others
# cannot give way. So the columns around a row are freed in the order in which a search through
# shared rows meets them.


FEWEST_APART = 10
"""Columns on which points have to differ for a neighbourhood of these alone."""

LOOSE_AGREEMENT = 1e-2
"""How close values have to be to count as equal beside a point of a first-order method, whose last
digits mean nothing."""


def _nothing() -> IndexArray:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known when a neighbourhood is chosen."""

    model: MipModel
    best: Found | None = None
    """The best feasible point."""
    relaxation: Relaxation | None = None
    """A point of the linear relaxation."""
    cutoff: float = np.inf
    """Objective, offset included, that a new point has to reach; inf without a feasible point."""
    implied: IndexArray = field(default_factory=_nothing)
    """(d,) int32: columns that equations define by the others. They are never fixed: to fix the
    stock of a period is to fix the sum of all that comes and goes."""
    keeps_agreement: bool = False
    """Whether RINS fixes all that incumbent and relaxation agree on, and not only its rate."""

    @property
    def incumbent(self) -> FloatArray | None:
        """The best point, or None."""
        return None if self.best is None else self.best.x

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


LONG_ROW, LONG_SHARE = 200, 0.1
"""Entries, and part of all columns, from which on a row is not walked through: it would join
everything to everything in one step."""


def near_rows(
    model: MipModel, rows: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    """Return ``count`` of the ``wanted`` (n,) columns, or all: those nearest to ``rows`` first.

    The columns of the last layer that is met are taken at random, and so are those that cannot be
    reached. Every entry of the matrix is visited a few times at the most.
    """
    layer = _members(model.rows, np.unique(rows))
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


# The neighbourhoods themselves.


LEAST_AGREEMENT = 0.3
"""Share of columns that have to agree before RINS says anything."""

SMALLEST_PRICE = 1e-6
"""What columns without reduced cost count as, relative to the largest."""


def rins(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns on which incumbent and relaxation agree, those it costs most to change first."""
    distances = _distances(situation)
    if situation.incumbent is None or distances is None:
        return None
    agree = distances <= situation.agreement
    if np.mean(agree) < LEAST_AGREEMENT:
        return None
    keys = _costs_first(situation, rng)
    fixed = choose(agree, distances, situation.count_agreeing(rate, agree), rng, keys)
    return situation.box(situation.decidable[fixed], situation.incumbent)


def _costs_first(situation: Situation, rng: np.random.Generator) -> FloatArray | None:
    """Return keys that put decidable columns in a random order, large reduced costs first."""
    if situation.relaxation is None:
        return None
    price = np.abs(situation.relaxation.reduced_cost[situation.decidable])
    if not np.any(price):
        return None
    # the largest of exponential clocks: a random order in which large prices tend to come first
    keys: FloatArray = -(price + SMALLEST_PRICE * price.max()) / rng.exponential(size=price.size)
    return keys


def _distances(situation: Situation) -> FloatArray | None:
    """Return how far incumbent and relaxation are apart on the decidable columns."""
    if situation.incumbent is None or situation.relaxation is None or not situation.decidable.size:
        return None
    columns = situation.decidable
    distances: FloatArray = np.abs(situation.incumbent[columns] - situation.relaxation.x[columns])
    return distances


def graph_induced(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Free the columns around a row drawn at random; fix the others at the incumbent's values."""
    if situation.incumbent is None or not situation.decidable.size or not situation.model.num_rows:
        return None
    model, columns = situation.model, situation.decidable
    room = columns.size - situation.count_to_fix(rate)
    wanted = np.zeros(model.num_columns, dtype=bool)
    wanted[columns] = True
    seed = rng.integers(model.num_rows, size=1).astype(np.int32)
    wanted[near_rows(model, seed, wanted, room, rng)] = False
    return situation.box(np.flatnonzero(wanted).astype(np.int32), situation.incumbent)


Maker = Callable[[Situation, np.random.Generator, float], "SubMip | None"]
"""Makes a neighbourhood at a fix rate within [0, 1]; None where something it needs is missing."""


@dataclass(frozen=True)
class Neighbourhood:
    """One line of the table."""

    name: str
    make: Maker


CATALOGUE = (
    Neighbourhood("rins", rins),
    Neighbourhood("graph induced", graph_induced),
)
"""All neighbourhoods, the most promising first: unplayed arms are tried in this order."""
