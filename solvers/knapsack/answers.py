"""What the knapsack engines share: a look at the clock, profits told and packings answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from solvers.core.outcome import Outcome, Proof, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

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
