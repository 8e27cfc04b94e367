"""The plainest points of all: every integer at an end of its bounds.

Many a model has something feasible there: everything built, nothing sold, every switch closed.
Where there are continuous columns it takes an LP to know, which walkers and dives come to late.
Where there are none, a product with the matrix tells, long before anything better is loaded;
and what is not feasible there is what violates least, until there is better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import OVER, Heuristic, Report
from solvers.mip.solutions.incumbents import IncumbentStore
from solvers.mip.solutions.pool import Submit

if TYPE_CHECKING:
    from solvers.mip.portfolio.heuristic_context import HeuristicContext

SOURCE = "trivial"


def submit_trivial(model: MipModel, submit: Submit, budget: Budget) -> None:
    """Submit the points at bounds, those with the fewest rows in the way first.

    Parameters
    ----------
    model : MipModel
    submit : Submit
        Sets the continuous columns by an LP.
    budget : Budget
        Looked at between points.
    """
    for x in reversed(trivial_points(model)):
        if budget.spent():
            return
        submit(x, SOURCE)


def record_trivial(incumbents: IncumbentStore, is_over: Callable[[], bool]) -> None:
    """Record the ends that the objective wants, all lower and all upper ones, or note them as near.

    Needs nothing but NumPy: for the first moment of a solve.

    Parameters
    ----------
    incumbents : IncumbentStore
        Of the problem as it was given.
    is_over : callable
        Asked between points; the first is looked at in any case.
    """
    model = incumbents.model
    everywhere = np.ones(model.num_columns, dtype=bool)
    for at_upper in (model.cost < 0.0, ~everywhere, everywhere):
        x = at_bounds(model, at_upper)
        activity = model.activity(x)
        outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
        violated = int(np.count_nonzero(outside > FEASIBILITY_TOLERANCE))
        if violated:
            incumbents.infeasible_points(x, violated)
        else:
            incumbents.record(x, SOURCE)
        if is_over():
            return


def trivial_points(model: MipModel) -> tuple[FloatArray, ...]:
    """Return points (n,) at bounds: where many a model has something feasible.

    The ends that the objective wants; all upper; all lower; and those with fewer rows in the way.
    An infinite end gives way to the other one, or to zero.
    """
    up_locks, down_locks = model.locks
    everywhere = np.ones(model.num_columns, dtype=bool)
    return (
        at_bounds(model, model.cost < 0.0),
        at_bounds(model, everywhere),
        at_bounds(model, ~everywhere),
        at_bounds(model, up_locks < down_locks),
    )


def at_bounds(model: MipModel, at_upper: BoolArray) -> FloatArray:
    """Return the point (n,) at the upper bounds where asked for, else at the lower.

    An infinite end gives way to the other one, or to zero.
    """
    end = np.where(at_upper, model.upper, model.lower)
    other = np.where(at_upper, model.lower, model.upper)
    end = np.where(np.isfinite(end), end, other)
    return np.where(np.isfinite(end), end, 0.0)


class Trivial(Heuristic["HeuristicContext", "HeuristicContext"]):
    """The points at bounds, once."""

    name = SOURCE

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Submit them."""
        submit_trivial(state.model, state.submit, budget)
        return OVER
