"""An engine's claim is checked on the original problem before anybody sees it.

Nothing here trusts a number that came from an engine except a bound proven by branch and bound.
Everything is recomputed in float64 on the CPU (for batches solved on a GPU by a kernel there, and
for a sample of each on the CPU):

* a point's violations of rows, bounds and integrality, after snapping what is within tolerance
  of a bound or an integer exactly on to it (kept only if the rows still hold);
* for a linear program the reduced costs ``z = c - A'y``, their wrong signs, and the gap between
  c'x and the dual objective;
* for a claim of infeasibility or unboundedness by a first-order engine, its ray.

A linear program is *optimal* when three relative residuals are within ``tolerance``, measured as
the field does for first-order methods (Applegate et al., "Practical large-scale linear
programming using PDHG", section 2)::

    ||Ax - [Ax]||_2   <= tolerance (1 + ||sides||_2)
    ||z - [z]||_2     <= tolerance (1 + ||c||_2)
    |p - d|           <= tolerance (1 + |p| + |d|)

where brackets project on what the bounds allow. A point that misses the first and has all three
within ``APPROXIMATE_WITHIN`` is *approximate*. A mixed-integer point is *feasible* when every
single violation is within ``tolerance * max(1, |side|)``, the measure of MIPLIB's checker, and
*optimal* when its proven bound is within the gap asked for.
"""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_bridge.verify.refutation import BOUND_AGREEMENT, refuting_point, trusted_bound
from gpu_bridge.verify.residuals import (
    bound_violations,
    holds,
    integrality_violation,
    lp_residuals,
    over_sides,
    row_violations,
    unsafe_reason,
)
from gpu_bridge.verify.snapping import snap
from solvers.core.lp_answer import proves_infeasible, proves_unbounded, separation
from solvers.core.machine import mapped_arrays
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Proof, Residuals, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.process_state import Slot

ROUNDING = 1e-12
"""Part of the numbers that a ray adds up below which what is left of them is rounding."""

APPROXIMATE_WITHIN = 1e-2
"""The largest relative error of an answer to a linear program that is still called approximate.

A hundredth of the sizes of sides, costs and objective is about the worst that anybody rounds to;
beyond it a point says nothing about the optimum."""

READ = ("tolerance", "integrality_tolerance", "abs_gap", "rel_gap")
"""The options that are read here."""

_graded: Slot[weakref.WeakKeyDictionary[Outcome, tuple[tuple[object, ...], Outcome | None]]] = Slot(
    "what verification said of outcomes that are still about", weakref.WeakKeyDictionary
)
"""The route that an answer took asks first, to know whether to go on, and the pipeline again, which
on large models is half of what is left to do. Outcomes never change. None stands beside what
verification returned itself: without the duals of a mere candidate its errors could not be found
again."""


def verify(problem: Problem, outcome: Outcome, options: EngineOptions) -> Outcome:
    """Return ``outcome`` with the status, objective, bound and residuals it has earned.

    Parameters
    ----------
    problem : Problem
        The original problem, before any reduction.
    outcome : Outcome
        An engine's claim, mapped back to the space of ``problem``.
    options : EngineOptions
        Tolerances and gaps.
    """
    question = (weakref.ref(problem), *(getattr(options, name) for name in READ))
    earlier = _graded.value.get(outcome)
    if earlier is not None and earlier[0] == question:
        return outcome if earlier[1] is None else earlier[1]
    with mapped_arrays(0 if problem.is_mip else problem.num_nonzeros):
        graded = _grade(problem, outcome, options)
    _graded.value[outcome] = (question, graded)
    _graded.value[graded] = (question, None)
    return graded


def _grade(problem: Problem, outcome: Outcome, options: EngineOptions) -> Outcome:
    if outcome.solution_status is SolutionStatus.INFEASIBLE:
        return _grade_infeasible(problem, outcome, options)
    if outcome.solution_status is SolutionStatus.UNBOUNDED:
        # No engine's word is enough: HiGHS too errs on which of the two a model is.
        x, ray = outcome.x, outcome.primal_ray
        proven = ray is not None and proves_unbounded(problem, ray)
        return _claim(outcome, proven and x is not None and holds(problem, x, options))
    points = _usable_points(problem, outcome)
    if not points:
        return _without_point(outcome)
    if problem.is_mip:
        return _grade_mip(problem, outcome, snap(problem, points[0], options), options)
    answer = _grade_lp_point(problem, outcome, points[0], options)
    if len(points) == 1 or answer.solution_status is SolutionStatus.OPTIMAL:
        return answer
    # PDLP keeps the feasible point of least objective besides the one with the least errors. The
    # first may be feasible to the reduced model only, or have a wide gap.
    return _nearer(answer, _grade_lp_point(problem, outcome, points[1], options))


def _usable_points(problem: Problem, outcome: Outcome) -> list[FloatArray]:
    """Return the points that an outcome holds, without negative zeros, which users stumble on."""
    shape = (problem.num_columns,)
    found = (point for point in (outcome.x, outcome.candidate) if point is not None)
    return [point + 0.0 for point in found if point.shape == shape and np.isfinite(point).all()]


