"""What a thread does: turns side by side by the clock, or one after the other by work."""

from __future__ import annotations

import time
from collections.abc import Callable

from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.portfolio.scheduler import Scheduler, Turn

IDLE = 0.02
"""Seconds to wait while no heuristic is due."""

WORK_PER_SECOND = 1e8
"""Matrix entries of a turn for each second it would have by the clock."""

LEAST_USED, IN_VAIN = 0.01, 0.1
"""What a turn counts for at least: so many seconds, so that a search whose heuristics have nothing
to do comes to its end; and this part of a turn that was given back early without a better point.
Whoever has proven that its neighbourhoods hold nothing more would otherwise be asked again and
again: on blend2, 600 times for a billion entries."""


Throttle = Callable[[float, Budget], None]
"""Told of the seconds that a turn took; returns when the next one may begin."""


def no_throttling(seconds: float, budget: Budget) -> None:
    """Let the next turn begin at once."""


def run_worker(
    scheduler: Scheduler,
    context: HeuristicContext,
    budget: Budget,
    throttle: Throttle = no_throttling,
) -> None:
    """Take turns in the calling thread until the budget is spent."""
    while not budget.spent():
        turn = scheduler.take(budget.seconds)
        if turn is None:
            time.sleep(IDLE)
            continue
        part = budget.part(turn.seconds)
        if not _go(turn, context, part):
            scheduler.leave_out(turn)
            continue
        if part.seconds < IDLE:
            time.sleep(IDLE)  # it had nothing to do, and may be the only one that is due
        scheduler.give_back(turn, part.seconds)
        context.credit.note(turn.activity.kind, part.seconds / turn.usual)
        throttle(part.seconds, budget)


def run_in_turn(scheduler: Scheduler, context: HeuristicContext, budget: Budget) -> None:
    """Take turns by work alone until the budget is spent or nobody has anything to do."""
    while not budget.spent():
        turn = scheduler.take(budget.work / WORK_PER_SECOND)
        if turn is None:
            return
        part = budget.part(work=WORK_PER_SECOND * turn.seconds)
        version = context.acceptance.pool.version
        if not _go(turn, context, part):
            scheduler.leave_out(turn)
            continue
        least = LEAST_USED
        if not turn.activity.once and context.acceptance.pool.version == version:
            least = max(least, IN_VAIN * turn.seconds)
        used = max(part.work, WORK_PER_SECOND * least)
        budget.charge(used - part.work)
        scheduler.give_back(turn, used / WORK_PER_SECOND)
        context.credit.note(turn.activity.kind, used / WORK_PER_SECOND / turn.usual)


def _go(turn: Turn, context: HeuristicContext, budget: Budget) -> bool:
    """Run a turn; a heuristic that fails is said so and left out, and the rest goes on."""
    name = turn.activity.name
    try:
        turn.activity.work(budget, context.seed_of(name, turn.number))
    except Exception as failure:
        context.log(f"The heuristic '{name}' failed and is left out: {failure!r}")
        return False
    return True
