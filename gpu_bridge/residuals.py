"""By how much a point misses what it is to meet, recomputed from a problem and the point alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.options import EngineOptions
from solvers.outcome import Residuals
from solvers.problem import FloatArray, Problem, side_sizes
from solvers.vectors import euclidean

if TYPE_CHECKING:
    from fractions import Fraction

EPS = float(np.finfo(float).eps)

ROUNDINGS = 8
"""Rounding errors of the size of all terms that a sum of products may have."""

MOST_IN_DOUBT = 1_000
"""Rows of a point that are added up without rounding."""


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Row duals with allowed signs, their reduced costs, and the dual objective they prove."""

    row_dual: FloatArray
    reduced_cost: FloatArray
    wrong_sign: FloatArray
    objective: float


def row_violations(problem: Problem, row_activity: FloatArray) -> FloatArray:
    """Return by how much each row (m,) leaves its sides; zero where it holds."""
    below = problem.row_lower - row_activity
    above = row_activity - problem.row_upper
    violations: FloatArray = np.maximum(0.0, np.maximum(below, above))
    return violations


def bound_violations(problem: Problem, x: FloatArray) -> FloatArray:
    """Return by how much each column (n,) leaves its bounds; zero where it holds."""
    violations: FloatArray = np.maximum(0.0, np.maximum(problem.lower - x, x - problem.upper))
    return violations


def integrality_violation(problem: Problem, x: FloatArray) -> float:
    """Return the largest distance of an integer column from an integer."""
    values = x[problem.integrality]
    return float(np.max(np.abs(values - np.round(values)), initial=0.0))


def holds(problem: Problem, x: FloatArray, options: EngineOptions) -> bool:
    """Whether a point (n,) keeps rows, bounds and integrality as an answer has to."""
    return (
        bool(np.isfinite(x).all())
        and integrality_violation(problem, x) <= options.integrality_tolerance
        and largest_relative_violation(problem, x) <= options.tolerance
    )


def largest_relative_violation(problem: Problem, x: FloatArray) -> float:
    """Return the largest violation of any row or bound over max(1, |side that is missed|).

    What a sum of doubles cannot resolve is no violation where continuous columns are in it: there
    may be no doubles that meet the row. Rows of integer columns are added up without rounding.
    """
    activity = problem.entries.times(x)
    rows = row_violations(problem, activity)
    if rows.any():
        rows = np.maximum(0.0, rows - _resolution(problem, x, rows))
    outside = bound_violations(problem, x)
    if not (rows.any() or outside.any()):
        return 0.0
    relative = _over_side(rows, activity, problem.row_lower, problem.row_upper)
    columns = _over_side(outside, x, problem.lower, problem.upper)
    return float(max(np.max(relative, initial=0.0), np.max(columns, initial=0.0)))


def _resolution(problem: Problem, x: FloatArray, violation: FloatArray) -> FloatArray:
    """Return what rounding may make of the violation of each row (m,)."""
    size = problem.entries.magnitudes
    rounding: FloatArray = ROUNDINGS * EPS * size.times(np.abs(x))
    whole = problem.integrality & (x == np.round(x))
    in_doubt = np.flatnonzero((violation > 0) & (violation <= rounding))
    if not whole.any() or not in_doubt.size:
        return rounding
    continuous = ROUNDINGS * EPS * size.times(np.where(whole, 0.0, np.abs(x)))
    for i in in_doubt[:MOST_IN_DOUBT].tolist():
        outside = float(exact_violation(problem, i, x))
        rounding[i] = violation[i] - max(0.0, outside - continuous[i])
    return rounding


def exact_violation(problem: Problem, row: int, x: FloatArray) -> Fraction:
    """Return by how much a row leaves its sides, without a rounding error."""
    from fractions import Fraction  # seldom needed

    A = problem.entries
    part = slice(A.indptr[row], A.indptr[row + 1])
    pairs = zip(A.data[part].tolist(), x[A.indices[part]].tolist(), strict=True)
    activity = sum((Fraction(a) * Fraction(v) for a, v in pairs if v), Fraction(0))
    low, high = float(problem.row_lower[row]), float(problem.row_upper[row])
    if activity < low:
        return Fraction(low) - activity
    return activity - Fraction(high) if activity > high else Fraction(0)


def dual_point(problem: Problem, row_dual: FloatArray) -> DualPoint:
    """Clip the row duals to their allowed signs and price the columns with them.

    ``wrong_sign`` is the part of each reduced cost that no bound supports; the dual objective
    leaves it out.
    """
    y = np.where(np.isfinite(problem.row_lower), row_dual, np.minimum(row_dual, 0.0))
    y = np.where(np.isfinite(problem.row_upper), y, np.maximum(y, 0.0))
    z = problem.cost - problem.entries.transposed_times(y)
    supported = np.where(np.isfinite(problem.lower), z, np.minimum(z, 0.0))
    supported = np.where(np.isfinite(problem.upper), supported, np.maximum(supported, 0.0))
    value = _support(y, problem.row_lower, problem.row_upper)
    value += _support(supported, problem.lower, problem.upper)
    return DualPoint(y, z, z - supported, value + problem.offset)


def lp_residuals(
    problem: Problem,
    x: FloatArray,
    dual: DualPoint | None,
    row_activity: FloatArray | None = None,
) -> Residuals:
    """Return all residuals of a primal point and, where given, a dual point.

    ``row_activity`` (m,) is A x, where the caller has computed it.
    """
    activity = problem.entries.times(x) if row_activity is None else row_activity
    rows = row_violations(problem, activity)
    columns = bound_violations(problem, x)
    sides = side_sizes(problem.row_lower, problem.row_upper)
    primal_norm = float(np.sqrt(np.sum(rows**2) + np.sum(columns**2)))
    primal = float(max(np.max(rows, initial=0.0), np.max(columns, initial=0.0)))
    primal_relative = primal_norm / (1.0 + euclidean(sides))
    if dual is None:
        return Residuals(primal, primal_relative, integrality=0.0)
    dual_norm = euclidean(dual.wrong_sign)
    objective = problem.objective_at(x)
    gap = abs(objective - dual.objective)
    return Residuals(
        primal=primal,
        primal_relative=primal_relative,
        integrality=0.0,
        dual=float(np.max(np.abs(dual.wrong_sign), initial=0.0)),
        dual_relative=dual_norm / (1.0 + euclidean(problem.cost)),
        gap=gap,
        gap_relative=gap / (1.0 + abs(objective) + abs(dual.objective)),
    )


def _over_side(
    violation: FloatArray, values: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Divide violations by the sizes of the sides that are missed, not of those opposite."""
    relative: FloatArray = violation / np.maximum(1.0, np.abs(np.where(values < low, low, high)))
    return relative


def _support(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of multiplier times the side it leans on; zero multipliers lean on none."""
    side = np.where(multiplier > 0, low, high)
    leaning = multiplier != 0
    return float(np.sum(multiplier[leaning] * side[leaning]))
