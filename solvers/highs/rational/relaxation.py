"""Linear relaxations of a small model solved by HiGHS, one box after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from solvers.highs.channel import Channel, Quiet
from solvers.highs.model import Prepared
from solvers.highs.rational.basis import RationalBasis
from solvers.highs.rational.model import Limits, RationalModel
from solvers.highs.task import Finding, FloatArray
from solvers.highs.warm_lp import WarmLp

ROUNDING = 1e-9
"""Part of an objective by which a bound may miss it before a dearer one is asked for."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What simplex in doubles says of a box, for proofs in rational numbers to begin with.

    Parameters
    ----------
    x : (n,) array, optional
        A point of the relaxation; None where the box seems empty.
    objective : float
        Its objective, less what rounding may take of it; -inf without a point.
    duals, rays : iterators of (m,) lists
        Multipliers that may bound the objective, or prove the box empty, the cheapest first.
    """

    x: FloatArray | None
    objective: float
    duals: Iterator[list[Fraction]]
    rays: Iterator[list[Fraction]]


class Relaxation:
    """HiGHS's simplex with one model, from basis to basis; for a single thread.

    Parameters
    ----------
    prepared : Prepared
    model : RationalModel
        The same in rational numbers, its rows not scaled.
    channel : Channel
        Has the time and the wish to stop.
    """

    def __init__(self, prepared: Prepared, model: RationalModel, channel: Channel) -> None:
        self._prepared = prepared
        self._model = model
        self._channel = Quiet(channel)
        self._lp = WarmLp(prepared.model, channel=self._channel)

    def solve(self, lower: Limits, upper: Limits) -> Guess:
        """Solve the relaxation within a box."""
        self._lp.change(lower=_doubles(lower, -np.inf), upper=_doubles(upper, np.inf))
        found = self._lp.solve(self._channel)
        x, y = found.x, found.row_dual
        rays = self._rays(found.finding, lower, upper)
        if found.finding is not Finding.OPTIMAL or x is None or not np.isfinite(x).all():
            return Guess(None, -np.inf, self._duals(y), rays)
        objective = self._prepared.model.objective_at(x)
        return Guess(x, objective - ROUNDING * (1.0 + abs(objective)), self._duals(y), rays)

    def _duals(self, row_dual: FloatArray | None) -> Iterator[list[Fraction]]:
        if row_dual is not None and np.isfinite(row_dual).all():
            yield self._rational(row_dual)
        basis = self._basis()
        if basis is not None:
            y = basis.multipliers()
            if y is not None:
                yield y

    def _rays(self, finding: Finding, lower: Limits, upper: Limits) -> Iterator[list[Fraction]]:
        ray = self._lp.dual_ray() if finding is Finding.INFEASIBLE else None
        if ray is not None and np.isfinite(ray).all():
            y = self._rational(ray)
            yield y
            yield [-value for value in y]
        basis = self._basis()
        if basis is not None:
            yield from basis.rays(lower, upper)

    def _rational(self, row_dual: FloatArray) -> list[Fraction]:
        back = self._prepared.duals_back(row_dual)
        assert back is not None  # nothing is made of nothing
        return [Fraction(value) for value in back.tolist()]

    def _basis(self) -> RationalBasis | None:
        basis = self._lp.basis()
        if basis is None:
            return None
        return RationalBasis(self._model, basis.column_status, basis.row_status)


def _doubles(limits: Limits, missing: float) -> FloatArray:
    return np.array([missing if limit is None else float(limit) for limit in limits])
