"""The points of an outcome: the answer first, then the rest of the pool, best first."""

from __future__ import annotations

import numpy as np

from gpu_bridge.attribution import found_by
from gpu_bridge.outcome import Outcome, PoolSolution, SolutionStatus
from solvers.problem import FloatArray, Problem


def pool_solutions(outcome: Outcome) -> tuple[PoolSolution, ...]:
    """Return the distinct points of an outcome, best first; empty without a verified point.

    The first is always the answer itself, whether the engine kept a pool or not. Integer
    variables have whole values.
    """
    x = outcome.x
    if x is None or not outcome.solution_status.has_point:
        return ()
    key = _key(x, outcome.problem)
    seconds, source = found_by(outcome) or (outcome.seconds, outcome.engine)
    others = []
    for entry in outcome.pool:
        if np.array_equal(_key(entry.x, outcome.problem), key):
            seconds, source = entry.seconds, entry.source
        else:
            x_whole = _whole(entry.x, outcome.problem)
            value = entry.objective + 0.0
            others.append(PoolSolution(x_whole, value, entry.seconds, entry.source))
    return (PoolSolution(x, outcome.objective, seconds, source), *others)


def unverified_point(outcome: Outcome) -> FloatArray | None:
    """Return the approximate or least violated point; None where the verified one is nearest."""
    approximate = outcome.solution_status is SolutionStatus.APPROXIMATE
    return outcome.x if approximate else outcome.candidate


def _key(x: FloatArray, problem: Problem | None) -> FloatArray:
    """Return what tells points apart: the integer variables, all where there are none."""
    if problem is None or not problem.is_mip:
        return x
    return np.rint(x[problem.integrality])


def _whole(x: FloatArray, problem: Problem | None) -> FloatArray:
    return x if problem is None else np.where(problem.integrality, np.rint(x) + 0.0, x)
