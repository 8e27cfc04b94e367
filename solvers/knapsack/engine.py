"""The front door: a model that is a knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.core.device import find_device
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import answer, infeasible, teller
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.recognise import recognise
from solvers.papers.knapsack_branch_and_bound.solve import solve_by_tree

ENGINE = "knapsack"


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    breadth_first: bool = False,
) -> Outcome:
    """Solve a model that :func:`~solvers.knapsack.recognise` takes for a knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``device`` and ``threads`` are read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: a point is no help to the bounds that prove an answer.
    breadth_first : bool
        Use branch and bound as in the paper that this engine began with.

    Raises
    ------
    EngineError
        The model is not a knapsack problem, or its numbers are too large for ``breadth_first``.
    """
    model = recognise(problem)
    if model is None:
        raise EngineError("This model is not a knapsack problem in whole numbers.")
    at_start = problem.objective_at(model.point(np.zeros(problem.num_columns, dtype=np.int64)))
    tell = teller(progress, ENGINE, at_start, model.profit_scale)
    if breadth_first:
        packing = solve_by_tree(
            model.knapsack, find_device(options.device), progress, threads=options.threads
        )
    else:
        packing = solve_knapsack(model.knapsack, progress, tell=tell, device=options.device)
    if packing.x is None:
        return infeasible(ENGINE, "Not even the lightest packing keeps the capacity.")
    return answer(
        problem,
        model.point(packing.x),
        progress,
        engine=ENGINE,
        missing=(packing.bound - packing.profit) / model.profit_scale,
        path=packing.path,
        otherwise=StopReason.OUT_OF_MEMORY,
        statistics={"states": packing.states},
    )
