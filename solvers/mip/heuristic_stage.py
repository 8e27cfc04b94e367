"""Heuristics on the reduced model: side by side in time, or one after the other by work."""

from __future__ import annotations

import time

import numpy as np

from solvers.core.outcome import relative_gap
from solvers.core.progress import LOOK_AGAIN
from solvers.mip.budget import SMALL_SHARE, Budget
from solvers.mip.context import SolveContext
from solvers.mip.model import MipModel
from solvers.mip.portfolio.credit import Credit
from solvers.mip.portfolio.heuristic import HeuristicContext
from solvers.mip.portfolio.participant import line_up
from solvers.mip.portfolio.scheduler import (
    Activity,
    Scheduler,
    run_in_turn,
    run_worker,
)
from solvers.mip.table import TABLE, Place

FIRST_TURN, ENTRIES_PER_TURN_SECOND = 0.5, 2e6
"""Seconds of a first turn, and entries of the matrix for each of which it is a second longer: a
walker needs four seconds for its first point of a model with ten million entries."""

AHEAD_WITHOUT_POINT = 0.25
"""Part of a turn that counts before it is had while there is no point: with nothing of it, each
heuristic has one turn in the first twenty seconds of one thread, whatever it is due."""

SHORT_TURN = 0.1
"""Seconds of a first turn where heuristics come one after the other."""

MOST_BEFORE_PROOF = 10.0
"""Seconds at most, within :data:`SMALL_SHARE` of the time left, for heuristics before branch and
bound begins, where there is one thread for both."""

WORK = 1.0
"""Billions of matrix entries that heuristics visit in turn before branch and bound, where the
options name no number."""


def search_side_by_side(context: HeuristicContext, workers: int) -> None:
    """Let heuristics begin in threads, until ``context.replaced`` is set or the solve is over."""
    solve, left = context.solve, context.solve.progress.time_left
    activities = line_up(TABLE, context, [Place.TURN], left, workers)
    scheduler = _scheduler(context, activities, _first_turn(context.model, left))
    budget = solve.budget(context.is_over)
    throttling = Throttling(context)
    for worker in range(workers):
        solve.spawn(
            f"heuristics {worker}",
            lambda: run_worker(scheduler, context, budget.part(), throttling.after),
        )
    _begin_threads(context, Place.THREAD, budget)
    _begin_on_devices(context, budget)


def search_in_turn(context: HeuristicContext) -> None:
    """Run heuristics in the calling thread, by work where the same path is to be repeated.

    Where it is not, a GPU searches beside this thread, and beside branch and bound after it.
    """
    solve = context.solve
    if solve.options.deterministic:
        limit = solve.options.work_limit
        work = 1e9 * (WORK if limit is None else limit)
        activities = line_up(TABLE, context, [Place.TURN], np.inf)
        whole = solve.watched(Budget(work=work, stop=solve.is_settled))
        run_in_turn(_scheduler(context, activities, SHORT_TURN), context, whole)
        return
    seconds = _seconds_before_proof(solve)
    activities = [
        *line_up(TABLE, context, [Place.TURN], solve.progress.time_left),
        *line_up(TABLE, context, [Place.TURN_BY_CLOCK], seconds),
    ]
    whole = solve.budget(lambda: solve.is_settled() or _is_in_vain(solve))
    _begin_on_devices(context, whole)
    run_worker(_scheduler(context, activities), context, whole.part(seconds))


def _scheduler(
    context: HeuristicContext, activities: list[Activity], first_turn: float = FIRST_TURN
) -> Scheduler:
    """Return who deals out the turns."""
    credit = Credit(context.acceptance.pool)
    return Scheduler(activities, first_turn, ahead=lambda: _ahead(context), credit=credit)


def _ahead(context: HeuristicContext) -> float:
    """Return what part of a turn counts before it is had."""
    return 1.0 if context.has_point else AHEAD_WITHOUT_POINT


def _begin_threads(context: HeuristicContext, place: Place, budget: Budget) -> None:
    """Let each heuristic of a place begin in a thread of its own."""

    def begin(activity: Activity) -> None:
        seed = context.seed_of(activity.name, 1)
        context.solve.spawn(activity.name, lambda: activity.work(budget.part(), seed))

    for activity in line_up(TABLE, context, [place], budget.seconds_left):
        begin(activity)


def _begin_on_devices(context: HeuristicContext, budget: Budget) -> None:
    """Let heuristics begin on each GPU, if there is one, in threads."""
    if context.device.kind != "cpu":
        for one in context.on_each_device():
            _begin_threads(one, Place.DEVICE_THREAD, budget)


def _is_in_vain(solve: SolveContext) -> bool:
    """Whether heuristics that nothing comes after have not improved anything for long."""
    return solve.options.heuristics_only and solve.has_stalled()


def _seconds_before_proof(solve: SolveContext) -> float:
    """Return what heuristics may take while branch and bound waits for the only thread."""
    if solve.options.heuristics_only:
        return np.inf
    return min(SMALL_SHARE * solve.progress.time_left, MOST_BEFORE_PROOF)


def _first_turn(model: MipModel, left: float) -> float:
    """Return the seconds of a first turn: enough to get going on a model of this size."""
    by_size = FIRST_TURN + model.num_nonzeros / ENTRIES_PER_TURN_SECOND
    return max(FIRST_TURN, min(by_size, SMALL_SHARE * left))


# How much of their time heuristics leave to the proof where both share few cores.
#
# Two threads on two cores take more from each other than it seems: caches, memory, and where a
# core of a virtual machine is half of a real one, a third of its speed. Once the gap is small and
# nothing has improved for long, all that the heuristics could still gain is that gap, while the
# proof decides when the solve is over.


FEW_CORES = 4
"""Up to so many cores heuristics rest; where there are more, a few threads at work are one more
among many."""

SMALL_GAP = 0.1
"""Relative gap below which heuristics work in proportion to it, for :data:`SMALL_SHARE` of the time
in any case."""

QUIET_SECONDS, QUIET_SHARE = 2.0, 0.25
"""How long nothing has to have improved: seconds, and part of the time so far."""


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
    return max(SMALL_SHARE, gap / SMALL_GAP)


class Throttling:
    """Lets the heuristics of one solve rest between turns, while a proof is under way."""

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
            time.sleep(LOOK_AGAIN)

    def _working_part(self) -> float:
        solve = self._context.solve
        best = solve.incumbents.pool.best
        if best is None or solve.options.heuristics_only or solve.cores > FEW_CORES:
            return 1.0
        now = solve.progress.seconds
        gap = relative_gap(best.objective, solve.progress.best_bound)
        return working_part(gap, now, now - best.seconds)
