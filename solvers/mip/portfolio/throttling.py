"""How much of their time heuristics leave to the proof where both share few cores.

Two threads on two cores take more from each other than it seems: caches, memory, and where a core
of a virtual machine is half of a real one, a third of its speed. Once the gap is small and nothing
has improved for long, all that the heuristics could still gain is that gap, while the proof decides
when the solve is over.
"""

from __future__ import annotations

import time

from solvers.core.outcome import relative_gap
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

FEW_CORES = 4
"""Up to so many cores heuristics rest; where there are more, a few threads at work are one more
among many."""

SMALL_GAP = 0.1
"""Relative gap below which heuristics work in proportion to it."""

LEAST_PART = 0.1
"""Part of the time that they work in any case."""

QUIET_SECONDS, QUIET_SHARE = 2.0, 0.25
"""How long nothing has to have improved: seconds, and part of the time so far."""

LOOK = 0.05
"""Seconds between two looks at whether a rest is over."""


def working_part(gap: float, seconds: float, since_improvement: float) -> float:
    """Return the part of the time that heuristics should work.

    Parameters
    ----------
    gap : float
        Relative gap; inf or NaN without a point or a bound.
    seconds : float
        Time so far.
    since_improvement : float
        Time since the last better point.
    """
    is_quiet = since_improvement > max(QUIET_SECONDS, QUIET_SHARE * seconds)
    if not is_quiet or not gap < SMALL_GAP:
        return 1.0
    return max(LEAST_PART, gap / SMALL_GAP)


class Throttling:
    """Lets the heuristics of one solve rest between turns, while a proof is under way.

    Parameters
    ----------
    context : HeuristicContext
    """

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context

    def after(self, seconds: float, budget: Budget) -> None:
        """Rest after a turn of so many seconds, until there is a better point at the latest."""
        part = self._working_part()
        end = time.monotonic() + seconds * (1.0 / part - 1.0)
        version = self._context.acceptance.pool.version
        while time.monotonic() < end and not budget.is_over():
            if self._context.acceptance.pool.version != version:
                return
            time.sleep(LOOK)

    def _working_part(self) -> float:
        solve = self._context.solve
        best = solve.incumbents.pool.best
        if best is None or solve.options.heuristics_only or solve.cores > FEW_CORES:
            return 1.0
        now = solve.progress.seconds
        gap = relative_gap(best.objective, solve.progress.best_bound)
        return working_part(gap, now, now - best.seconds)
