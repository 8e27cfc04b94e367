"""The front door: a model that is a multiple-choice knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.errors import EngineError
from solvers.knapsack.choice.items import Selection
from solvers.knapsack.choice.recognise import ChoiceModel, recognise_choice
from solvers.knapsack.choice.solve import solve_choice
from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import Problem
from solvers.progress import Progress

ENGINE = "knapsack-choice"


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_choice` takes for a multiple-choice knapsack problem.

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
    model = recognise_choice(problem)
    if model is None:
        raise EngineError("This model is not a multiple-choice knapsack problem in whole numbers.")
    at_start = problem.objective_at(model.start.astype(np.float64))

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / model.profit_scale, ENGINE)
        progress.bound(at_start - bound / model.profit_scale, ENGINE)

    selection = solve_choice(model.choice, progress, tell=tell)
    if selection.chosen is None:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            engine=ENGINE,
            message="Not even the lightest item of each class together keep the capacity.",
        )
    return _outcome(problem, model, selection, progress)


def _outcome(
    problem: Problem, model: ChoiceModel, selection: Selection, progress: Progress
) -> Outcome:
    """Return a selection as a point of the model, with the bound in the model's own units."""
    assert selection.chosen is not None  # the caller has looked
    x = model.point(selection.chosen)
    objective = problem.objective_at(x)
    reason = StopReason.CONVERGED
    if not selection.is_optimal:
        reason = progress.should_stop() or StopReason.OUT_OF_MEMORY
    missing = (selection.bound - selection.profit) / model.profit_scale
    return Outcome(
        SolutionStatus.OPTIMAL if selection.is_optimal else SolutionStatus.FEASIBLE,
        reason,
        objective=objective,
        bound=objective if selection.is_optimal else np.nextafter(objective - missing, -np.inf),
        x=x,
        row_activity=np.asarray(problem.matrix @ x),
        engine=ENGINE,
        message=f"Proven by: {selection.path}." if selection.is_optimal else "",
        statistics={"states": selection.states},
    )
