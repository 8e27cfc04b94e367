"""The front door: a model that is a multidimensional knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.errors import EngineError
from solvers.knapsack.rows.items import RowsPacking
from solvers.knapsack.rows.recognise import RowsModel, recognise_rows
from solvers.knapsack.rows.search import solve_rows
from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import Problem
from solvers.progress import Progress

ENGINE = "knapsack-rows"


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_rows` takes for a multidimensional knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``threads`` is read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: good packings are found early.

    Raises
    ------
    EngineError
        The model is not a multidimensional knapsack problem.
    """
    model = recognise_rows(problem)
    if model is None:
        raise EngineError("This model is not a multidimensional knapsack problem in whole numbers.")
    nothing = np.zeros(model.knapsack.num_items, dtype=np.bool_)
    at_start = problem.objective_at(model.point(nothing))

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / model.profit_scale, ENGINE)
        progress.bound(at_start - bound / model.profit_scale, ENGINE)

    packing = solve_rows(model.knapsack, progress, tell=tell, threads=options.threads)
    if packing.x is None:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            engine=ENGINE,
            message="Not even the lightest packing keeps the capacities.",
        )
    return _outcome(problem, model, packing, progress)


def _outcome(
    problem: Problem, model: RowsModel, packing: RowsPacking, progress: Progress
) -> Outcome:
    """Return a packing as a point of the model, with the bound in the model's own units."""
    assert packing.x is not None  # the caller has looked
    x = model.point(packing.x)
    objective = problem.objective_at(x)
    reason = StopReason.CONVERGED
    if not packing.is_optimal:
        reason = progress.should_stop() or StopReason.NUMERICAL_TROUBLE
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
        statistics={"nodes": packing.nodes},
    )
