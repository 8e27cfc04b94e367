"""Points that contradict an engine's claim: plain ones that hold beyond doubt.

A claim of infeasibility is refuted by any point that meets the model, a bound by one that is
better. Points that use the tolerance refute nothing, because an engine may use it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gpu_bridge.verify.residuals import EPS, bound_violations, exact_violation
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
    terms = np.diff(A.indptr)
    error = (terms + 1) * EPS * A.magnitudes.times(np.abs(x))
    low, high = problem.row_lower, problem.row_upper
    if np.any((activity + error < low) | (activity - error > high)):
        return False
    doubt = np.flatnonzero((activity - error < low) | (activity + error > high))
    if terms[doubt].sum() > MOST_IN_DOUBT:
        return False
    return not any(exact_violation(problem, int(i), x) for i in doubt)
