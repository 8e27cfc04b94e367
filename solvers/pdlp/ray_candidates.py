"""Where the iterates drift to when there is no solution: candidates for rays.

The step between successive points, and the distance from the anchor, both tend to a ray of the
dual on an infeasible problem and to one of the primal on an unbounded one (Applegate et al.,
"Infeasibility detection with primal-dual hybrid gradient", 2024). So does the direction of a point
that has run far away, which tells even when the weight has changed since and steps beside so large
a point are lost in its rounding. On most problems they tend to nothing: a rough look at them spares
the exact test.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import inner
from solvers.pdlp.state import State

PROMISING = 1e-3
"""Part of its largest entry by which a candidate may still violate what a ray has to obey."""


def dual_drifts(state: State) -> Iterator[FloatArray]:
    """Yield the dual drifts (m,) that look like a Farkas ray, on the host."""
    problem, y = state.problem, state.y
    point = problem.rows_to_host(y.projection)
    for drift in (
        problem.rows_to_host(y.difference),
        point - problem.rows_to_host(y.anchor),
        point,
    ):
        if _may_be_farkas(problem.original, drift):
            yield drift


def primal_drifts(state: State) -> Iterator[FloatArray]:
    """Yield the primal drifts (n,) that look like an improving recession direction."""
    problem, x = state.problem, state.x
    point = problem.columns_to_host(x.projection)
    for drift in (
        problem.columns_to_host(x.difference),
        point - problem.columns_to_host(x.anchor),
        point,
    ):
        if _may_improve(problem.original, drift):
            yield drift


def _may_be_farkas(problem: Problem, drift: FloatArray) -> bool:
    """Whether y'Ax would have to be larger than it can be, nearly."""
    y = _leaning(drift, problem.row_lower, problem.row_upper)
    g = problem.matrix.T @ y
    supported = _leaning(-g, problem.lower, problem.upper)
    gain = _support(y, problem.row_lower, problem.row_upper)
    gain += _support(supported, problem.lower, problem.upper)
    return gain > 0.0 and _largest(g + supported) <= PROMISING * _largest(y)


def _may_improve(problem: Problem, drift: FloatArray) -> bool:
    """Whether one could go on along the drift for ever, nearly, at falling cost."""
    d = _receding(drift, problem.lower, problem.upper)
    if not inner(problem.cost, d) < 0.0:
        return False
    activity = problem.matrix @ d
    allowed = _receding(activity, problem.row_lower, problem.row_upper)
    return _largest(activity - allowed) <= PROMISING * _largest(d)


def _leaning(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the multipliers without those that lean on an infinite side."""
    return np.where(np.isfinite(np.where(multiplier > 0, low, high)), multiplier, 0.0)


def _receding(direction: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the directions without those that would run into a finite side."""
    return np.where(np.isfinite(np.where(direction > 0, high, low)), 0.0, direction)


def _support(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the sum of multipliers times the sides they lean on."""
    leaning = multiplier != 0
    side = np.where(multiplier > 0, low, high)
    return inner(multiplier[leaning], side[leaning])


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values), initial=0.0))
