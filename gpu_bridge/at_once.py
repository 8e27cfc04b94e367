"""Small models go to the reference engine at once, which ends most of them within milliseconds.

What it takes to look for structure, to start threads and heuristics and to presolve is more than
such a solve. Where it does not end soon, everything else begins, from the point that it has found.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_bridge.magnitudes import DOUBTFUL, widest_span, without_far_limits
from gpu_bridge.options import Options
from gpu_bridge.verify import verify
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import Problem
from solvers.progress import Progress

SECONDS = 0.05
"""How long it is tried."""

MOST = 5_000
"""Coefficients, rows and columns of a model that is tried; larger ones are presolved meanwhile."""

DECISION = "highs on cpu: a small model, which the reference engine solves in moments"

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def is_worth_a_try(problem: Problem, options: Options) -> bool:
    """Whether a model is small, plain, and asks for nothing that another engine does better.

    A single row over integer columns is for the exact engine, which is as quick.
    """
    size = max(problem.num_nonzeros, problem.num_rows, problem.num_columns)
    if options.method != "auto" or options.device.startswith("cuda") or options.heuristics_only:
        return False
    if not 0 < size <= MOST or not problem.num_columns or not problem.num_nonzeros:
        return False
    if problem.is_mip and problem.num_rows == 1:
        return False
    return widest_span(problem).ratio <= DOUBTFUL and without_far_limits(problem) is problem


def try_at_once(
    problem: Problem, options: Options, progress: Progress, start: Start | None
) -> Outcome | None:
    """Return what the reference engine knows after some milliseconds, verified; None without it."""
    from solvers.highs.engine import solve_briefly

    found = solve_briefly(problem, options, progress, start, SECONDS)
    return None if found is None else verify(problem, found, options)


def is_settled(answer: Outcome) -> bool:
    """Whether nothing is left to do."""
    return answer.stop_reason is StopReason.CONVERGED and answer.solution_status in SETTLED


def start_from(answer: Outcome, start: Start | None) -> Start | None:
    """Return where the others begin: at the point found, if there is one."""
    if not answer.solution_status.has_point or answer.x is None:
        return start
    return Start(x=answer.x) if start is None else replace(start, x=answer.x)
