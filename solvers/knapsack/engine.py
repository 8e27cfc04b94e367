"""The entry point: a model that is a knapsack problem, solved exactly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Proof, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.recognise import recognise

# What the knapsack engines share: a look at the clock, profits told and packings answered.


LOOK = 0.05
"""Seconds between two looks at the clock."""


@contextmanager
def alarm(progress: Progress, ring: Callable[[], None]) -> Iterator[None]:
    """Call ``ring`` once, from another thread, if ``progress`` says stop inside the block.

    The time until then is seldom much longer than ``LOOK``.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK):
            if progress.should_stop() is not None:
                ring()
                return

    watcher = threading.Thread(target=watch, name="knapsack alarm", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def teller(
    progress: Progress, engine: str, at_start: float, profit_scale: float
) -> Callable[[int, int], None]:
    """Return what tells profits and bounds in whole numbers as objectives of the model.

    Parameters
    ----------
    progress : Progress
    engine : str
        Its name.
    at_start : float
        The model's objective where nothing is packed.
    profit_scale : float
        Units of profit in one unit of the objective.
    """

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / profit_scale, engine)
        progress.bound(at_start - bound / profit_scale, engine)

    return tell


def infeasible(engine: str, message: str) -> Outcome:
    """Return that no packing fits, and why."""
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.EXACT,
        engine=engine,
        message=message,
    )


def answer(
    problem: Problem,
    x: FloatArray,
    progress: Progress,
    *,
    engine: str,
    missing: float,
    path: str,
    otherwise: StopReason,
    statistics: dict[str, int],
) -> Outcome:
    """Return a packing as a point of the model, with its bound.

    Parameters
    ----------
    problem : Problem
    x : (n,) float64
        The packing as a point of it.
    progress : Progress
        Says why a search ended that proved nothing; ``otherwise`` if it knows nothing.
    engine : str
        Its name.
    missing : float
        How far the bound is above the profit, in the units of the objective; 0 is a proof.
    path : str
        What the proof rests on.
    otherwise : StopReason
    statistics : dict
    """
    objective = problem.objective_at(x)
    proven = missing == 0.0
    return Outcome(
        SolutionStatus.OPTIMAL if proven else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if proven else progress.should_stop() or otherwise,
        objective=objective,
        bound=objective if proven else float(np.nextafter(objective - missing, -np.inf)),
        x=x,
        row_activity=np.asarray(problem.matrix @ x),
        proof=Proof.EXACT,
        engine=engine,
        message=f"Proven by: {path}." if proven else "",
        statistics=statistics,
    )


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
