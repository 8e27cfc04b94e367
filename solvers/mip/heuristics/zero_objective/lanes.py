"""When there is a search without costs: in lanes beside the turns, or once among them.

HiGHS cannot be stopped and go on later, and what it does before its first point, presolve, cuts and
dives at the root, takes longer than a turn. So a search has a thread of its own, which the system
gives time beside the others, from when the heuristics have had their first seconds in vain until
anybody has a point.
"""

from __future__ import annotations

import time

from solvers.core.concurrency import LOOK_AGAIN
from solvers.mip.context import SolveContext
from solvers.mip.heuristics.zero_objective.first_point import (
    NO_LIMITS,
    search_zero_objective,
    suits,
)
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.portfolio.scheduler import Activity
from solvers.mip.submip import Limits

DELAY_SHARE, LONGEST_DELAY = 0.1, 2.0
"""When lanes begin: part of the time limit, and seconds at most. Most models have a point by then,
and no process is started for them."""

MANY_CORES = 8
"""Cores from which there is a second lane, which goes another way."""

SHARE = 2.0
"""What a search among the turns of a single thread is due, while there is no point."""

TURN_SHARE, UNLIMITED = 0.3, 3600.0
"""Part of the time of these turns that it may take, and seconds that count as all of it where there
is no limit."""

SECONDS_BY_WORK = 5.0
"""What it counts for beforehand where work is counted: others have their first turns before."""

MOST_ENTRIES_BY_WORK, BY_WORK = 50_000, Limits(nodes=10, leaves=10, stall_nodes=10, solutions=1)
"""Entries of a model up to which there is a search where work is counted, and the limits of it:
HiGHS stops at no amount of work, and its root, where most points are found, takes minutes on larger
ones."""


def begin_lanes(solve: SolveContext, context: HeuristicContext, budget: Budget) -> None:
    """Let searches begin in threads of their own, should there be no point in a while."""
    if not suits(context.model):
        return
    for number in range(2 if solve.cores >= MANY_CORES else 1):

        def work(number: int = number) -> None:
            if _is_needed(solve, context, budget):
                search_zero_objective(context, budget.part(), number)

        solve.spawn(f"search without costs {number}", work)


def in_turn(context: HeuristicContext, seconds: float | None = None) -> list[Activity]:
    """Return the search as one among the turns of a single thread, if there is one.

    Parameters
    ----------
    context : HeuristicContext
    seconds : float, optional
        What the turns have together; None where work is counted instead.
    """
    by_work = seconds is None
    model = context.model
    if not suits(model) or (by_work and model.num_nonzeros > MOST_ENTRIES_BY_WORK):
        return []

    limits = BY_WORK if by_work else NO_LIMITS

    def work(budget: Budget, seed: int) -> None:
        search_zero_objective(context, budget, limits=limits)

    def share() -> float:
        return 0.0 if context.has_point else SHARE

    length = SECONDS_BY_WORK if seconds is None else TURN_SHARE * min(seconds, UNLIMITED)
    return [Activity("without costs", work, share, length, length, most=1, once=True)]


def _is_needed(solve: SolveContext, context: HeuristicContext, budget: Budget) -> bool:
    """Wait for presolve and the heuristics' first seconds; return whether there is no point yet."""
    begin = min(LONGEST_DELAY, DELAY_SHARE * solve.progress.time_limit)
    while not (context.has_point or budget.is_over()):
        if solve.progress.seconds >= begin and not solve.is_reducing:
            return True
        time.sleep(LOOK_AGAIN)
    return False
