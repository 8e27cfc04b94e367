"""The entry point of crossover: any engine's point on a linear program, moved to a vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import child
from solvers.highs.child import SMALL_STUBBORN, run_task
from solvers.highs.engine import make_task, to_outcome
from solvers.highs.model import prepare
from solvers.highs.task import Work

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def expect(problem: Problem) -> None:
    """Have a child ready for the crossover of a problem that is being solved."""
    if max(problem.num_nonzeros, problem.num_rows, problem.num_columns) > SMALL_STUBBORN:
        child.expect()


def to_vertex(
    problem: Problem, outcome: Outcome, options: EngineOptions, progress: Progress
) -> Outcome:
    """Move a nearly optimal point of a linear program on to an optimal vertex.

    Parameters
    ----------
    problem : Problem
        A linear program.
    outcome : Outcome
        Its ``x`` (or ``candidate``) and ``row_dual`` are what crossover starts from; the better
        they are, the fewer simplex steps are left at the end.
    options : EngineOptions
    progress : Progress
        Keeps the time limit.

    Returns
    -------
    Outcome
        With a basis and the vertex's own duals; or the outcome given, with a message that says
        why, if the time ran out or crossover failed. Where the point was misleading and simplex
        proves the problem infeasible or unbounded, that answer, with the engine ``highs``.
    """
    point = outcome.candidate if outcome.x is None else outcome.x
    if problem.is_mip or point is None or not problem.num_columns:
        return outcome
    stopped = progress.should_stop()
    if stopped is not None:
        return _unchanged(outcome, stopped)
    prepared = prepare(problem)
    simplex = replace(options, lp_algorithm="simplex", iteration_limit=None)
    task = replace(
        make_task(prepared, simplex),
        work=Work.CROSSOVER,
        x=point,
        row_dual=prepared.duals_in(outcome.row_dual),
    )
    if task.row_dual is not None and not np.isfinite(task.row_dual).all():
        task = replace(task, row_dual=None)
    answer = to_outcome(run_task(task, progress), prepared)
    if answer.solution_status not in SETTLED:
        return _unchanged(outcome, answer.stop_reason)
    engine = outcome.engine if answer.solution_status is SolutionStatus.OPTIMAL else answer.engine
    return replace(
        answer,
        engine=engine,
        device=outcome.device,
        statistics={**outcome.statistics, **answer.statistics},
    )


def _unchanged(outcome: Outcome, reason: StopReason) -> Outcome:
    sentence = f"The point is not a vertex: crossover ended early ({reason})."
    return replace(outcome, message=f"{outcome.message} {sentence}".strip())
