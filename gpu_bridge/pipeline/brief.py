"""Small models go to the reference engine at once, which ends most of them within milliseconds.

What it takes to look for structure, to start threads and heuristics and to presolve is more than
such a solve. Where it does not end soon, everything else begins, from the point that it has found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.verify.residuals import DOUBTFUL, holds, is_wider, without_far_limits
from gpu_bridge.verify.verify import gap_closed, verify
from solvers.core.outcome import Outcome, PoolSolution, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.highs.live import Live
    from solvers.highs.under_way import UnderWay

SECONDS = 0.05
"""How long it is tried."""

MOST = 5_000
"""Coefficients, rows and columns of a model that is tried; larger ones are presolved meanwhile."""

MOST_AGAIN = 200_000
"""The same of a linear program that starts from its last basis: a transport problem of 125,000 took
HiGHS less than that time to go on from there after new right-hand sides."""

DECISION = "highs on cpu: a small model, which the reference engine solves in moments"

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def is_worth_a_try(
    problem: Problem, options: Options, start: Start | None = None, live: Live | None = None
) -> bool:
    """Whether a model of ``method='auto'`` is small, plain, and no case for another engine.

    A linear program that has been solved before, and starts from its last basis, may be larger,
    unless such a start has not led to the end in time before. A single row over integer columns is
    for the exact engine, which is as quick. What ends by the clock is not ``deterministic``.
    """
    size = max(problem.num_nonzeros, problem.num_rows, problem.num_columns)
    if options.device.startswith("cuda"):
        return False
    if problem.is_mip and (options.heuristics_only or options.deterministic):
        return False
    most = MOST_AGAIN if _goes_on(problem, options, start, live) else MOST
    if not 0 < size <= most or not problem.num_columns or not problem.num_nonzeros:
        return False
    if problem.is_mip and (problem.num_rows == 1 or is_wider(problem, DOUBTFUL)):
        return False
    return without_far_limits(problem) is problem


def _goes_on(problem: Problem, options: Options, start: Start | None, live: Live | None) -> bool:
    """Whether a linear program starts from its last basis, which may well take moments only."""
    if problem.is_mip or options.deterministic or start is None or start.basis is None:
        return False
    return live is not None and live.may_be_brief


def try_at_once(
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None,
    live: Live | None = None,
) -> tuple[Outcome | None, UnderWay | None]:
    """Return what the reference engine knows after some milliseconds, verified; None without it.

    Its points are told in the order in which they were found. ``live`` is what is left in it of the
    last solve of the same model. A branch and bound that has not ended goes on and is returned,
    too: who takes it over begins nothing again.
    """
    from solvers.highs.engine import search_briefly, solve_briefly
    from solvers.highs.point import REFINE_ABOVE

    def is_exact(outcome: Outcome) -> bool:
        found = verify(problem, outcome, options).residuals
        errors = (found.primal, found.dual, found.gap_relative)
        return all(error <= REFINE_ABOVE for error in errors)  # false for NaN

    under_way = None
    if problem.is_mip:
        found, under_way = search_briefly(problem, options, progress, start, SECONDS)
    else:
        found = solve_briefly(problem, options, progress, start, SECONDS, is_exact, live)
    return None if found is None else _told(problem, found, options, progress), under_way


def _told(problem: Problem, found: Outcome, options: Options, progress: Progress) -> Outcome:
    """Return a verified answer after telling of its points."""
    answer = verify(problem, found, options)
    if not answer.solution_status.has_point:
        on_the_way = not problem.is_mip and answer.solution_status is SolutionStatus.NOTHING
        return replace(answer, pool=(), basis=found.basis if on_the_way else None)
    if answer.pool:
        answer = replace(answer, pool=_other_points(problem, answer, options))
    for entry in reversed(answer.pool):
        progress.incumbent(entry.objective, entry.source, entry.x)
    progress.incumbent(answer.objective, answer.engine, answer.x)
    progress.bound(answer.bound, answer.engine)
    return answer


def _other_points(problem: Problem, answer: Outcome, options: Options) -> tuple[PoolSolution, ...]:
    """Return the points of a pool, best first, that hold and are not the answer."""
    kept: list[PoolSolution] = []
    seen = {_key(problem, answer.x)}
    for entry in answer.pool:
        key = _key(problem, entry.x)
        if len(seen) >= options.pool_size:
            break
        if key in seen or not entry.objective > answer.objective:
            continue
        x = np.where(problem.integrality, np.rint(entry.x) + 0.0, entry.x)
        if holds(problem, x, options):
            seen.add(key)
            kept.append(PoolSolution(x, problem.objective_at(x), entry.seconds, entry.source))
    return tuple(kept)


def _key(problem: Problem, x: FloatArray | None) -> bytes:
    """Return what tells points apart: the integer columns."""
    return b"" if x is None else (np.rint(x[problem.integrality]) + 0.0).tobytes()


def is_settled(problem: Problem, options: Options, answer: Outcome) -> bool:
    """Whether nothing is left to do.

    Where an exact engine takes over, a gap is not closed before it is zero.
    """
    if answer.stop_reason is not StopReason.CONVERGED or answer.solution_status not in SETTLED:
        return False
    if answer.solution_status is not SolutionStatus.OPTIMAL or not problem.integrality.all():
        return True
    if gap_closed(answer.objective, answer.bound, replace(options, abs_gap=0.0, rel_gap=0.0)):
        return True
    from gpu_bridge.pipeline.registry import choose  # looks for structure, which takes a while

    return not choose(problem, options).method.startswith("knapsack")


def start_from(answer: Outcome, start: Start | None) -> Start | None:
    """Return where the others begin: at the point found, if there is one, and at its basis.

    Dual simplex has a basis before it has a point; from there it goes on.
    """
    x = answer.x if answer.solution_status.has_point else None
    if x is None and answer.basis is None:
        return start
    own = Start() if start is None else start
    return replace(
        own,
        x=own.x if x is None else x,
        basis=own.basis if answer.basis is None else answer.basis,
    )
