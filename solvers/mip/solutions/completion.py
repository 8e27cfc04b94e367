"""Continuous columns for points whose integers look right, by LPs that ask for nothing more.

The acceptance's LP gives the continuous columns their best values. On network designs with many
commodities that takes simplex half a minute, and any feasible values a second (of dano3_5: 34 000
iterations and 2 200), so that its time is up before anything is known. While there is no point at
all, these LPs are therefore solved without costs; the first point found gets its best values later.

Walkers and dives move one column at a time and leave flow balances violated in their hundreds, so
it does not matter how many rows are violated at a point, as long as each of them by itself could
hold: others are put aside after one product with the matrix.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lazy_clause.value_selection import trivial_points
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.solutions.polish import Polisher, PolishStatus

SHARE = 4.0
"""What they are due while there is no point but one that was not tried."""

FIRST_SECONDS, GROWTH = 2.0, 2.0
"""Longest time of a first LP, and the factor by which it grows when one has run out of it."""

SOURCE = "completion"


class CompleteTurns:
    """LPs without costs over the continuous columns of infeasible points, for want of others.

    Parameters
    ----------
    context : HeuristicContext
    """

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self._polisher: Polisher | None = None
        self._tried: set[bytes] = set()
        self._patience = FIRST_SECONDS
        self._plain: list[FloatArray] | None = None
        self._is_mixed = 0 < context.model.integers.size < context.model.num_columns

    def share(self) -> float:
        """Return what the LPs are due: nothing where there is a point, or none to try."""
        if not self._is_mixed or self._context.has_point:
            return 0.0
        return SHARE if self._plain is None or self._untried() else 0.0

    def work(self, budget: Budget, seed: int) -> None:
        """Try points until one is feasible."""
        model = self._context.model
        if self._polisher is None:
            self._polisher = Polisher(_without_costs(model))
            self._plain = list(reversed(trivial_points(model)))
        for x in self._untried():
            if budget.spent() or self._context.has_point:
                return
            if self._key(x) in self._tried:
                continue  # of the plain points some are the same
            seconds = max(self._patience, budget.seconds_left)
            done = self._polisher.polish(x, seconds, explain=False)
            budget.charge(done.iterations * (model.num_rows + model.num_columns))
            if done.status is PolishStatus.LIMIT:
                self._patience *= GROWTH  # it may be tried again when there is more time
                return
            self._tried.add(self._key(x))
            if done.x is not None:
                show(self._context, done.x, SOURCE)
                return

    def _untried(self) -> list[FloatArray]:
        """Return points whose integers were not tried yet, those that violate least first."""
        infeasible_points = [
            point.x for point in self._context.acceptance.infeasible_points.points()
        ]
        every = [*(self._plain or []), *infeasible_points]
        return [x for x in every if self._key(x) not in self._tried]

    def _key(self, x: FloatArray) -> bytes:
        return (np.round(x[self._context.model.integers]) + 0.0).tobytes()  # no negative zero


def show(context: HeuristicContext, x: FloatArray, source: str) -> bool:
    """Record a feasible point (n,) at once, and give it its best values then.

    For points that are feasible as they are, continuous columns and all: an LP for better values
    may take seconds. Returns whether the point, before or after that, was the best.
    """
    acceptance = context.acceptance
    whole = acceptance.original_of(context.model.rounded(x))
    was_best = acceptance.incumbents.record(whole, source)
    if was_best:
        acceptance.take(whole, source)
    return acceptance.submit(x, source) or was_best


def _without_costs(model: MipModel) -> MipModel:
    return dataclasses.replace(model, cost=np.zeros(model.num_columns))
