"""Certificates that there is no solution, or no end to the improvement: rays, checked exactly.

Candidates are where the iterates move to when there is no solution. The step between successive
points, and the distance from the anchor, both tend to a ray of the dual on an infeasible problem
and to one of the primal on an unbounded one (Applegate et al., "Infeasibility detection with
primal-dual hybrid gradient", 2024). So does the direction of a point that has run far away, which
tells even when the weight has changed since and steps beside so large a point are lost in its
rounding. On most problems they tend to nothing: a rough look at them spares the exact test.

A candidate is believed only if it passes on the ORIGINAL data, in float64 on the CPU, by a
margin that rounding cannot fake; otherwise nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray, Problem
from solvers.core.rays import cleaned, proves_infeasible, proves_unbounded
from solvers.core.vectors import inner
from solvers.pdlp.settings import CertificateSettings
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record

PROMISING = 1e-3
"""Part of its largest entry by which a candidate may still violate what a ray has to obey."""


@dataclass(eq=False)
class CertificateSchedule:
    """Decides when to look for a certificate.

    ``error_then`` is the error when a look was due last, and before that of the first block.
    """

    settings: CertificateSettings
    error_then: float = math.inf

    def __post_init__(self) -> None:
        self._next_look: float = self.settings.from_iterations

    def is_due(self, record: Record) -> bool:
        """Record a check's error; return whether to look now."""
        error, iterations = record.statistics.worst, record.iterations
        if math.isinf(self.error_then):
            self.error_then = error
        if iterations < self._next_look:
            return False
        self._next_look = iterations * self.settings.growth
        hopeful = max(self.settings.error, self.settings.progress * self.error_then)
        self.error_then = error
        return not (error < hopeful and iterations < self.settings.always_from)


def find_dual_ray(state: State) -> FloatArray | None:
    """Return a proven Farkas ray (m,) of the original problem from the dual iterates, or None."""
    problem = state.problem.original
    for candidate in dual_ray_candidates(state):
        for candidate_ray in cleaned(candidate):
            if proves_infeasible(problem, candidate_ray):
                return candidate_ray
    return None


def find_primal_ray(state: State) -> FloatArray | None:
    """Return a proven improving recession direction (n,) from the primal ones, or None."""
    problem = state.problem.original
    for candidate in primal_ray_candidates(state):
        ray = np.clip(
            candidate,
            np.where(np.isfinite(problem.lower), 0.0, -np.inf),
            np.where(np.isfinite(problem.upper), 0.0, np.inf),
        )
        for candidate_ray in cleaned(ray):
            if proves_unbounded(problem, candidate_ray):
                return candidate_ray
    return None


def dual_ray_candidates(state: State) -> Iterator[FloatArray]:
    """Yield candidates (m,) of the dual iterates that look like a Farkas ray, on the host."""
    problem, y = state.problem, state.y
    point = problem.rows_to_host(y.projection)
    for candidate in (
        problem.rows_to_host(y.difference),
        point - problem.rows_to_host(y.anchor),
        point,
    ):
        if _may_be_farkas(problem.original, candidate):
            yield candidate


def primal_ray_candidates(state: State) -> Iterator[FloatArray]:
    """Yield candidates (n,) of the primal iterates that look like improving directions."""
    problem, x = state.problem, state.x
    point = problem.columns_to_host(x.projection)
    for candidate in (
        problem.columns_to_host(x.difference),
        point - problem.columns_to_host(x.anchor),
        point,
    ):
        if _may_improve(problem.original, candidate):
            yield candidate


def _may_be_farkas(problem: Problem, candidate: FloatArray) -> bool:
    """Whether y'Ax would have to be larger than it can be, nearly."""
    y = _leaning(candidate, problem.row_lower, problem.row_upper)
    g = problem.matrix.T @ y
    supported = _leaning(-g, problem.lower, problem.upper)
    gain = _support(y, problem.row_lower, problem.row_upper)
    gain += _support(supported, problem.lower, problem.upper)
    return gain > 0.0 and _largest(g + supported) <= PROMISING * _largest(y)


def _may_improve(problem: Problem, candidate: FloatArray) -> bool:
    """Whether one could go on along the direction for ever, nearly, at falling cost."""
    d = _receding(candidate, problem.lower, problem.upper)
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
