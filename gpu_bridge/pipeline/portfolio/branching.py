"""A few branching decisions that part a model: on columns that its relaxation leaves undecided."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from gpu_bridge.options import Options
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress

UNDECIDED = 1e-3
"""Distance from a whole number from which a column counts as undecided."""

Bounds = tuple[int, float, float]
"""A column, and the bounds that a decision leaves it."""


def part(problem: Problem, depth: int, options: Options, progress: Progress) -> list[list[Bounds]]:
    """Return decisions that part a problem: every point keeps those of one of the parts.

    They are on the columns that are farthest from whole in the solution of the relaxation, weighted
    by their entries: both sides of such a decision change much.

    Returns
    -------
    list of list of Bounds
        2 to the power of ``depth`` parts; none where so many columns are not undecided, or where
        the relaxation was not solved.
    """
    from solvers import highs

    root = highs.solve(problem.relaxation(), options, progress)
    if root.x is None or root.solution_status is not SolutionStatus.OPTIMAL:
        return []
    distance = np.where(problem.integrality, np.abs(root.x - np.rint(root.x)), 0.0)
    score = distance * problem.columns.lengths
    columns = np.argsort(-score, kind="stable")[:depth]
    if columns.size < depth or distance[columns].min() < UNDECIDED:
        return []
    sides = [_sides(problem, int(j), float(root.x[j])) for j in columns]
    return [list(chosen) for chosen in product(*sides)]


def _sides(problem: Problem, column: int, value: float) -> tuple[Bounds, Bounds]:
    below = float(np.floor(value))
    down = (column, float(problem.lower[column]), below)
    return down, (column, below + 1.0, float(problem.upper[column]))


def within(problem: Problem, decisions: Sequence[Bounds]) -> Problem:
    """Return the part of a problem that some decisions leave."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    for column, low, high in decisions:
        lower[column], upper[column] = low, high
    return Problem.from_canonical(
        cost=problem.cost.copy(),
        matrix=problem.entries,
        row_lower=problem.row_lower.copy(),
        row_upper=problem.row_upper.copy(),
        lower=lower,
        upper=upper,
        integrality=problem.integrality.copy(),
        offset=problem.offset,
        maximize=problem.maximize,
        name=problem.name,
    )
