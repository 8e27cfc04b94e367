"""Outcomes from simplex states: point, duals and basis in the units of the problem."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solvers.core.outcome import Basis, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.vectors import euclidean
from solvers.simplex.state import BASIC, SimplexState
from solvers.simplex.status import SolveStatus

Statistics = Mapping[str, float | int | str]


def to_outcome(
    problem: Problem,
    state: SimplexState,
    ended: SolveStatus,
    reason: StopReason,
    *,
    tolerance: float,
    ray: FloatArray | None,
    statistics: Statistics,
    device: str,
) -> Outcome:
    """Return what a state and the way it was reached amount to, checked against the problem."""
    form = state.form
    n = form.num_structurals
    if ended is SolveStatus.INFEASIBLE:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            dual_ray=ray,
            basis=to_basis(state),
            engine="simplex",
            device=device,
            statistics=statistics,
        )
    x = clean_point(problem, state.x[:n] * form.column_scale)
    row_dual = state.reduced_cost[n:] * form.row_scale
    is_basic = state.status[n:] == BASIC
    row_dual[is_basic] = 0.0
    feasible = ended is SolveStatus.OPTIMAL or is_feasible(problem, x, tolerance)
    objective = problem.objective_at(x) if feasible else np.nan
    status = SolutionStatus.FEASIBLE if feasible else SolutionStatus.NOTHING
    if ended is SolveStatus.OPTIMAL:
        status, reason = SolutionStatus.OPTIMAL, StopReason.CONVERGED
    elif ended is SolveStatus.UNBOUNDED:
        status, reason = SolutionStatus.UNBOUNDED, StopReason.CONVERGED
    return Outcome(
        status,
        reason,
        objective=objective,
        bound=objective if ended is SolveStatus.OPTIMAL else -np.inf,
        x=x if feasible else None,
        row_activity=problem.matrix @ x if feasible else None,
        row_dual=row_dual,
        reduced_cost=problem.cost - problem.matrix.T @ row_dual,
        basis=to_basis(state),
        primal_ray=ray if ended is SolveStatus.UNBOUNDED else None,
        candidate=None if feasible else x,
        engine="simplex",
        device=device,
        statistics=statistics,
    )


def to_basis(state: SimplexState) -> Basis:
    """Return the statuses of columns and rows."""
    n = state.form.num_structurals
    return Basis(state.status[:n].copy(), state.status[n:].copy())


def clean_point(problem: Problem, x: FloatArray) -> FloatArray:
    """Put values that rounding has left beyond a bound on to it."""
    low, high = problem.lower, problem.upper
    near_low = (x < low) & (x >= low - 1e-12 * np.maximum(1.0, np.abs(low)))
    near_high = (x > high) & (x <= high + 1e-12 * np.maximum(1.0, np.abs(high)))
    return np.asarray(np.where(near_low, low, np.where(near_high, high, x)))


def is_feasible(problem: Problem, x: FloatArray, tolerance: float) -> bool:
    """Whether ||violation|| <= tolerance (1 + ||sides||), the field's measure."""
    activity = problem.matrix @ x
    rows = activity - np.clip(activity, problem.row_lower, problem.row_upper)
    columns = x - np.clip(x, problem.lower, problem.upper)
    violation = float(np.hypot(euclidean(rows), euclidean(columns)))
    sides = side_sizes(problem.row_lower, problem.row_upper)
    return violation <= tolerance * (1.0 + euclidean(sides))
