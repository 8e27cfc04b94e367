"""What every reduction returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem

Undo = Callable[[Outcome], Outcome]
Forward = Callable[[Start], Start]


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced problem and the way back."""

    problem: Problem
    """What is left to solve."""
    undo: Undo
    """Maps an outcome of ``problem`` to one of the problem it came from."""
    settled: Outcome | None = None
    """The answer to the original problem, when presolve alone found it."""
    forward: Forward | None = None
    """Maps a start of the original problem to one of ``problem``; None where there is no way."""


def unchanged(problem: Problem) -> Reduction:
    """Return the reduction that does nothing."""
    return Reduction(problem, lambda outcome: outcome, forward=lambda start: start)


def completed(problem: Problem, outcome: Outcome) -> Outcome:
    """Return an outcome with what follows from its point and duals, computed on ``problem``."""
    fields: dict[str, Any] = {"row_activity": None, "reduced_cost": None}
    if outcome.x is not None:
        fields["objective"] = problem.objective_at(outcome.x)
        fields["row_activity"] = problem.matrix @ outcome.x
    if outcome.row_dual is not None:
        reduced_cost = problem.matrix.T @ outcome.row_dual
        fields["reduced_cost"] = np.subtract(problem.cost, reduced_cost, out=reduced_cost)
    return replace(outcome, **fields)


def chained(first: Reduction, second: Reduction) -> Reduction:
    """Return two reductions, the second of what the first left, as one.

    Its way back holds what both ways need, and no problem that is left.
    """
    undo_first, undo_second = first.undo, second.undo
    forward: Forward | None = None
    if first.forward is not None and second.forward is not None:
        one, two = first.forward, second.forward

        def forward(start: Start) -> Start:
            return two(one(start))

    settled = None if second.settled is None else first.undo(second.settled)
    return Reduction(
        second.problem, lambda outcome: undo_first(undo_second(outcome)), settled, forward
    )
