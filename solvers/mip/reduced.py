"""A reduced problem and the ways between it and the problem as it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.outcome import Outcome
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

Map = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left of a problem to search.

    Parameters
    ----------
    problem : Problem
    to_original : callable
        Maps a point of it to one of the original problem.
    to_reduced : callable, optional
        Maps a point of the original to one of it that may or may not be feasible.
    settled : Outcome, optional
        The answer to the original problem, where reducing found it.
    further : callable, optional
        Reduces the original problem anew and in more time, where time has ended this reduction.
    """

    problem: Problem
    to_original: Map
    to_reduced: Map | None = None
    settled: Outcome | None = None
    further: Callable[[Progress], Reduced] | None = None


def unreduced(problem: Problem) -> Reduced:
    """Return a problem as its own reduction."""

    def itself(x: FloatArray) -> FloatArray:
        return x

    return Reduced(problem, itself, itself)