def _grade_lp_point(
    problem: Problem, outcome: Outcome, point: FloatArray, options: EngineOptions
) -> Outcome:
    """Grade a point of a linear program as it was given and put on its bounds."""
    snapped = snap(problem, point, options)
    answer = _grade_lp(problem, outcome, snapped, options)
    if answer.solution_status is SolutionStatus.OPTIMAL or snapped is point:
        return answer
    # Moving basic columns on to their bounds can open a gap that the basic solution has not.
    as_given = _grade_lp(problem, outcome, point, options)
    is_more = as_given.solution_status.has_point > answer.solution_status.has_point
    return as_given if is_more or as_given.solution_status is SolutionStatus.OPTIMAL else answer


def _nearer(first: Outcome, second: Outcome) -> Outcome:
    """Return the verified one of two answers, else that with the smaller errors.

    An approximate point with smaller errors than the verified one comes as its candidate.
    """
    verified = first.solution_status.has_point
    if second.solution_status.has_point:
        is_better = not verified or second.objective < first.objective
        return second if is_better or second.solution_status is SolutionStatus.OPTIMAL else first
    if not second.residuals.largest_relative < first.residuals.largest_relative:
        return first
    if not verified:
        return second
    if not second.solution_status.has_values:
        return first
    error = second.residuals.largest_relative
    told = (
        f"The candidate has smaller residuals, {error:.1e}, but misses the rows: it is approximate."
    )
    message = first.message if told in first.message else f"{first.message} {told}".strip()
    return replace(first, candidate=second.x, message=message)


def gap_closed(objective: float, bound: float, options: EngineOptions) -> bool:
    """Whether a bound proves an objective optimal within the gaps asked for."""
    if not (np.isfinite(objective) and np.isfinite(bound)):
        return False
    difference = objective - bound
    rounding = ROUNDING * max(1.0, abs(objective))  # also where no gap at all is allowed
    return difference <= max(options.abs_gap, options.rel_gap * abs(objective), rounding)


def _grade_lp(problem: Problem, outcome: Outcome, x: FloatArray, options: EngineOptions) -> Outcome:
    y = outcome.row_dual
    if y is not None and not np.isfinite(y).all():
        y = None
    found, priced = lp_residuals(problem, x, y, options.threads)
    tolerance = options.tolerance
    bound = -np.inf
    if y is not None and found.dual_relative <= tolerance:
        bound = priced.objective
    feasible = found.primal_relative <= tolerance
    if not feasible and found.largest_relative > APPROXIMATE_WITHIN:
        outcome = replace(outcome, bound=bound, residuals=found, tolerance=tolerance)
        return _without_point(outcome, candidate=x)
    objective = problem.objective_at(x)
    if feasible and abs(objective - bound) <= BOUND_AGREEMENT * (1.0 + abs(objective)):
        bound = objective
    optimal = feasible and bound > -np.inf and found.gap_relative <= tolerance
    more: dict[str, Any] = {"tolerance": tolerance, "objective": objective}
    if not feasible:
        more["solution_status"] = SolutionStatus.APPROXIMATE
    if y is not None:
        more["row_dual"] = priced.row_dual
        more["reduced_cost"] = _cleanest(priced.reduced_cost, outcome, tolerance)
    return _with_point(outcome, x, priced.row_activity, found, bound, optimal, **more)


def _grade_infeasible(problem: Problem, outcome: Outcome, options: EngineOptions) -> Outcome:
    """Pass on what is certified, exact, or the word of an engine that nothing speaks against."""
    if outcome.dual_ray is not None and proves_infeasible(problem, outcome.dual_ray):
        return _claim(outcome, True)
    refuting = refuting_point(problem, (outcome.x, outcome.candidate))
    if refuting is not None:
        return _refuted(problem, outcome, refuting, options)
    if outcome.is_exact:
        return _claim(outcome, True)
    # a search is believed where nothing contradicts it and the model's magnitudes are safe
    trusted = outcome.proof is Proof.SEARCH and not _is_rounding(problem, outcome.dual_ray)
    doubt = unsafe_reason(problem) if trusted else ""
    claim = _claim(outcome, trusted and not doubt)
    return replace(claim, message=f"Infeasibility is not proven. {doubt}") if doubt else claim


def _refuted(problem: Problem, outcome: Outcome, x: FloatArray, options: EngineOptions) -> Outcome:
    """Return a point that contradicts a claim in its place."""
    found = replace(
        outcome,
        solution_status=SolutionStatus.FEASIBLE,
        stop_reason=StopReason.NUMERICAL_TROUBLE,
        bound=-np.inf,
        x=x,
        row_dual=None,
        dual_ray=None,
        proof=Proof.NONE,
        message="A point refutes the engine's claim that the model is infeasible.",
    )
    return _grade(problem, found, options)


