"""Points that refute an engine's claim, and which part of its bound is passed on.

A claim of infeasibility is refuted by any point that meets the model beyond doubt, a bound by one
that is better. Points that use the tolerance refute nothing, because an engine may use it
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gpu_bridge.verify.residuals import EPS, bound_violations, exact_violation, unsafe_reason
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome
from solvers.core.problem import FloatArray, Problem

MOST_IN_DOUBT = 100_000
"""Entries of rows that are added up in rational numbers, a microsecond each."""


def refuting_point(problem: Problem, points: Iterable[FloatArray | None] = ()) -> FloatArray | None:
    """Return a point (n,) that meets the model exactly, among plain ones and those given."""
    found = (x for x in (*points, *plain_points(problem)) if x is not None)
    return next((x for x in found if holds_exactly(problem, x)), None)


def better_point(problem: Problem, bound: float, room: float) -> FloatArray | None:
    """Return a plain point (n,) that is exact and better than a bound by more than ``room``."""
    for x in plain_points(problem):
        if problem.objective_at(x) < bound - room and holds_exactly(problem, x):
            return x
    return None


def plain_points(problem: Problem) -> Iterator[FloatArray]:
    """Return zero, both ends of the bounds and that which the objective wants, integers whole."""
    whole = problem.integrality
    lower = np.where(whole, np.ceil(problem.lower), problem.lower)
    upper = np.where(whole, np.floor(problem.upper), problem.upper)
    zero = np.clip(0.0, lower, upper)
    low = np.where(np.isfinite(lower), lower, zero)
    high = np.where(np.isfinite(upper), upper, zero)
    yield zero
    yield np.where(problem.cost < 0, high, low)
    yield low
    yield high


def holds_exactly(problem: Problem, x: FloatArray) -> bool:
    """Whether a point (n,) meets all bounds, rows and integrality without a rounding error."""
    if x.shape != (problem.num_columns,) or not np.isfinite(x).all():
        return False
    whole = x[problem.integrality]
    if bound_violations(problem, x).any() or (whole != np.round(whole)).any():
        return False
    A = problem.entries
    activity = A.times(x)
    low, high = problem.row_lower, problem.row_upper
    miss = float(np.max(np.maximum(low - activity, activity - high), initial=0.0))
    most = A.size_range[1] * float(np.abs(x).sum())
    if miss > 2.0 * (x.size + 1) * EPS * most:  # more than the error of any row
        return False
    terms = np.diff(A.indptr)
    error = (terms + 1) * EPS * A.magnitudes_times(np.abs(x))
    if np.any((activity + error < low) | (activity - error > high)):
        return False
    doubt = np.flatnonzero((activity - error < low) | (activity + error > high))
    if terms[doubt].sum() > MOST_IN_DOUBT:
        return False
    return not any(exact_violation(problem, int(i), x) for i in doubt)


BOUND_AGREEMENT = 1e-9
"""Objectives and bounds that agree to this are the same number up to rounding."""

BOUND_SLACK = 1e-6
"""Part of a step between objectives that a bound may be too large by, whatever its size."""

LARGEST_WHOLE = 2.0**53
"""Doubles up to this hold every whole number."""


def trusted_bound(
    problem: Problem,
    outcome: Outcome,
    x: FloatArray,
    objective: float,
    options: EngineOptions,
) -> tuple[float, str]:
    """Return the bound that is passed on, and why it is none although there was one.

    A bound above a verified point by no more than the gap is rounding in the prover, or the
    tolerance that the point uses, and proves this point at most.
    """
    if not np.isfinite(outcome.bound) and not outcome.is_exact:
        return outcome.bound, ""
    room = max(options.abs_gap, options.rel_gap * abs(objective), 1e-6 * (1.0 + abs(objective)))
    refuted = outcome.bound > objective + room and holds_exactly(problem, x)
    if refuted or better_point(problem, outcome.bound, room) is not None:
        return -np.inf, "The engine's bound is refuted by a point that is better than it."
    if not outcome.is_exact:
        doubt = unsafe_reason(problem)
        if doubt:
            return -np.inf, f"The bound is not trusted. {doubt}"
    return min(rounded_bound(problem, outcome.bound), objective), ""


def rounded_bound(problem: Problem, bound: float) -> float:
    """Return the least objective not below a bound, where objectives are whole multiples.

    They are where all columns with costs are integer and their costs whole numbers.
    """
    priced = problem.cost != 0
    cost = np.abs(problem.cost[priced])
    if not np.isfinite(bound) or not cost.size or not problem.integrality[priced].all():
        return bound
    if cost.max() > LARGEST_WHOLE or (cost != np.round(cost)).any():
        return bound
    step = float(np.gcd.reduce(cost.astype(np.int64)))
    count = (bound - problem.offset) / step
    slack = max(BOUND_SLACK, BOUND_AGREEMENT * abs(count))
    return bound if slack > 0.1 else float(np.ceil(count - slack)) * step + problem.offset
