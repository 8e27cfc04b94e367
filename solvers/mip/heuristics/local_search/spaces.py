"""Where walks go: the model, or the model without the columns that its equations imply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.model import MipModel, Submit
from solvers.mip.portfolio.heuristic import HeuristicContext
from solvers.mip.solutions.incumbents import InfeasiblePoints, InfeasibleView, Pool, PoolView


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where walks go: a model, its points, who takes new ones, and the way there for others."""

    model: MipModel
    pool: Pool
    submit: Submit
    infeasible_points: InfeasiblePoints
    here: Callable[[FloatArray], FloatArray]


def full_space(context: HeuristicContext) -> SearchSpace:
    """Return the model as it is."""
    acceptance = context.acceptance
    return SearchSpace(
        context.model,
        acceptance.pool,
        acceptance.submit,
        acceptance.infeasible_points,
        lambda x: x,
    )


def aggregated_space(context: HeuristicContext) -> SearchSpace | None:
    """Return the model without the columns that its equations imply; None if there are none."""
    sub, acceptance = context.aggregated, context.acceptance
    if sub is None:
        return None
    return SearchSpace(
        sub.model,
        PoolView(acceptance.pool, sub),
        sub.submit_to(acceptance.submit),
        InfeasibleView(acceptance.infeasible_points, sub),
        sub.from_whole,
    )
