"""What every reduction returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.outcome import Outcome
from solvers.problem import Problem

Undo = Callable[[Outcome], Outcome]


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced problem and the way back.

    Parameters
    ----------
    problem : Problem
        What is left to solve.
    undo : callable
        Maps an outcome of ``problem`` to one of the problem it came from.
    settled : Outcome, optional
        The answer to the original problem, when presolve alone found it.
    """

    problem: Problem
    undo: Undo
    settled: Outcome | None = None


def unchanged(problem: Problem) -> Reduction:
    """Return the reduction that does nothing."""
    return Reduction(problem, lambda outcome: outcome)
