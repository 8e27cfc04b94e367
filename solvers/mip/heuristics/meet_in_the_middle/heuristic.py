"""The search among sums as the schedule sees it."""

from __future__ import annotations

import threading

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.meet_in_the_middle.four_lists import (
    MOST_DEVIATIONS,
    SOURCE,
    MeetInTheMiddleSearch,
    Status,
)
from solvers.mip.heuristics.meet_in_the_middle.lists import is_promising
from solvers.mip.heuristics.meet_in_the_middle.recognise import find_sums
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

SHARE = 30.0
"""What the search is due where a model suits it: nearly everything, for nothing else comes near."""


class SumTurns:
    """The search among a model's sums, by as many turns as run side by side, until it is over."""

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self._sums = find_sums(context.model, context.domain.lower, context.domain.upper)
        self._search: MeetInTheMiddleSearch | None = None
        self._is_over = self._sums is None or not is_promising(self._sums, MOST_DEVIATIONS)
        self._lock = threading.Lock()

    def share(self) -> float:
        """Return what the search is due, which is nothing once it is over."""
        return 0.0 if self._is_over else SHARE

    def work(self, budget: Budget, seed: int) -> None:
        """Let the search go on."""
        context = self._context
        with self._lock:
            if self._search is None:
                if self._sums is None:
                    return
                seed = context.seed_of(SOURCE, 0)
                self._search = MeetInTheMiddleSearch(
                    self._sums, context.acceptance.submit, self._best, seed
                )
        if self._search.run(budget) is Status.SPENT:
            return
        with self._lock:
            if not self._is_over:
                self._is_over = True
                self._tell(self._search.proven)

    def _best(self) -> tuple[float, FloatArray | None]:
        best = self._context.acceptance.pool.best
        return (np.inf, None) if best is None else (best.objective, best.x)

    def _tell(self, proven: float) -> None:
        """Pass on what is proven."""
        if proven == np.inf:
            self._context.prove_infeasible()
        elif self._context.prove_bound is not None and np.isfinite(proven):
            self._context.prove_bound(proven, SOURCE)
