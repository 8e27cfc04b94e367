"""Dives with costs once there is a point, where the relaxation says that it is a poor one."""

from __future__ import annotations

import threading

from solvers.mip.heuristics.diving.linear.dive import LinearDives
from solvers.mip.heuristics.diving.linear.heuristic import suits
from solvers.mip.heuristics.diving.linear.rules import RULES
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

AT_ONCE, FIRST, LATER = 24.0, 1.0, 0.3
"""Shares of the very first dive, of the first by each rule, and of those after them. The first
alone comes within 3 percent of trento1's optimum in 3 s of one core and within 7 of sp97ar's in
0.6 s, where walks and neighbourhoods were far off after 20 s."""

TURNS_AT_ONCE = 6
"""Turns that the very first dive may have before others are due more."""

SMALL_GAP = 2e-3
"""Relative distance of the best point from the relaxation below which others do better."""


class ImprovingDiveTurns:
    """Dives from the relaxation's solution, which go on from turn to turn; safe to use in threads.

    Parameters
    ----------
    context : HeuristicContext
    """

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self._waiting: list[LinearDives] = []
        self._made, self._dives, self._turns = 0, 0, 0
        self._is_over = not suits(context.model)
        self._lock = threading.Lock()

    def share(self) -> float:
        """Return what the dives are due now."""
        root = self._context.root
        if self._is_over or not self._context.has_point or root is None or root.basis is None:
            return 0.0
        best, least = self._cutoff(), root.relaxation.objective
        if best - least <= SMALL_GAP * max(abs(best), abs(least)):
            return 0.0
        if self._dives <= 1 and self._turns < TURNS_AT_ONCE:
            return AT_ONCE
        return FIRST if self._dives <= len(RULES) else LATER

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the dives go on."""
        with self._lock:
            number, dives = self._made, self._waiting.pop(0) if self._waiting else None
            self._made += dives is None
            self._turns += 1
        if dives is None:
            dives = self._make(number)
        is_first = self._dives <= 1  # others have their turns before there is a second one
        try:
            dives.run(budget, lambda: is_first and dives.dives > 1)
        finally:
            with self._lock:
                self._is_over |= dives.is_over
                self._dives = max(self._dives, dives.dives)
                self._waiting.append(dives)

    def _cutoff(self) -> float:
        return self._context.acceptance.pool.objective

    def _make(self, number: int) -> LinearDives:
        context = self._context
        return LinearDives(
            context.model,
            context.domain,
            context.acceptance.submit,
            context.acceptance.infeasible_points,
            context.seed_of("improving dive", number),
            lambda: None if context.root is None else context.root.basis,
            number,
            self._cutoff,
        )
