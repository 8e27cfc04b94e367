"""How a solve ends: at an optimal point, at a feasible one near by, by a proof, or at a limit."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.pdlp.answer import Answer, on_original, to_outcome
from solvers.pdlp.certificate import find_dual_ray, find_primal_ray
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.loop_state import Course, settle
from solvers.pdlp.polishing_schedule import Finishing
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record
from solvers.pdlp.termination import is_optimal, is_primal_feasible


def judged(course: Course, x: Any, y: Any) -> Answer | None:
    """Return a point as an answer if it is optimal on the original data."""
    answer = on_original(course.state, x, y)
    return answer if is_optimal(answer.statistics, course.criteria) else None


def end_near_by(course: Course, finishing: Finishing) -> Outcome | None:
    """Return a feasible point near by if that is an answer, else go on as before."""
    settle(course)
    if course.record.stop is not Stop.NO:
        return None
    course.compaction.bring_home()
    state, made = course.state, course.record.iterations
    answer = on_original(state, state.x.projection, state.y.projection)
    limit = course.options.iteration_limit
    left = dataclasses.replace(
        course.options, iteration_limit=None if limit is None else limit - made
    )
    found, spent = finishing.try_at(state, answer, course.earlier + made, left, course.progress)
    course.earlier += spent
    if limit is not None:
        course.options = dataclasses.replace(course.options, iteration_limit=limit - spent)
    if found is None:
        return None
    course.progress.log("A feasible point near by is within the tolerance.")
    return outcome_of(course, found, StopReason.CONVERGED)


def find_proof(course: Course) -> Outcome | None:
    """Look for a certificate; looking costs products, so it is done now and then.

    A problem whose rows hold within the tolerance passes for feasible, so that there is nothing to
    prove the contrary of, and likewise its dual.
    """
    statistics, criteria = course.record.statistics, course.criteria
    if not statistics.relative_primal <= criteria.primal:
        dual_ray = find_dual_ray(course.state)
        if dual_ray is not None:
            return _proven(course, SolutionStatus.INFEASIBLE, dual_ray=dual_ray)
    if not statistics.relative_dual <= criteria.dual:
        primal_ray = find_primal_ray(course.state)
        if primal_ray is not None:
            return _proven(course, SolutionStatus.UNBOUNDED, primal_ray=primal_ray)
    return None


def _proven(course: Course, status: SolutionStatus, **rays: Any) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine="pdlp",
        device=course.state.problem.device.kind,
        statistics=counts(course),
        **rays,
    )


def stopped_short(course: Course, reason: StopReason) -> Outcome:
    """Return the best there is when the solve has to stop short of its aim."""
    state = course.state
    settle(course)
    if course.compaction.is_inside:
        course.compaction.leave(course.record)
        course.record = Record(state.read_control())
    answer = on_original(state, state.x.best, state.y.best)
    if not math.isfinite(answer.statistics.worst):
        return Outcome(
            SolutionStatus.NOTHING,
            reason,
            engine="pdlp",
            device=state.problem.device.kind,
            statistics=counts(course),
        )
    return outcome_of(course, answer, reason)


def outcome_of(course: Course, answer: Answer, reason: StopReason) -> Outcome:
    """Return an answer with the status it has earned, or an earlier feasible point in its place."""
    state = course.state
    device = state.problem.device.kind
    feasible_x = None
    objective = answer.statistics.primal_objective
    if reason is not StopReason.CONVERGED and math.isfinite(course.record[Control.BEST_OBJECTIVE]):
        feasible = on_original(state, state.feasible_x, state.y.best)
        if is_primal_feasible(feasible.statistics, course.criteria):
            feasible_x, objective = feasible.x, feasible.statistics.primal_objective
    outcome = to_outcome(answer, course.criteria, reason, counts(course), device, feasible_x)
    if outcome.x is feasible_x is not None:
        activity = state.problem.original.matrix @ feasible_x
        outcome = dataclasses.replace(outcome, objective=objective, row_activity=activity)
    return outcome


def counts(course: Course) -> dict[str, float | int | str]:
    """Return the statistics that come with every outcome."""
    record = course.record
    return {
        "iterations": course.earlier + record.iterations,
        "restarts": int(record[Control.RESTARTS]),
        "primal_weight": record[Control.WEIGHT],
        "matrix_norm": course.state.norm,
        "parts": course.compaction.parts,
        "entries_visited": course.compaction.entries_visited(record.iterations),
        "loop_seconds": time.perf_counter() - course.began,
        "bytes_per_iteration": bytes_per_iteration(course.state),
    }


def bytes_per_iteration(state: State) -> int:
    """Return the bytes that one iteration has to read and write at least once."""
    coefficients, n, m = state.problem.coefficients, state.x.point.size, state.y.point.size
    matrices = coefficients.by_row.bytes + coefficients.by_column.bytes
    return int(matrices + 8 * (9 * n + 7 * m))
