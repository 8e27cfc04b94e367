"""The entry point: a model that is a knapsack problem, solved exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import answer, infeasible, teller
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.recognise import recognise

ENGINE = "knapsack"

Tell = Callable[[int, int], None]
"""Called with profit and bound, both whole numbers."""


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`~solvers.knapsack.recognise` takes for a knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``device`` is read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: a point is no help to the bounds that prove an answer.

    Raises
    ------
    EngineError
        The model is not a knapsack problem.
    """

    def pack(knapsack: Knapsack, tell: Tell) -> Packing:
        return solve_knapsack(knapsack, progress, tell=tell, device=options.device)

    return solve_model(problem, progress, ENGINE, pack)


def solve_model(
    problem: Problem, progress: Progress, engine: str, pack: Callable[[Knapsack, Tell], Packing]
) -> Outcome:
    """Recognise a model, have ``pack`` find a packing, and return it as a point of the model.

    Raises
    ------
    EngineError
        The model is not a knapsack problem.
    """
    model = recognise(problem)
    if model is None:
        raise EngineError("This model is not a knapsack problem in whole numbers.")
    at_start = problem.objective_at(model.point(np.zeros(problem.num_columns, dtype=np.int64)))
    packing = pack(model.knapsack, teller(progress, engine, at_start, model.profit_scale))
    if packing.x is None:
        return infeasible(engine, "Not even the lightest packing keeps the capacity.")
    return answer(
        problem,
        model.point(packing.x),
        progress,
        engine=engine,
        missing=(packing.bound - packing.profit) / model.profit_scale,
        path=packing.path,
        otherwise=StopReason.OUT_OF_MEMORY,
        statistics={"states": packing.states},
    )
