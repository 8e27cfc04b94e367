"""Where local search moves: the model, or the model without its implied columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walk import InfeasiblePoints
from solvers.mip.inference.aggregation import PoolView
from solvers.mip.model import MipModel
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.solutions.pool import Pool, Submit


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where walks go: a model, its pool, who takes points of it, and the way there for others."""

    model: MipModel
    pool: Pool
    submit: Submit
    infeasible_points: InfeasiblePoints
    here: Callable[[FloatArray], FloatArray]


def full_space(context: HeuristicContext) -> SearchSpace:
    """Return the model as it is."""
    acceptance = context.acceptance
    return SearchSpace(
        context.model, acceptance.pool, acceptance.submit, acceptance.infeasible_points, lambda x: x
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
        sub.infeasible_to(acceptance.infeasible_points),
        sub.from_whole,
    )
