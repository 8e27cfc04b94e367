"""Every point of a small box of whole numbers looked at, in integers of any size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from solvers.core.problem import Problem
from tests.properties.exact import Exact, Truth, whole_bounds

MOST_POINTS = 20_000
SAFE = 2**62
"""Sums below this are computed in 64 bits."""

Whole = npt.NDArray[np.int64] | npt.NDArray[np.object_]


def enumerate_points(problem: Problem) -> Exact | None:
    """Return the exact answer; None where columns are continuous or points too many."""
    if not problem.integrality.all() or not problem.num_columns:
        return None
    lower, upper = whole_bounds(problem)
    if (lower > upper).any():
        return Exact(Truth.INFEASIBLE)
    count = np.prod(upper - lower + 1.0)
    if not np.isfinite(upper - lower).all() or count > MOST_POINTS:
        return None
    sizes = [int(b) - int(a) + 1 for a, b in zip(lower, upper, strict=True)]
    steps = np.indices(sizes).reshape(len(sizes), -1)
    points = steps.astype(object) + np.array([[int(a)] for a in lower], dtype=object)
    return _best(problem, points, _allowed(problem, points))


def _allowed(problem: Problem, points: Whole) -> npt.NDArray[np.bool_]:
    allowed = np.ones(points.shape[1], dtype=bool)
    rows = problem.matrix.toarray().tolist()
    sides = zip(problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True)
    for row, (a, b) in zip(rows, sides, strict=True):
        finite = [side for side in (a, b) if math.isfinite(side)]
        scale = _scale([*row, *finite])
        activity = _products([int(Fraction(value) * scale) for value in row], points)
        if math.isfinite(a):
            allowed &= np.asarray(activity >= int(Fraction(a) * scale), dtype=bool)
        if math.isfinite(b):
            allowed &= np.asarray(activity <= int(Fraction(b) * scale), dtype=bool)
    return allowed


def _best(problem: Problem, points: Whole, allowed: npt.NDArray[np.bool_]) -> Exact:
    if not allowed.any():
        return Exact(Truth.INFEASIBLE)
    scale = _scale(problem.cost.tolist())
    costs = _products([int(Fraction(c) * scale) for c in problem.cost.tolist()], points)
    possible = np.flatnonzero(allowed)
    best = int(possible[np.argmin(costs[possible])])
    objective = Fraction(int(costs[best]), scale) + Fraction(problem.offset)
    return Exact(Truth.OPTIMAL, objective, tuple(Fraction(int(v)) for v in points[:, best]))


def _products(row: list[int], points: Whole) -> Whole:
    """Return the row times each point, in 64 bits where no sum can leave them."""
    largest = int(np.abs(points).max(initial=0))
    if sum(map(abs, row)) * max(largest, 1) < SAFE:
        return np.array(row, dtype=np.int64) @ points.astype(np.int64)
    return np.array(row, dtype=object) @ points


def _scale(values: Iterable[float]) -> int:
    return math.lcm(1, *(Fraction(value).denominator for value in values))
