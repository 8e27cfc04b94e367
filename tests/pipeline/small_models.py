"""Small models that a brief solve settles, and what says nothing of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem

INF = np.inf

LP = Problem.from_arrays([-1.0, -2.0], [[1.0, 1.0], [1.0, -1.0]], -INF, [4.0, 2.0], upper=3.0)
MIP = Problem.from_arrays(
    [3.0, 4.0, 2.0],
    [[2.0, 3.0, 1.0], [1.0, -2.0, 0.0]],
    [-INF, 0.0],
    [4.0, INF],
    upper=1.0,
    integrality=True,
    maximize=True,
)
INFEASIBLE = Problem.from_arrays(
    [1.0, 1.0], [[1.0, 1.0], [1.0, -1.0]], [9.0, 0.0], [INF, 0.0], upper=3.0
)
UNBOUNDED = Problem.from_arrays([-1.0, 0.0], [[1.0, -1.0], [0.0, 1.0]], [-INF, 1.0], [4.0, INF])
NOTHING = Outcome(SolutionStatus.NOTHING, StopReason.ITERATION_LIMIT)


def as_integer(problem: Problem) -> Problem:
    """Return the same problem with whole columns."""
    return replace(problem, integrality=np.ones(problem.num_columns, dtype=bool))
