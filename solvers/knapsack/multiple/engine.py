"""The front door: a model that is a multiple knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.errors import EngineError
from solvers.knapsack.multiple.items import NOWHERE, MultiplePacking
from solvers.knapsack.multiple.recognise import MultipleModel, recognise_multiple
from solvers.knapsack.multiple.search import solve_multiple
from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import Problem
from solvers.progress import Progress

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

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / model.profit_scale, ENGINE)
        progress.bound(at_start - bound / model.profit_scale, ENGINE)

    packing = solve_multiple(model.knapsack, progress, tell=tell)
    if packing.place is None:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            engine=ENGINE,
            message="A knapsack has a negative capacity.",
        )
    return _outcome(problem, model, packing, progress)


def _outcome(
    problem: Problem, model: MultipleModel, packing: MultiplePacking, progress: Progress
) -> Outcome:
    """Return a packing as a point of the model, with the bound in the model's own units."""
    assert packing.place is not None  # the caller has looked
    x = model.point(packing.place)
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