def _grade_mip(
    problem: Problem, outcome: Outcome, x: FloatArray, options: EngineOptions
) -> Outcome:
    row_activity = problem.entries.times(x)
    rows = row_violations(problem, row_activity)
    columns = bound_violations(problem, x)
    objective = problem.objective_at(x)
    gap = objective - outcome.bound if np.isfinite(outcome.bound) else np.nan
    found = Residuals(
        primal=float(max(np.max(rows, initial=0.0), np.max(columns, initial=0.0))),
        primal_relative=over_sides(problem, x, row_activity, rows, columns),
        integrality=integrality_violation(problem, x),
        gap=abs(gap),
        gap_relative=abs(gap) / max(abs(objective), 1e-9),
    )
    if (
        found.primal_relative > options.tolerance
        or found.integrality > options.integrality_tolerance
    ):
        found = replace(found, gap=np.nan, gap_relative=np.nan)  # of no feasible point
        return _without_point(replace(outcome, residuals=found), candidate=x)
    bound, doubt = trusted_bound(problem, outcome, x, objective, options)
    optimal = gap_closed(objective, bound, options)
    if doubt:
        outcome = replace(outcome, message=doubt)
    if not np.isfinite(bound):
        found = replace(found, gap=np.nan, gap_relative=np.nan)
    return _with_point(outcome, x, row_activity, found, bound, optimal, objective=objective)


def _with_point(
    outcome: Outcome,
    x: FloatArray,
    row_activity: FloatArray,
    found: Residuals,
    bound: float,
    optimal: bool,
    **more: Any,
) -> Outcome:
    """Return ``outcome`` with a verified point and the status it has earned, without duals."""
    earned: dict[str, Any] = {
        "solution_status": SolutionStatus.OPTIMAL if optimal else SolutionStatus.FEASIBLE,
        "stop_reason": _stop_reason(outcome, optimal),
        "bound": bound,
        "x": x,
        "candidate": None,
        "row_activity": row_activity,
        "row_dual": None,
        "reduced_cost": None,
        "residuals": found,
    }
    return replace(outcome, **(earned | more))


def _claim(outcome: Outcome, proven: bool) -> Outcome:
    """Let a proof of infeasibility or unboundedness pass, or take it back."""
    if proven:
        return replace(outcome, x=None, objective=np.nan, stop_reason=StopReason.CONVERGED)
    return replace(
        outcome,
        solution_status=SolutionStatus.NOTHING,
        stop_reason=StopReason.NUMERICAL_TROUBLE,
        message=f"The engine's proof that the model is {outcome.solution_status.name.lower()} "
        "did not hold on the original data.",
    )


def _without_point(outcome: Outcome, candidate: FloatArray | None = None) -> Outcome:
    reason = outcome.stop_reason
    if reason is StopReason.CONVERGED:
        reason = StopReason.NUMERICAL_TROUBLE
    return replace(
        outcome,
        solution_status=SolutionStatus.NOTHING,
        stop_reason=reason,
        objective=np.nan,
        x=None,
        row_activity=None,
        row_dual=None,
        reduced_cost=None,
        basis=None,
        candidate=candidate,
    )


def _stop_reason(outcome: Outcome, optimal: bool) -> StopReason:
    if optimal:
        return StopReason.CONVERGED
    if outcome.stop_reason is StopReason.CONVERGED:
        return StopReason.NUMERICAL_TROUBLE
    return outcome.stop_reason


def _is_rounding(problem: Problem, y: FloatArray | None) -> bool:
    """Whether a ray that came with a claim separates by no more than sums of its parts err by.

    Engines may prove on a reduced model, where cancellation left a contradiction that the model as
    it was given does not have.
    """
    if y is None or problem.is_mip or not np.isfinite(y).all():
        return False
    g = problem.entries.transposed_times(y)
    rounding = ROUNDING * problem.entries.magnitudes.transposed_times(np.abs(y))
    farthest = np.where(g > 0, problem.upper, problem.lower)
    if np.any(~np.isfinite(farthest) & (np.abs(g) > rounding)):
        return False  # a column that may go on for ever: not what is looked for here
    sides = problem.row_lower, problem.row_upper
    if not np.isfinite(np.where(y > 0, *sides)[y != 0]).all():
        return False
    gap, size = separation(sides, (problem.lower, problem.upper), y, g, 0.0)
    return abs(gap) <= ROUNDING * size


def _cleanest(reduced_cost: FloatArray, outcome: Outcome, tolerance: float) -> FloatArray:
    """Prefer the engine's reduced costs, whose zeros are exact, where they are the same."""
    own = outcome.reduced_cost
    if own is None or own.shape != reduced_cost.shape or np.array_equal(own, reduced_cost):
        return reduced_cost
    same = np.abs(own - reduced_cost) <= tolerance * (1.0 + np.abs(reduced_cost))
    cleanest: FloatArray = np.where(same, own, reduced_cost)
    return cleanest
