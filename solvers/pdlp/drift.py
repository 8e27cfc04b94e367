"""Where the iterates drift to when there is no solution: candidates for rays, from the device.

The step between successive points, and the distance from the anchor, both tend to a ray of the
dual on an infeasible problem and to one of the primal on an unbounded one (Applegate et al.,
"Infeasibility detection with primal-dual hybrid gradient", 2024). On most problems they tend to
nothing: a look at the scaled problem, where it is, spares the exact test on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.state import Iterate, State

PROMISING = 1e-3
"""Part of its largest entry by which a candidate may still violate what a ray has to obey."""


def dual_drifts(state: State) -> Iterator[Any]:
    """Yield the scaled dual drifts (m,) that look like a Farkas ray."""
    for drift in _drifts(state.y):
        if _may_be_farkas(state, drift):
            yield drift


def primal_drifts(state: State) -> Iterator[Any]:
    """Yield the scaled primal drifts (n,) that look like an improving recession direction."""
    for drift in _drifts(state.x):
        if _may_improve(state, drift):
            yield drift


def _drifts(side: Iterate) -> Iterator[Any]:
    yield side.difference
    yield side.projection - side.anchor


def _may_be_farkas(state: State, drift: Any) -> bool:
    """Whether y'Ax would have to be larger than it can be, nearly."""
    problem, xp = state.problem, state.problem.device.xp
    y = _leaning(drift, problem.row_lower, problem.row_upper, xp)
    g = xp.empty(problem.by_column.rows)
    MATRIX["multiply"](*problem.by_column.arguments, y, g, threads=state.threads)
    supported = _leaning(-g, problem.lower, problem.upper, xp)
    gain = _support(y, problem.row_lower, problem.row_upper, xp)
    gain = gain + _support(supported, problem.lower, problem.upper, xp)
    leftover = _largest(g + supported, xp)
    return bool((gain > 0.0) & (leftover <= PROMISING * _largest(y, xp)))


def _may_improve(state: State, drift: Any) -> bool:
    """Whether one could go on along the drift for ever, nearly, at falling cost."""
    problem, xp = state.problem, state.problem.device.xp
    d = _receding(drift, problem.lower, problem.upper, xp)
    activity = xp.empty(problem.by_row.rows)
    MATRIX["multiply"](*problem.by_row.arguments, d, activity, threads=state.threads)
    allowed = _receding(activity, problem.row_lower, problem.row_upper, xp)
    slope = (problem.cost * d).sum()
    leftover = _largest(activity - allowed, xp)
    return bool((slope < 0.0) & (leftover <= PROMISING * _largest(d, xp)))


def _leaning(multiplier: Any, low: Any, high: Any, xp: Any) -> Any:
    """Return the multipliers without those that lean on an infinite side."""
    return xp.where(xp.isfinite(xp.where(multiplier > 0, low, high)), multiplier, 0.0)


def _receding(direction: Any, low: Any, high: Any, xp: Any) -> Any:
    """Return the directions without those that would run into a finite side."""
    return xp.where(xp.isfinite(xp.where(direction > 0, high, low)), 0.0, direction)


def _support(multiplier: Any, low: Any, high: Any, xp: Any) -> Any:
    side = xp.where(multiplier > 0, low, high)
    return (multiplier * xp.where(multiplier != 0, side, 0.0)).sum()


def _largest(values: Any, xp: Any) -> Any:
    return xp.abs(values).max() if values.size else xp.zeros(())
