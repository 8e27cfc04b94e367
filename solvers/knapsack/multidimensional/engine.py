"""The entry point: a model that is a multidimensional knapsack problem, solved exactly."""

from __future__ import annotations

import numpy as np

from solvers.core.device import Device, find_device
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import answer, infeasible, teller
from solvers.knapsack.multidimensional.recognise import recognise_multidimensional
from solvers.knapsack.multidimensional.tree_search import solve_multidimensional

ENGINE = "knapsack-multidimensional"

GPU_WALKERS = False
"""Whether ``device='auto'`` uses a GPU that is there. A GPU that is asked for is used.

It has replicas only. Searches below thousands of nodes at a time gained nothing on an H200: a proof
with 60 items and 10 rows took 4.4 s and 250 million nodes where the trees alone needed 0.5 s and
94,000, whose bounds are linear relaxations."""


def walkers_device(wanted: str) -> Device | None:
    """Return the GPU for replicas, or None to use the CPU alone."""
    if wanted == "cpu" or (wanted == "auto" and not GPU_WALKERS):
        return None
    device = find_device(wanted)
    return device if device.kind == "cuda" else None


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_multidimensional` takes for such a problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``threads`` and ``device`` are read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best packing comes with a valid bound.
    start : Start, optional
        Not needed: good packings are found early.

    Raises
    ------
    EngineError
        The model is not a multidimensional knapsack problem.
    """
    model = recognise_multidimensional(problem)
    if model is None:
        raise EngineError("This model is not a multidimensional knapsack problem in whole numbers.")
    nothing = np.zeros(model.knapsack.num_items, dtype=np.bool_)
    at_start = problem.objective_at(model.point(nothing))
    tell = teller(progress, ENGINE, at_start, model.profit_scale)
    device = walkers_device(options.device)
    threads = options.threads
    packing = solve_multidimensional(
        model.knapsack, progress, tell=tell, threads=threads, device=device
    )
    if packing.x is None:
        return infeasible(ENGINE, "Not even the lightest packing keeps the capacities.")
    return answer(
        problem,
        model.point(packing.x),
        progress,
        engine=ENGINE,
        missing=(packing.bound - packing.profit) / model.profit_scale,
        path=packing.path,
        otherwise=StopReason.NUMERICAL_TROUBLE,
        statistics={"nodes": packing.nodes},
    )
