"""The entry point: a model that is a multiple knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import answer, infeasible, teller
from solvers.knapsack.multiple.items import NOWHERE
from solvers.knapsack.multiple.pattern_search import solve_multiple
from solvers.knapsack.multiple.recognise import recognise_multiple

ENGINE = "knapsack-multiple"


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_multiple` takes for a multiple knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        Nothing of it is read: the answer is exact, on one thread of the CPU.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: good packings are found early.

    Raises
    ------
    EngineError
        The model is not a multiple knapsack problem.
    """
    model = recognise_multiple(problem)
    if model is None:
        raise EngineError("This model is not a multiple knapsack problem in whole numbers.")
    nothing = np.full(model.knapsack.num_items, NOWHERE, dtype=np.int64)
    at_start = problem.objective_at(model.point(nothing))
    tell = teller(progress, ENGINE, at_start, model.profit_scale)
    packing = solve_multiple(model.knapsack, progress, tell=tell)
    if packing.place is None:
        return infeasible(ENGINE, "A knapsack has a negative capacity.")
    return answer(
        problem,
        model.point(packing.place),
        progress,
        engine=ENGINE,
        missing=(packing.bound - packing.profit) / model.profit_scale,
        path=packing.path,
        otherwise=StopReason.NUMERICAL_TROUBLE,
        statistics={"nodes": packing.nodes},
    )
