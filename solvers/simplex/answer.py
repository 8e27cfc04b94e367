"""Outcomes from simplex states: point, duals and basis in the units of the problem, and rays.

A ray of a basis is proven on the original problem or not handed on.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.outcome import Basis, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.vectors import euclidean
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.state import BASIC, SimplexState, SolveStatus

NEGLIGIBLE = (0.0, 1e-13, 1e-11, 1e-9, 1e-7)
"""Parts of the largest entry below which a ray's entries are left out, one trial after another."""


def farkas_ray(problem: Problem, core: DenseGpuCore, state: SimplexState) -> FloatArray | None:
    """Return multipliers (m,) of the rows that prove infeasibility, from the dual's pivot row.

    The row of the inverse at the pivot row combines the rows of the problem into one that no
    point within the bounds satisfies; its sign is found by trying both.
    """
    form = state.form
    unit = np.zeros(form.num_rows)
    unit[core.pivot_row] = 1.0
    y = core.solve_transposed(unit)
    if not np.isfinite(y).all():
        return None
    y = _refined(core, state, y, unit)
    return _proven_dual(problem, y * form.row_scale)


def primal_ray(problem: Problem, core: DenseGpuCore, state: SimplexState) -> FloatArray | None:
    """Return the direction (n,) that improves without end, from the primal's pivot column."""
    form = state.form
    n = form.num_structurals
    entering = core.pivot_column
    column = np.zeros(form.num_rows)
    if entering < n:
        indices, values = form.columns[entering]
        column[indices] = values
    else:
        column[entering - n] = -1.0
    ray = np.zeros(form.num_variables)
    ray[state.basic] = -core.solve_basis(column)
    ray[entering] = 1.0
    if state.reduced_cost[entering] > 0.0:
        ray = -ray
    if not np.isfinite(ray).all():
        return None
    return _proven_primal(problem, ray[:n] * form.column_scale)


def _refined(
    core: DenseGpuCore, state: SimplexState, y: FloatArray, unit: FloatArray
) -> FloatArray:
    """Solve once more with what rounding has left of B'y = unit."""
    form = state.form
    everything = np.concatenate([form.columns.times(y), -y])
    return np.asarray(y + core.solve_transposed(unit - everything[state.basic]))


def _proven_dual(problem: Problem, y: FloatArray) -> FloatArray | None:
    largest = float(np.max(np.abs(y), initial=0.0))
    for sign in (1.0, -1.0):
        for part in NEGLIGIBLE:
            trial = np.where(np.abs(y) > part * largest, sign * y, 0.0)
            side = np.where(trial > 0.0, problem.row_lower, problem.row_upper)
            trial[~np.isfinite(side) & (np.abs(trial) <= 1e-7 * largest)] = 0.0
            if proves_infeasible(problem, trial):
                return np.asarray(trial)
    return None


def _proven_primal(problem: Problem, ray: FloatArray) -> FloatArray | None:
    largest = float(np.max(np.abs(ray), initial=0.0))
    for part in NEGLIGIBLE:
        trial = np.where(np.abs(ray) > part * largest, ray, 0.0)
        wrong = (trial < 0.0) & np.isfinite(problem.lower)
        wrong |= (trial > 0.0) & np.isfinite(problem.upper)
        trial[wrong & (np.abs(trial) <= 1e-7 * largest)] = 0.0
        if proves_unbounded(problem, trial):
            return np.asarray(trial)
    return None


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
