"""The points of an outcome, the answer first and then the rest of the pool, and who found them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.outcome import Event, PoolSolution, SolutionStatus
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome

SAME_VALUE = 1e-9
"""Relative difference up to which two objectives are the same value, rounded differently."""


def same_value(one: float, other: float) -> bool:
    """Whether two objectives differ by rounding alone; False where one is NaN."""
    return math.isclose(one, other, rel_tol=SAME_VALUE, abs_tol=SAME_VALUE)


def found_by(outcome: Outcome) -> tuple[float, str] | None:
    """Return when and by whom the point was found; None where the history does not tell."""
    for event, source in improvements(outcome.history):
        same = same_value(event.incumbent, outcome.objective)
        if same and outcome.solution_status.has_point:
            return event.seconds, source
    return None


def improvements(history: Sequence[Event]) -> list[tuple[Event, str]]:
    """Return the events that brought a better incumbent, beyond rounding, and their sources."""
    found: list[tuple[Event, str]] = []
    before = np.nan
    for event in history:
        if np.isfinite(event.incumbent) and not same_value(event.incumbent, before):
            found.append((event, event.source))
            before = event.incumbent
    return found


def pool_solutions(outcome: Outcome) -> tuple[PoolSolution, ...]:
    """Return the distinct points of an outcome, best first; empty without a verified point.

    The first is always the answer itself, whether the engine kept a pool or not. Integer
    variables have whole values.
    """
    x = outcome.x
    if x is None or not outcome.solution_status.has_point:
        return ()
    key = key_of(x, outcome.problem)
    seconds, source = found_by(outcome) or (outcome.seconds, outcome.engine)
    others = []
    for entry in outcome.pool:
        if key_of(entry.x, outcome.problem) == key:
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


def key_of(x: FloatArray, problem: Problem | None) -> bytes:
    """Return what tells points apart: the integer variables, all where there are none."""
    if problem is not None and problem.is_mip:
        x = np.rint(x[problem.integrality])
    return (x + 0.0).tobytes()


def _whole(x: FloatArray, problem: Problem | None) -> FloatArray:
    return x if problem is None else np.where(problem.integrality, np.rint(x) + 0.0, x)
