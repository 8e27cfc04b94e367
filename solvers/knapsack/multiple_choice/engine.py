"""The entry point: a model that is a multiple-choice knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import answer, infeasible, teller
from solvers.knapsack.multiple_choice.recognise import recognise_multiple_choice
from solvers.knapsack.multiple_choice.solve import solve_multiple_choice

ENGINE = "knapsack-multiple-choice"


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_multiple_choice` takes for such a knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        Nothing is read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best selection comes with a valid bound.
    start : Start, optional
        Not needed: good selections are found early.

    Raises
    ------
    EngineError
        The model is not a multiple-choice knapsack problem.
    """
    model = recognise_multiple_choice(problem)
    if model is None:
        raise EngineError("This model is not a multiple-choice knapsack problem in whole numbers.")
    at_start = problem.objective_at(model.start.astype(np.float64))
    tell = teller(progress, ENGINE, at_start, model.profit_scale)
    selection = solve_multiple_choice(model.choice, progress, tell=tell)
    if selection.chosen is None:
        return infeasible(ENGINE, "The lightest items of all classes exceed the capacity.")
    return answer(
        problem,
        model.point(selection.chosen),
        progress,
        engine=ENGINE,
        missing=(selection.bound - selection.profit) / model.profit_scale,
        path=selection.path,
        otherwise=StopReason.OUT_OF_MEMORY,
        statistics={"states": selection.states},
    )
