"""The front door: a model that is a knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.device import find_device
from solvers.errors import EngineError
from solvers.knapsack.items import Packing
from solvers.knapsack.recognise import KnapsackModel, recognise
from solvers.knapsack.search import solve_knapsack
from solvers.knapsack.tree.solve import solve_by_tree
from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import Problem
from solvers.progress import Progress

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

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / model.profit_scale, ENGINE)
        progress.bound(at_start - bound / model.profit_scale, ENGINE)

    if breadth_first:
        packing = solve_by_tree(
            model.knapsack, find_device(options.device), progress, threads=options.threads
        )
    else:
        packing = solve_knapsack(model.knapsack, progress, tell=tell, device=options.device)
    if packing.x is None:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            engine=ENGINE,
            message="Not even the lightest packing keeps the capacity.",
        )
    return _outcome(problem, model, packing, progress)


def _outcome(
    problem: Problem, model: KnapsackModel, packing: Packing, progress: Progress
) -> Outcome:
    """Return a packing as a point of the model, with the bound in the model's own units."""
    assert packing.x is not None  # the caller has looked
    x = model.point(packing.x)
    objective = problem.objective_at(x)
    reason = StopReason.CONVERGED
    if not packing.is_optimal:
        reason = progress.should_stop() or StopReason.OUT_OF_MEMORY
    missing = (packing.bound - packing.profit) / model.profit_scale
    return Outcome(
        SolutionStatus.OPTIMAL if packing.is_optimal else SolutionStatus.FEASIBLE,
        reason,
        objective=objective,
        bound=objective if packing.is_optimal else np.nextafter(objective - missing, -np.inf),
        x=x,
        row_activity=np.asarray(problem.matrix @ x),
        engine=ENGINE,
        message=f"Proven by: {packing.path}." if packing.is_optimal else "",
        statistics={"states": packing.states},
    )
