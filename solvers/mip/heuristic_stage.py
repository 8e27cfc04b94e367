"""Heuristics on the reduced model: side by side in time, or one after the other by work."""

from __future__ import annotations

import threading

import numpy as np

from solvers.mip.context import SolveContext
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

FIRST_TURN, ENTRIES_PER_TURN_SECOND, FIRST_TURN_SHARE = 0.5, 2e6, 0.1
"""Seconds of a first turn, entries of the matrix for each of which it is a second longer, and the
part of the time left that it may take: a walker needs four seconds for its first point of a model
with ten million entries."""

AHEAD_WITHOUT_POINT = 0.25
"""Part of a turn that counts before it is had while there is no point: with nothing of it, each
heuristic has one turn in the first twenty seconds of one thread, whatever it is due."""

SHORT_TURN = 0.1
"""Seconds of a first turn where heuristics come one after the other."""

SHARE_BEFORE_PROOF, MOST_BEFORE_PROOF = 0.1, 10.0
"""Part of the time left, and seconds at most, for heuristics before branch and bound begins, where
there is one thread for both."""

WORK = 1.0
"""Billions of matrix entries that heuristics visit in turn before branch and bound, where the
options name no number."""


def search_side_by_side(
    solve: SolveContext, context: HeuristicContext, workers: int
) -> threading.Event:
    """Let heuristics begin in threads; return the flag that ends them for others to follow."""
    from solvers.mip.heuristics.zero_objective import begin_lanes
    from solvers.mip.portfolio.scheduler import Turns
    from solvers.mip.portfolio.table import activities
    from solvers.mip.portfolio.throttling import Throttling
    from solvers.mip.portfolio.worker import run_worker

    left = solve.progress.time_left
    first = _first_turn(context.model, left)
    turns = Turns(
        activities(context, left, workers),
        first,
        ahead=lambda: _ahead(context),
        bonus=context.credit.bonus,
    )
    replaced = threading.Event()
    context.is_over = lambda: replaced.is_set() or solve.is_over()
    budget = solve.budget(lambda: replaced.is_set() or solve.is_over())
    throttling = Throttling(solve, context)
    for worker in range(workers):
        solve.spawn(
            f"heuristics {worker}",
            lambda: run_worker(turns, context, budget.part(), throttling.after),
        )
    begin_lanes(solve, context, budget)
    _begin_on_device(solve, context, budget)
    return replaced


def search_in_turn(solve: SolveContext, context: HeuristicContext) -> None:
    """Run heuristics in the calling thread, by work where the same path is to be repeated.

    Where it is not, a GPU searches beside this thread, and beside branch and bound after it.
    """
    from solvers.mip.heuristics.zero_objective import in_turn
    from solvers.mip.portfolio.scheduler import Turns
    from solvers.mip.portfolio.table import activities
    from solvers.mip.portfolio.worker import run_in_turn, run_worker

    if solve.options.deterministic:
        limit = solve.options.work_limit
        work = 1e9 * (WORK if limit is None else limit)
        ours = [*activities(context, np.inf, workers=1), *in_turn(context)]
        turns = Turns(ours, SHORT_TURN, ahead=lambda: _ahead(context), bonus=context.credit.bonus)
        whole = solve.watched(Budget(work=work, stop=solve.is_settled))
        run_in_turn(turns, context, whole)
    else:
        seconds = _seconds_before_proof(solve)
        ours = [
            *activities(context, solve.progress.time_left, workers=1),
            *in_turn(context, seconds),
        ]
        turns = Turns(ours, ahead=lambda: _ahead(context), bonus=context.credit.bonus)
        whole = solve.budget(lambda: solve.is_settled() or _is_in_vain(solve))
        _begin_on_device(solve, context, whole)
        run_worker(turns, context, whole.part(seconds))


def _ahead(context: HeuristicContext) -> float:
    """Return what part of a turn counts before it is had."""
    return 1.0 if context.has_point else AHEAD_WITHOUT_POINT


def _begin_on_device(solve: SolveContext, context: HeuristicContext, budget: Budget) -> None:
    """Let heuristics begin on the GPU, if there is one."""
    from solvers.mip.portfolio.device_table import device_works

    for name, work in device_works(context).items():
        solve.spawn(name, lambda work=work: work(budget.part()))  # type: ignore[misc]


def _is_in_vain(solve: SolveContext) -> bool:
    """Whether heuristics that nothing comes after have not improved anything for long."""
    return solve.options.heuristics_only and solve.has_stalled()


def _seconds_before_proof(solve: SolveContext) -> float:
    """Return what heuristics may take while branch and bound waits for the only thread."""
    if solve.options.heuristics_only:
        return np.inf
    return min(SHARE_BEFORE_PROOF * solve.progress.time_left, MOST_BEFORE_PROOF)


def _first_turn(model: MipModel, left: float) -> float:
    """Return the seconds of a first turn: enough to get going on a model of this size."""
    by_size = FIRST_TURN + model.num_nonzeros / ENTRIES_PER_TURN_SECOND
    return max(FIRST_TURN, min(by_size, FIRST_TURN_SHARE * left))
