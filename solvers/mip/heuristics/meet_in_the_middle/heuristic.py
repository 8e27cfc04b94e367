"""The search among a model's sums as the schedule sees it."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.meet_in_the_middle.four_lists import (
    MOST_DEVIATIONS,
    SOURCE,
    MeetInTheMiddleSearch,
    Status,
)
from solvers.mip.heuristics.meet_in_the_middle.lists import is_promising
from solvers.mip.heuristics.meet_in_the_middle.recognise import Sums, find_sums
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Declined, Heuristic, Report
from solvers.mip.portfolio.heuristic_context import HeuristicContext


class MeetInTheMiddle(Heuristic[tuple[HeuristicContext, Sums], MeetInTheMiddleSearch]):
    """One search, which all turns that run side by side work on together."""

    name = SOURCE

    def prepare(self, context: HeuristicContext) -> tuple[HeuristicContext, Sums]:
        """Find the sums of the model."""
        sums = find_sums(context.model, context.domain.lower, context.domain.upper)
        if sums is None:
            raise Declined("the model is not made of sums")
        if not is_promising(sums, MOST_DEVIATIONS):
            raise Declined("its sums would hardly ever meet")
        return context, sums

    def begin(self, prepared: tuple[HeuristicContext, Sums], number: int) -> MeetInTheMiddleSearch:
        """Return the one search."""
        context, sums = prepared

        def best() -> tuple[float, FloatArray | None]:
            found = context.acceptance.pool.best
            return (np.inf, None) if found is None else (found.objective, found.x)

        seed = context.seed_of("sums", 0)  # a key outlives names: the same seeds as ever
        return context.once(self, lambda: MeetInTheMiddleSearch(sums, context.submit, best, seed))

    def run(self, state: MeetInTheMiddleSearch, budget: Budget, seed: int) -> Report:
        """Let the search go on."""
        if state.run(budget) is Status.SPENT:
            return UNFINISHED
        return Report(is_over=True, proven=state.proven)
