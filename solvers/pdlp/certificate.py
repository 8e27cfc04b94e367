"""Proofs that there is no solution, or no end to the improvement: rays, checked exactly.

A candidate is believed only if it passes on the ORIGINAL data, in float64 on the CPU, by a
margin that rounding cannot fake; otherwise nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.rays import proves_infeasible, proves_unbounded
from solvers.pdlp.ray_candidates import dual_drifts, primal_drifts
from solvers.pdlp.state import State

NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a candidate below these parts of its largest are tried as zeros."""


def find_dual_ray(state: State) -> FloatArray | None:
    """Return a proven Farkas ray (m,) of the original problem from the dual drift, or None."""
    problem = state.problem.original
    for drift in dual_drifts(state):
        for cleaned in _cleaned(drift):
            if proves_infeasible(problem, cleaned):
                return cleaned
    return None


def find_primal_ray(state: State) -> FloatArray | None:
    """Return a proven improving recession direction (n,) from the primal drift, or None."""
    problem = state.problem.original
    for drift in primal_drifts(state):
        ray = np.clip(
            drift,
            np.where(np.isfinite(problem.lower), 0.0, -np.inf),
            np.where(np.isfinite(problem.upper), 0.0, np.inf),
        )
        for cleaned in _cleaned(ray):
            if proves_unbounded(problem, cleaned):
                return cleaned
    return None


def _cleaned(ray: FloatArray) -> Iterator[FloatArray]:
    """Yield the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return
    ray = ray / largest
    for level in NOISE_LEVELS:
        yield np.where(np.abs(ray) > level, ray, 0.0)
