"""Walks on the problem as it was given, while presolve is at work.

First of all the bounds are tried: on a model with a million columns everything else
takes seconds to begin. Walks on the problem take turns with walks on it without the columns that
its equations define, so that whichever of the two finds a point has half of the time. Where neither
does, the least violated points go to the heuristics on the reduced model, to begin from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walk import InfeasiblePoints, Walk
from solvers.mip.heuristics.trivial import submit_trivial
from solvers.mip.inference.aggregation import PoolView, eliminate
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import IncumbentStore
from solvers.mip.solutions.pool import Pool, Submit

FIRST_TURN, GROWTH = 0.2, 0.1
"""Seconds of a first turn, and the part of the time so far by which turns are longer."""

POINTS = 3
"""Least violated points that are handed on."""


def walk_early(incumbents: IncumbentStore, seed: int, budget: Budget) -> None:
    """Try the bounds of an original problem, then walk by turns until the budget is spent.

    Parameters
    ----------
    incumbents : IncumbentStore
        Of that problem; takes the points.
    seed : int
    budget : Budget
        Of the thread that does nothing else.
    """
    near = incumbents.infeasible_points  # where the answer finds them, should the end come now
    submit_trivial(incumbents.model, incumbents.record, budget)
    walks = [_walk(incumbents.model, incumbents.record, seed, incumbents.pool, near)]
    _turn(walks[0], budget)
    sub = None if budget.spent() else eliminate(incumbents.model, budget.part())
    if sub is not None:
        submit, view = sub.submit_to(incumbents.record), PoolView(incumbents.pool, sub)
        walks.insert(0, _walk(sub.model, submit, seed + 1, view, sub.infeasible_to(near)))
    while not budget.spent() and not any(walk.is_done for walk in walks):
        for walk in walks:
            _turn(walk, budget)


def _walk(model: MipModel, submit: Submit, seed: int, pool: Pool, near: InfeasiblePoints) -> Walk:
    return Walk(model, submit, seed, pool=pool, infeasible_points=near, turn=0)


def _turn(walk: Walk, budget: Budget) -> None:
    walk.run(budget.part(FIRST_TURN + GROWTH * budget.seconds))


def hand_on_original(incumbents: IncumbentStore, acceptance: Acceptance) -> None:
    """Give the least violated points of the original to the heuristics on a reduced model."""
    points = incumbents.infeasible_points.points()[:POINTS]
    hand_points_on([point.x for point in points], acceptance)


def hand_on(before: Acceptance, acceptance: Acceptance) -> None:
    """Give the least violated points of one reduced model to the heuristics on another."""
    infeasible_points = before.infeasible_points.points()[:POINTS]
    hand_points_on([before.original_of(point.x) for point in infeasible_points], acceptance)


def hand_points_on(points: Sequence[FloatArray], acceptance: Acceptance) -> None:
    """Show points (n,) of the original problem to the heuristics on a reduced model."""
    model = acceptance.model
    for point in points:
        there = acceptance.reduced_of(point)
        if there is None:
            return
        x = model.rounded(np.where(np.isfinite(there), there, 0.0))
        activity = model.activity(x)
        outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
        acceptance.infeasible_points(x, int(np.count_nonzero(outside > FEASIBILITY_TOLERANCE)))
