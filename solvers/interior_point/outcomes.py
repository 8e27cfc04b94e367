"""What a solve tells: its standing on the way, and the outcome at its end."""

from __future__ import annotations

import numpy as np

from solvers.core.lp_answer import Answer, LpErrors
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.interior_point.certificates import Ray
from solvers.interior_point.linear_system import LinearSystem

ENGINE = "ipm"


def report(
    progress: Progress, iteration: int, statistics: LpErrors, step: float, system: LinearSystem
) -> None:
    """Tell how the iteration stands."""
    progress.iteration(
        iteration,
        primal_residual=statistics.relative_primal,
        dual_residual=statistics.relative_dual,
        gap=statistics.relative_gap,
        step=step,
        factor_entries=system.factorisation.entries,
    )


def optimal(answer: Answer, iterations: int, system: LinearSystem) -> Outcome:
    """Return a point within the tolerance."""
    return _with_point(answer, SolutionStatus.OPTIMAL, StopReason.CONVERGED, iterations, system)


def stopped(
    answer: Answer, tolerance: float, reason: StopReason, iterations: int, system: LinearSystem
) -> Outcome:
    """Return the point of least error at a limit: feasible, or a candidate."""
    feasible = answer.statistics.relative_primal <= tolerance
    status = SolutionStatus.FEASIBLE if feasible else SolutionStatus.NOTHING
    return _with_point(answer, status, reason, iterations, system)


def proof(ray: Ray, iterations: int, system: LinearSystem) -> Outcome:
    """Return a proof that there is no optimum."""
    infeasible = ray.status is SolutionStatus.INFEASIBLE
    return Outcome(
        ray.status,
        StopReason.CONVERGED,
        dual_ray=ray.values if infeasible else None,
        primal_ray=None if infeasible else ray.values,
        engine=ENGINE,
        statistics=_counts(iterations, system),
    )


def nothing(system: LinearSystem, reason: StopReason) -> Outcome:
    """Return that not even a starting point was found."""
    return Outcome(SolutionStatus.NOTHING, reason, engine=ENGINE, statistics=_counts(0, system))


def _with_point(
    answer: Answer,
    status: SolutionStatus,
    reason: StopReason,
    iterations: int,
    system: LinearSystem,
) -> Outcome:
    statistics = answer.statistics
    has_point = status is not SolutionStatus.NOTHING
    is_optimal = status is SolutionStatus.OPTIMAL
    finite = bool(np.isfinite(answer.x).all())
    return Outcome(
        status,
        reason,
        objective=statistics.primal_objective if has_point else np.nan,
        bound=statistics.dual_objective if is_optimal else answer.proven_bound,
        x=answer.x if has_point else None,
        row_activity=answer.row_activity if has_point else None,
        row_dual=answer.row_dual,
        reduced_cost=answer.reduced_cost,
        candidate=answer.x if finite and not has_point else None,
        engine=ENGINE,
        statistics={
            **_counts(iterations, system),
            "relative_primal_residual": statistics.relative_primal,
            "relative_dual_residual": statistics.relative_dual,
            "relative_gap": statistics.relative_gap,
        },
    )


def _counts(iterations: int, system: LinearSystem) -> dict[str, float | int | str]:
    return {
        "iterations": iterations,
        "factorisations": system.factorisations,
        "solves": system.solves,
        "factor_entries": system.factorisation.entries,
        "kept_columns": system.assembly.num_kept,
        "seconds_analysing": system.seconds_analysing,
        "seconds_factorising": system.seconds_factorising,
        "seconds_solving": system.seconds_solving,
        "replaced_pivots": system.factorisation.replaced_pivots,
    }
