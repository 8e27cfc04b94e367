"""Walks on the problem as it was given, while presolve is at work.

First of all the ends of the bounds are tried: on a model with a million columns everything else
takes seconds to begin. Walks on the problem take turns with walks on it without the columns that
its equations define, so that whichever of the two finds a point has half of the time. Where neither
does, the least violated points go to the heuristics on the reduced model, to begin from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walk import Walk
from solvers.mip.heuristics.trivial import offer_ends
from solvers.mip.inference.aggregation import PoolView, eliminate
from solvers.mip.model import FEASIBILITY_TOLERANCE
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.acceptance import Gate
from solvers.mip.solutions.incumbents import Ledger

FIRST_TURN, GROWTH = 0.2, 0.1
"""Seconds of a first turn, and the part of the time so far by which turns are longer."""

POINTS = 3
"""Least violated points that are handed on."""


class EarlyWalks:
    """Walks on an original problem; to be run in a thread of their own.

    Parameters
    ----------
    ledger : Ledger
        Of that problem; takes the points.
    seed : int
    """

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self._ledger = ledger
        self._seed = seed
        self.near = ledger.near  # where the answer finds them, should the end come now

    def run(self, budget: Budget) -> None:
        """Try the ends of the bounds, then walk by turns until the budget is spent."""
        ledger, seed = self._ledger, self._seed
        offer_ends(ledger.model, ledger.record, budget)
        walks = [Walk(ledger.model, ledger.record, seed, pool=ledger.pool, near=self.near, turn=0)]
        self._turn(walks[0], budget)
        sub = None if budget.spent() else eliminate(ledger.model, budget.part())
        if sub is not None:
            offer, near = sub.offer_to(ledger.record), sub.near_to(self.near)
            view = PoolView(ledger.pool, sub)
            walks.insert(0, Walk(sub.model, offer, seed + 1, pool=view, near=near, turn=0))
        while not budget.spent() and not any(walk.is_done for walk in walks):
            for walk in walks:
                self._turn(walk, budget)

    def hand_on(self, gate: Gate) -> None:
        """Give the least violated points to the heuristics on a reduced model."""
        hand_points_on([point.x for point in self.near.points()[:POINTS]], gate)

    def _turn(self, walk: Walk, budget: Budget) -> None:
        walk.run(budget.part(FIRST_TURN + GROWTH * budget.seconds))


def hand_on(before: Gate, gate: Gate) -> None:
    """Give the least violated points of one reduced model to the heuristics on another."""
    near = before.near.points()[:POINTS]
    hand_points_on([before.original_of(point.x) for point in near], gate)


def hand_points_on(points: Sequence[FloatArray], gate: Gate) -> None:
    """Show points (n,) of the original problem to the heuristics on a reduced model."""
    model = gate.model
    for point in points:
        there = gate.reduced_of(point)
        if there is None:
            return
        x = model.rounded(np.where(np.isfinite(there), there, 0.0))
        activity = model.activity(x)
        outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
        gate.near(x, int(np.count_nonzero(outside > FEASIBILITY_TOLERANCE)))
