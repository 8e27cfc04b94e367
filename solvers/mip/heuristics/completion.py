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
from dataclasses import dataclass, field

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.constructive import trivial_points
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.polish import Polisher, PolishStatus

FIRST_SECONDS, GROWTH = 2.0, 2.0
"""Longest time of a first LP, and the factor by which it grows when one has run out of it."""

SOURCE = "completion"


@dataclass(eq=False)
class _Completing:
    context: HeuristicContext
    polisher: Polisher | None = None
    trivial: tuple[FloatArray, ...] | None = None
    tried: set[bytes] = field(default_factory=set)
    patience: float = FIRST_SECONDS

    def untried(self) -> list[FloatArray]:
        """Return points whose integers were not tried yet, those that violate least first."""
        infeasible = [point.x for point in self.context.acceptance.infeasible_points.points()]
        every = [*(self.trivial or ()), *infeasible]
        return [x for x in every if self.key(x) not in self.tried]

    def key(self, x: FloatArray) -> bytes:
        """Return what tells points with other integers apart."""
        values: FloatArray = np.round(x[self.context.model.integers]) + 0.0  # no negative zero
        return values.tobytes()


class Completion(Heuristic[_Completing, _Completing]):
    """LPs without costs over the continuous columns of infeasible points, for want of others."""

    name = SOURCE
    needs = Needs(integers=True, continuous=True, incumbent=False)

    def prepare(self, context: HeuristicContext) -> _Completing:
        """Remember what was tried."""
        return _Completing(context)

    def share(self, prepared: _Completing, usual: float) -> float:
        """Return nothing where no point is left to try."""
        return usual if prepared.trivial is None or prepared.untried() else 0.0

    def run(self, state: _Completing, budget: Budget, seed: int) -> Report:
        """Try points until one is feasible."""
        context, model = state.context, state.context.model
        if state.polisher is None:
            state.polisher = Polisher(_without_costs(model))
            state.trivial = tuple(reversed(trivial_points(model)))
        for x in state.untried():
            if budget.spent() or context.has_point:
                break
            if state.key(x) in state.tried:
                continue  # of the trivial points some are the same
            seconds = max(state.patience, budget.seconds_left)
            done = state.polisher.polish(x, seconds, explain=False)
            budget.charge(done.iterations * (model.num_rows + model.num_columns))
            if done.status is PolishStatus.LIMIT:
                state.patience *= GROWTH  # it may be tried again when there is more time
                break
            state.tried.add(state.key(x))
            if done.x is not None:
                context.submit_feasible(done.x, SOURCE)
                break
        return UNFINISHED


def _without_costs(model: MipModel) -> MipModel:
    return dataclasses.replace(model, cost=np.zeros(model.num_columns))
