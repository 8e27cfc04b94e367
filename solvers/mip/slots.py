"""Running turns: in threads side by side by the clock, or one after the other by work."""

from __future__ import annotations

import time

from solvers.mip.budget import Budget
from solvers.mip.shared import Shared
from solvers.mip.turns import Turn, Turns

IDLE = 0.02
"""Seconds to wait while no heuristic is due."""

WORK_PER_SECOND = 1e8
"""Matrix entries of a turn for each second it would have by the clock."""


def run_slot(turns: Turns, shared: Shared, budget: Budget) -> None:
    """Take turns in the calling thread until the budget is spent."""
    while not budget.spent():
        turn = turns.take(budget.seconds)
        if turn is None:
            time.sleep(IDLE)
            continue
        part = budget.part(turn.seconds)
        if not _go(turn, shared, part):
            turns.leave_out(turn)
            continue
        if part.seconds < IDLE:
            time.sleep(IDLE)  # it had nothing to do, and may be the only one that is due
        turns.give_back(turn, part.seconds)


def run_in_turn(turns: Turns, shared: Shared, budget: Budget) -> None:
    """Take turns by work alone until the budget is spent or nobody has anything to do."""
    while not budget.spent():
        turn = turns.take(budget.work / WORK_PER_SECOND)
        if turn is None:
            return
        part = budget.part(work=WORK_PER_SECOND * turn.seconds)
        if not _go(turn, shared, part):
            turns.leave_out(turn)
            continue
        # a turn that does nothing costs a little, so that the search comes to its end
        used = max(part.work, 0.01 * WORK_PER_SECOND)
        budget.charge(used - part.work)
        turns.give_back(turn, used / WORK_PER_SECOND)


def _go(turn: Turn, shared: Shared, budget: Budget) -> bool:
    """Run a turn; a heuristic that fails is said so and left out, and the rest goes on."""
    name = turn.activity.name
    try:
        turn.activity.work(budget, shared.seed_of(name, turn.number))
    except Exception as failure:
        shared.log(f"The heuristic '{name}' failed and is left out: {failure!r}")
        return False
    return True
