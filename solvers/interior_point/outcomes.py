"""What a solve tells: its standing on the way, proofs, and the outcome at its end.

Where tau goes to zero, the iterate itself tends to a ray of the primal or dual. Such a candidate
is believed only if it passes on the problem as it is given (:mod:`solvers.core.lp_answer`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import (
    Answer,
    LpErrors,
    allowed_duals,
    cleaned,
    proves_infeasible,
    proves_unbounded,
)
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.vectors import inner
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.point import Point
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Ray:
    """A proven ray: of the rows (m,) where infeasible, of the columns (n,) where unbounded."""

    status: SolutionStatus
    values: FloatArray


def certificate(problem: Problem, form: StandardForm, point: Point, device: Device) -> Ray | None:
    """Return a proof that there is no optimum, if the point has one to offer.

    Looked for only while kappa exceeds tau, which is the sign of it.
    """
    if point.kappa <= point.tau:
        return None
    if inner(form.b, point.y) > inner(form.u, point.v):
        y = device.to_host(form.origin.row_dual(point.y, problem.num_rows))
        for candidate in cleaned(allowed_duals(y, problem.row_lower, problem.row_upper)):
            if proves_infeasible(problem, candidate):
                return Ray(SolutionStatus.INFEASIBLE, candidate)
    if inner(form.c, point.x) < 0.0:
        direction = np.clip(
            device.to_host(form.origin.direction(point.x)),
            np.where(np.isfinite(problem.lower), 0.0, -np.inf),
            np.where(np.isfinite(problem.upper), 0.0, np.inf),
        )
        for candidate in cleaned(direction):
            if proves_unbounded(problem, candidate):
                return Ray(SolutionStatus.UNBOUNDED, candidate)
    return None


ENGINE = "ipm"

ERRORS = ("relative_primal_residual", "relative_dual_residual", "relative_gap")
"""What the statistics call the errors of a point."""


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


class OverError(Exception):
    """The solve is to end while it is being prepared; internal to this package."""


def before_iterating(progress: Progress) -> Outcome:
    """Return what comes of a solve that is to end before it iterates."""
    reason = progress.should_stop() or StopReason.INTERRUPTED
    return Outcome(SolutionStatus.NOTHING, reason, engine=ENGINE)


def nearer(first: Outcome, second: Outcome) -> Outcome:
    """Return the outcome of a second attempt, with the first one's point if its error is less."""
    if second.stop_reason is StopReason.CONVERGED or not _error(first) < _error(second):
        return second
    return dataclasses.replace(first, stop_reason=second.stop_reason)


def _error(outcome: Outcome) -> float:
    """Return the largest relative error of a point; inf where there is none."""
    found = [float(outcome.statistics.get(name, np.inf)) for name in ERRORS]
    return max(found) if np.isfinite(found).all() else np.inf


def _with_point(
    answer: Answer,
    status: SolutionStatus,
    reason: StopReason,
    iterations: int,
    system: LinearSystem,
) -> Outcome:
    statistics = answer.statistics
    relative = statistics.relative_primal, statistics.relative_dual, statistics.relative_gap
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
            **dict(zip(ERRORS, relative, strict=True)),
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
