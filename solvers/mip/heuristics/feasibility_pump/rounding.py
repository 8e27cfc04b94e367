"""How a projection is rounded: to the nearest integers, or by fix-and-propagate, bulk by bulk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.projectors import WORK
from solvers.mip.heuristics.fix_and_propagate.bulk import BulkChooser, round_point
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget

SECONDS = 0.7
"""Time of one rounding (arXiv 2510.20499)."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A point (n,) with whole integer columns, within its bounds.

    ``is_consistent`` says that propagation met no contradiction on the way, so that an LP over
    the continuous columns is worth its time.
    """

    x: FloatArray
    is_consistent: bool = False


Rounder = Callable[[FloatArray, Budget, int], Rounded]
"""Takes a point (n,) within its bounds, what it may spend and a seed."""


def nearest(model: MipModel) -> Rounder:
    """Return the rounder to the nearest integer."""

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        budget.charge(model.num_columns)
        return Rounded(model.rounded(x))

    return rounder


class Roundings:
    """Rounds carefully while that takes less time than projecting, and to the nearest otherwise.

    On small models propagation takes ten times as long as a warm-started projection, and a pump
    that always waited for it went a tenth of the way.

    Parameters
    ----------
    model : MipModel
    careful : Rounder
    """

    def __init__(self, model: MipModel, careful: Rounder) -> None:
        self._careful = careful
        self._quick = nearest(model)
        self._projecting = 0.0
        self._rounding = 0.0

    def round(
        self, x: FloatArray, budget: Budget, seed: int, effort: float
    ) -> tuple[Rounded, float]:
        """Round a projection that took so long; return the point and what both took.

        Effort is seconds, or work where no clock counts.
        """
        self._projecting += effort
        part = budget.part(SECONDS) if budget.is_timed else budget.part(work=WORK)
        if self._rounding > self._projecting:
            return self._quick(x, part, seed), effort
        rounded = self._careful(x, part, seed)
        spent = part.seconds if budget.is_timed else part.work
        self._rounding += spent
        return rounded, effort + spent


def by_propagation(
    model: MipModel, chooser_of: Callable[[], BulkChooser | None] | None = None
) -> Rounder:
    """Return the rounder that fixes integers and propagates what follows.

    Parameters
    ----------
    model : MipModel
    chooser_of : callable, optional
        Returns a probing cache, which chooses values that agree, once there is one; asked before
        every rounding.
    """
    domains: list[Domain] = []  # made at the first rounding, which propagates

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        if not domains:
            domain = Domain.of(model)
            domains.append(domain if domain.propagate() else Domain.of(model))
        chooser = None if chooser_of is None else chooser_of()
        found = round_point(model, x, budget, seed, chooser, domains[0])
        return Rounded(found.x, found.is_consistent)

    return rounder
