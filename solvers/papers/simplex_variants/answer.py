"""What a basis says about the problem: outcomes whose claims have been computed anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.outcome import Basis, BasisStatus, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.rays import proves_infeasible, proves_unbounded
from solvers.papers.simplex_variants.basic_solution import BasicSolution, violations
from solvers.papers.simplex_variants.standard_form import NONE, ScaledForm

TROUBLE = "the pivots ended in a basis whose exact solution does not bear the claim out"


ROUNDING = 1e-12
"""Elements of a ray below this part of its largest are rounding."""


def optimal_outcome(exact: BasicSolution, tolerance: float, about: dict[str, Any]) -> Outcome:
    """Return the basic solution, optimal if it is within the tolerance, primal and dual."""
    form = exact.form
    y = exact.solve_transposed(exact.basic_cost)
    reduced = exact.reduced_costs(y, form.cost)
    wrong = violations(form, exact.basic, exact.x)
    good = max(np.max(wrong, initial=0.0), np.max(-reduced, initial=0.0)) <= tolerance
    return _with_point(
        exact,
        y,
        SolutionStatus.OPTIMAL if good else SolutionStatus.NOTHING,
        StopReason.CONVERGED if good else StopReason.NUMERICAL_TROUBLE,
        about if good else {**about, "message": TROUBLE},
    )


def stopped_outcome(
    exact: BasicSolution, reason: StopReason, tolerance: float, about: dict[str, Any]
) -> Outcome:
    """Return the point a run was stopped at: feasible, or a candidate."""
    y = exact.solve_transposed(exact.basic_cost)
    worst = np.max(violations(exact.form, exact.basic, exact.x), initial=0.0)
    feasible = worst <= tolerance
    status = SolutionStatus.FEASIBLE if feasible else SolutionStatus.NOTHING
    return _with_point(exact, y, status, reason, about)


def infeasible_outcome(
    exact: BasicSolution, gradient: FloatArray, about: dict[str, Any]
) -> Outcome:
    """Return the proof by the duals of phase 1, or numerical trouble where it is none."""
    form = exact.form
    problem = form.origin.problem
    ray = form.origin.recover_duals(exact.solve_transposed(gradient) * form.row_scale)
    ray = np.where(np.abs(ray) > ROUNDING * np.max(np.abs(ray), initial=0.0), ray, 0.0)
    has_side = np.isfinite(np.where(ray > 0.0, problem.row_lower, problem.row_upper))
    ray = np.where(has_side, ray, 0.0)
    if not proves_infeasible(problem, ray):
        return _nothing(about)
    return Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=ray, **about)


def unbounded_outcome(
    exact: BasicSolution, entering: int, tolerance: float, about: dict[str, Any]
) -> Outcome:
    """Return a feasible point and the ray of the entering column, or numerical trouble."""
    form = exact.form
    column = form.matrix[:, [entering]].toarray()[:, 0]
    d = exact.solve(column)
    values = np.zeros(form.num_columns)
    own = exact.basic < form.num_columns
    values[exact.basic[own]] = np.maximum(-d[own], 0.0)
    values[entering] = 1.0
    values[form.origin.complement != NONE] = 0.0  # what has two bounds moves by rounding only
    ray = form.origin.recover_direction(values * form.column_scale)
    ray = np.where(np.abs(ray) > ROUNDING * np.max(np.abs(ray)), ray, 0.0)
    feasible = np.max(violations(form, exact.basic, exact.x), initial=0.0) <= tolerance
    if not feasible or not proves_unbounded(form.origin.problem, ray):
        return _nothing(about)
    point = stopped_outcome(exact, StopReason.CONVERGED, tolerance, about)
    return Outcome(
        SolutionStatus.UNBOUNDED,
        StopReason.CONVERGED,
        objective=-np.inf,
        x=point.x,
        row_activity=point.row_activity,
        primal_ray=ray,
        **about,
    )


def without_rows(form: ScaledForm) -> Outcome:
    """Return the answer where no equation is left: every column stays at zero or grows for ever."""
    origin = form.origin
    about: dict[str, Any] = {"engine": "simplex"}
    x = origin.recover_point(np.zeros(form.num_columns))
    problem = origin.problem
    if np.any(origin.cost < 0.0):
        values = np.zeros(form.num_columns)
        values[int(np.argmin(origin.cost))] = 1.0
        return Outcome(
            SolutionStatus.UNBOUNDED,
            StopReason.CONVERGED,
            objective=-np.inf,
            x=x,
            row_activity=problem.matrix @ x,
            primal_ray=origin.recover_direction(values),
            **about,
        )
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=problem.objective_at(x),
        bound=problem.objective_at(x),
        x=x,
        row_activity=problem.matrix @ x,
        row_dual=np.zeros(problem.num_rows),
        reduced_cost=problem.cost.copy(),
        **about,
    )


def _nothing(about: dict[str, Any]) -> Outcome:
    return Outcome(
        SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, **{**about, "message": TROUBLE}
    )


def _with_point(
    exact: BasicSolution,
    y: FloatArray,
    status: SolutionStatus,
    reason: StopReason,
    about: dict[str, Any],
) -> Outcome:
    """Return an outcome with the basic point, its duals, and its basis."""
    form, origin = exact.form, exact.form.origin
    problem = origin.problem
    values = np.zeros(form.num_columns)
    own = exact.basic < form.num_columns
    values[exact.basic[own]] = exact.x[own]
    x = origin.recover_point(values * form.column_scale)
    duals = origin.recover_duals(y * form.row_scale * form.cost_scale)
    has_point = status.has_point
    objective = problem.objective_at(x)
    return Outcome(
        status,
        reason,
        objective=objective if has_point else np.nan,
        bound=objective if status is SolutionStatus.OPTIMAL else -np.inf,
        x=x if has_point else None,
        candidate=None if has_point else x,
        row_activity=problem.matrix @ x,
        row_dual=duals,
        reduced_cost=problem.cost - problem.matrix.T @ duals,
        basis=basis_of(form, exact.basic) if has_point else None,
        **about,
    )


def basis_of(form: ScaledForm, basic: np.ndarray[Any, Any]) -> Basis | None:
    """Return the problem's basis; None if its size is not the number of rows.

    A column at an upper bound is basic here while its complement is not, and both are basic where
    it is between its bounds.
    """
    origin, n = form.origin, form.num_columns
    problem = origin.problem
    inside = np.zeros(n + form.num_rows, dtype=bool)
    inside[basic] = True
    partner = origin.complement
    at_upper = (partner != NONE) & inside[:n] & ~inside[np.where(partner == NONE, 0, partner)]
    column_status = _resting(problem.lower, problem.upper)
    owned = np.flatnonzero(origin.owner != NONE)
    moving = owned[inside[owned]]
    column_status[origin.owner[moving]] = np.where(
        at_upper[moving], BasisStatus.UPPER, BasisStatus.BASIC
    )
    row_status = np.full(problem.num_rows, int(BasisStatus.BASIC), dtype=np.int8)
    kept, slack = origin.kept_rows, origin.slack[: origin.kept_rows.size]
    low = np.isfinite(problem.row_lower[kept])
    both = low & np.isfinite(problem.row_upper[kept])
    safe = np.where(slack == NONE, 0, slack)
    slack_inside = (slack != NONE) & inside[safe]
    status = np.where(low & (~both | (slack == NONE)), BasisStatus.LOWER, BasisStatus.UPPER)
    status = np.where(slack_inside & at_upper[safe], BasisStatus.LOWER, status)
    artificial = inside[n + np.arange(kept.size)]
    between = (slack_inside & ~at_upper[safe]) | artificial
    row_status[kept] = np.where(between, BasisStatus.BASIC, status)
    found = Basis(column_status, row_status)
    count = np.sum(column_status == BasisStatus.BASIC) + np.sum(row_status == BasisStatus.BASIC)
    return found if count == problem.num_rows else None


def _resting(lower: FloatArray, upper: FloatArray) -> np.ndarray[Any, Any]:
    """Return the status of columns outside the basis here: at zero of the standard form."""
    status = np.full(lower.size, int(BasisStatus.ZERO), dtype=np.int8)
    status[np.isfinite(upper)] = BasisStatus.UPPER
    status[np.isfinite(lower)] = BasisStatus.LOWER
    return status
