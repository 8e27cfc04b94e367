"""Bringing a point back to the host and judging it there, in float64 on the original data."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.lp_answer import Answer, Norms, judge
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.pdlp.state import State
from solvers.pdlp.termination import Criteria, is_optimal, is_primal_feasible


def on_original(state: State, x: Any, y: Any) -> Answer:
    """Make an answer of points (n,) and (m,) on the device."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    point, duals = there.columns_to_host(x), there.rows_to_host(y)
    return judge(there.original, point, duals, norms, state.threads)


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
