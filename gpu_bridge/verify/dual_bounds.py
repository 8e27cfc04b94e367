"""Which part of an engine's bound on a mixed-integer program is passed on."""

from __future__ import annotations

import numpy as np

from gpu_bridge.verify.counterexamples import better_point, holds_exactly
from gpu_bridge.verify.magnitudes import unsafe_reason
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome
from solvers.core.problem import FloatArray, Problem

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
