"""Local search around a pump's points, on the CPU."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.neighbourhood import Search
from solvers.mip.heuristics.local_search.cpu.walker import Walker
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Pool

SLICE = 1_000_000
"""Entries visited between two looks at the budget: some milliseconds."""

WEIGHTS_KEPT = 0.1
"""Part of the rows' weights that the next search starts with: what was hard before is likely to
be hard again (cuOpt divides them by ten at a restart)."""


def by_walker(model: MipModel, seed: int = 0, pool: Pool | None = None) -> Search:
    """Return a local search for one pump.

    Parameters
    ----------
    model : MipModel
    seed : int
        Of the walker.
    pool : Pool, optional
        The walker looks for points better than the best of them.
    """
    walkers: list[Walker] = []  # made at the first search, which allocates

    def search(x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        if not walkers:
            walkers.append(Walker(model, seed=seed))
        walker = walkers[0]
        walker.start(x, weights=WEIGHTS_KEPT)
        while not budget.spent():
            work = int(min(SLICE, max(1.0, budget.work_left)))
            report = walker.run(work, np.inf if pool is None else pool.objective)
            budget.charge(report.work)
            if report.x is not None:
                return report.x, True
            if report.stale or not report.work:
                break
        return walker.least_violated[0], False

    return search
