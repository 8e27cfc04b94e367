"""Bringing a point back to the host and judging it there, in float64 on the original data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import euclidean, inner
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Norms, Statistics
from solvers.pdlp.termination import Criteria, is_optimal, is_primal_feasible


@dataclass(frozen=True, eq=False)
class Answer:
    """A primal and a dual point of the original problem, with their exact figures.

    x (n,) is within its bounds and row_dual (m,) has allowed signs; reduced_cost (n,) is
    c - A'y and row_activity (m,) A x.
    """

    x: FloatArray
    row_dual: FloatArray
    row_activity: FloatArray
    reduced_cost: FloatArray
    statistics: Statistics
    proven_bound: float


def on_original(state: State, x: Any, y: Any) -> Answer:
    """Make an answer of points (n,) and (m,) on the device."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    return judge(there.original, there.columns_to_host(x), there.rows_to_host(y), norms)


def judge(
    problem: Problem, x: FloatArray, row_dual: FloatArray, norms: Norms | None = None
) -> Answer:
    """Clip a point into its bounds and allowed signs, and compute all its figures.

    Errors are relative to ``norms``, those of the problem if none are given.
    """
    norms = Norms.of(problem) if norms is None else norms
    x = np.clip(x, problem.lower, problem.upper)
    y = allowed_duals(row_dual, problem.row_lower, problem.row_upper)
    activity = product(problem.matrix, x)
    violation = activity - np.clip(activity, problem.row_lower, problem.row_upper)
    reduced = problem.cost - product(problem.matrix.T, y)
    side = np.where(reduced > 0, problem.lower, problem.upper)
    supported = np.isfinite(side)
    support = _support(y, problem.row_lower, problem.row_upper)
    support += inner(reduced[supported], side[supported])
    unsupported = reduced[~supported]
    statistics = Statistics(
        primal_residual=euclidean(violation),
        dual_residual=euclidean(unsupported),
        primal_objective=problem.objective_at(x),
        dual_objective=support + problem.offset,
        side_norm=norms.sides,
        cost_norm=norms.cost,
    )
    bound = -np.inf if unsupported.any() else statistics.dual_objective
    return Answer(x, y, activity, reduced, statistics, bound)


def product(matrix: Any, vector: FloatArray) -> FloatArray:
    """Return a matrix times a vector; a zero vector, as solves begin with, costs nothing."""
    result: FloatArray = matrix @ vector if vector.any() else np.zeros(matrix.shape[0])
    return result


def to_outcome(
    answer: Answer,
    criteria: Criteria,
    stop_reason: StopReason,
    counts: dict[str, float | int | str],
    device: str,
    feasible_x: FloatArray | None = None,
) -> Outcome:
    """Give an answer the status it has earned.

    Without optimality the point is ``x`` where it is feasible, else ``candidate``; then
    ``feasible_x``, an earlier feasible point, takes the place of ``x``. The duals always belong
    to the answer.
    """
    statistics = answer.statistics
    figures = {
        **counts,
        "relative_primal_residual": statistics.relative_primal,
        "relative_dual_residual": statistics.relative_dual,
        "relative_gap": statistics.relative_gap,
    }
    optimal = is_optimal(statistics, criteria)
    feasible = is_primal_feasible(statistics, criteria)
    x: FloatArray | None = answer.x if feasible else feasible_x
    status = SolutionStatus.OPTIMAL if optimal else SolutionStatus.FEASIBLE
    return Outcome(
        solution_status=status if x is not None else SolutionStatus.NOTHING,
        stop_reason=StopReason.CONVERGED if optimal else stop_reason,
        objective=statistics.primal_objective if feasible else np.nan,
        bound=statistics.dual_objective if optimal else answer.proven_bound,
        x=x,
        row_activity=answer.row_activity if feasible else None,
        row_dual=answer.row_dual,
        reduced_cost=answer.reduced_cost,
        candidate=None if feasible else answer.x,
        engine="pdlp",
        device=device,
        statistics=figures,
    )


def _support(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of multipliers times the sides they lean on."""
    leaning = multiplier != 0
    side = np.where(multiplier > 0, low, high)
    return inner(multiplier[leaning], side[leaning])


def allowed_duals(row_dual: FloatArray, row_lower: FloatArray, row_upper: FloatArray) -> FloatArray:
    """Return row duals without the parts that lean on an infinite side."""
    y = np.where(np.isfinite(row_lower), row_dual, np.minimum(row_dual, 0.0))
    allowed: FloatArray = np.where(np.isfinite(row_upper), y, np.maximum(y, 0.0))
    return allowed
