"""The entry point: a model that is a knapsack problem of any kind, solved exactly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Proof, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.items import Model, Packing
from solvers.knapsack.kinds import Kind, find_kind

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


Tell = Callable[[int, int], None]
"""Called with profit and bound, both whole numbers."""


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that is a knapsack problem of some kind.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``device`` and ``threads`` are read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: good packings are found early, and a point is no help to the bounds.

    Raises
    ------
    EngineError
        The model is not a knapsack problem.
    """
    found = find_kind(problem)
    if found is None:
        raise EngineError("This model is not a knapsack problem in whole numbers.")
    kind, model = found

    def pack(tell: Tell) -> Packing:
        read = {name: getattr(options, name) for name in kind.reads}
        return kind.solve(model.knapsack, progress, tell=tell, **read)

    return solve_model(problem, model, kind, progress, pack)


def solve_model(
    problem: Problem,
    model: Model[Any],
    kind: Kind,
    progress: Progress,
    pack: Callable[[Tell], Packing],
) -> Outcome:
    """Have ``pack`` find a packing, and return it as a point of the model with its bound."""
    at_start = problem.objective_at(model.nothing)

    def tell(profit: int, bound: int) -> None:
        progress.incumbent(at_start - profit / model.profit_scale, kind.engine)
        progress.bound(at_start - bound / model.profit_scale, kind.engine)

    packing = pack(tell)
    if packing.x is None:
        return Outcome(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            proof=Proof.EXACT,
            engine=kind.engine,
            message=packing.path,
        )
    x = model.point(packing.x)
    objective = problem.objective_at(x)
    proven = packing.is_optimal
    bound = objective - (packing.bound - packing.profit) / model.profit_scale
    return Outcome(
        SolutionStatus.OPTIMAL if proven else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if proven else progress.should_stop() or kind.gives_up,
        objective=objective,
        bound=objective if proven else float(np.nextafter(bound, -np.inf)),
        x=x,
        row_activity=problem.entries.times(x),
        proof=Proof.EXACT,
        engine=kind.engine,
        message=f"Proven by: {packing.path}." if proven else "",
        statistics={kind.counted: packing.work},
    )
