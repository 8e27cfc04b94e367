"""Local search from the points of a pump, within its share of the time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walker import Walker
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import SLICE, Budget
from solvers.mip.solutions.pool import Pool

Search = Callable[[FloatArray, Budget], tuple[FloatArray, bool]]
"""Takes a point (n,) and what it may spend; returns the best point it saw, and whether that is
feasible."""

NEAR_SHARE = 0.2
"""Part of the time of projection and rounding that is spent around each rounded point
(arXiv 2510.20499, section 2.5)."""

LONG_SECONDS, LONG_WORK = 3.0, 6e8
"""What a search that is to leave a circle may spend."""

LONG_SHARE = 0.3
"""Part of the pump's time that such searches may take together."""

SHORTEST, LEAST_WORK = 1e-3, 1e5
"""No search for less than this."""


class Neighbourhood:
    """A local search, if there is one, and its account."""

    def __init__(self, search: Search | None = None) -> None:
        self._search = search
        self._spent = 0.0
        self._elapsed = 0.0

    @property
    def is_there(self) -> bool:
        """Whether there is a search at all."""
        return self._search is not None

    def account(self, effort: float) -> None:
        """Take down seconds, or work, that the pump spent otherwise."""
        self._elapsed += effort

    def near(self, x: FloatArray, budget: Budget, effort: float) -> tuple[FloatArray, bool]:
        """Search around a rounded point for a share of the effort that led to it."""
        share = NEAR_SHARE * effort
        if budget.is_timed:
            return self._run(x, budget.part(max(share, SHORTEST)))
        return self._run(x, budget.part(work=max(share, LEAST_WORK)))

    def around(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        """Search for long, to find a solution or another region."""
        if budget.is_timed:
            part = budget.part(min(LONG_SECONDS, LONG_SHARE * budget.seconds_left))
            found = self._run(x, part)
            self._spent += part.seconds
            return found
        part = budget.part(work=min(LONG_WORK, LONG_SHARE * budget.work_left))
        found = self._run(x, part)
        self._spent += part.work
        return found

    @property
    def may_search_long(self) -> bool:
        """Whether long searches have not had their share yet."""
        return self.is_there and self._spent <= LONG_SHARE * (self._elapsed + self._spent)

    def _run(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        return (x, False) if self._search is None else self._search(x, budget)


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
