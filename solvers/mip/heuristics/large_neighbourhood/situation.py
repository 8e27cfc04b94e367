"""What a neighbourhood is made from, and the small steps that all of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.relaxation import Relaxation
from solvers.mip.solutions.pool import Found
from solvers.mip.submip import SubMip

AGREEMENT = 1e-6
"""Values this close count as equal."""

FEWEST_APART = 10
"""Columns on which points have to differ for a neighbourhood of these alone."""

LOOSE_AGREEMENT = 1e-2
"""The same beside a point of a first-order method, whose last digits mean nothing."""


def _nothing() -> IndexArray:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known when a neighbourhood is chosen.

    Parameters
    ----------
    model : MipModel
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
        return AGREEMENT if exact else LOOSE_AGREEMENT

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
    count : int
    rng : Generator
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
