"""Rounding a pump's points by fix-and-propagate, bulk by bulk."""

from __future__ import annotations

from collections.abc import Callable

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.rounding import Rounded, Rounder
from solvers.mip.heuristics.fix_and_propagate.bulk import BulkChooser, round_point
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget


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
