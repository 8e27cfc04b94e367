"""Linear relaxations of a small model solved by HiGHS, one box after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from solvers.core.options import EngineOptions
from solvers.highs.channel import Channel, Quiet
from solvers.highs.model import Prepared
from solvers.highs.rational.basis import RationalBasis
from solvers.highs.rational.model import Limits, RationalModel
from solvers.highs.session import Session, Status
from solvers.highs.settings import lp_settings
from solvers.highs.task import FloatArray

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
        settings = {**lp_settings(EngineOptions(presolve=False)), "solver": "simplex"}
        self._prepared = prepared
        self._model = model
        self._session = Session(prepared.relaxed, settings, Quiet(channel))
        self._numbers = np.arange(prepared.model.num_columns, dtype=np.int32)

    def solve(self, lower: Limits, upper: Limits) -> Guess:
        """Solve the relaxation within a box."""
        session = self._session
        session.highs.changeColsBounds(
            self._numbers.size, self._numbers, _doubles(lower, -np.inf), _doubles(upper, np.inf)
        )
        status = session.run()
        x, y = session.solution()
        rays = self._rays(status, lower, upper)
        if status != Status.kOptimal or x is None or not np.isfinite(x).all():
            return Guess(None, -np.inf, self._duals(y), rays)
        objective = session.model.objective_at(x)
        return Guess(x, objective - ROUNDING * (1.0 + abs(objective)), self._duals(y), rays)

    def _duals(self, row_dual: FloatArray | None) -> Iterator[list[Fraction]]:
        if row_dual is not None and np.isfinite(row_dual).all():
            yield self._rational(row_dual)
        basis = self._basis()
        if basis is not None:
            y = basis.multipliers()
            if y is not None:
                yield y

    def _rays(self, status: Any, lower: Limits, upper: Limits) -> Iterator[list[Fraction]]:
        ray = self._session.dual_ray() if status == Status.kInfeasible else None
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
        statuses = self._session.basis()
        return None if statuses is None else RationalBasis(self._model, *statuses)


def _doubles(limits: Limits, missing: float) -> FloatArray:
    return np.array([missing if limit is None else float(limit) for limit in limits])
