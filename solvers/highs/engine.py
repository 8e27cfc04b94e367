"""The entry point of the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import (
    Basis,
    Outcome,
    SolutionStatus,
    Start,
    StopReason,
)
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs.in_process import HurriedChannel, OverstayedError, in_thread
from solvers.highs.live import Live
from solvers.highs.lp import begin, plain_optimum
from solvers.highs.model import Prepared, lp_settings, mip_settings, outcome_of, prepare, to_outcome
from solvers.highs.point import REFINE_ABOVE, lp_errors
from solvers.highs.run import run
from solvers.highs.task import Brief, Offers, Reply, Setting, Task, Work
from solvers.highs.under_way import QUIET, UnderWay, settings_for

RAY_NONZEROS = 100_000
"""Up to this size an infeasible LP is solved again for its Farkas multipliers."""

BRIEF: dict[str, Setting] = {**QUIET, "presolve": "off"}
"""Settings of a brief solve of a linear program.

Of 174 linear programs and relaxations from Netlib and MIPLIB with up to 5,000 coefficients HiGHS
1.16 solved all with presolve and without, and without it in the median in 0.65 of the processor
time, in sum in 0.9; of those with up to 1,000 in 0.6 and 0.7. An infeasible one leaves its
multipliers, for which it would have to be solved again after presolve.
"""

OVERSTAY = 1.0
"""Seconds beyond its time for which a brief solve is waited for: HiGHS does not look at the clock
everywhere."""


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    offers: Offers | None = None,
    in_child: bool = False,
    retry: bool = True,
) -> Outcome:
    """Solve a linear or mixed-integer problem with HiGHS.

    Parameters
    ----------
    options : EngineOptions
        ``lp_algorithm`` picks simplex, interior point or HiGHS's PDLP for linear programs.
    progress : Progress
        Keeps the time limit; told of incumbents, bounds and log lines.
    start : Start, optional
        For a MIP ``x``, possibly with NaN for "unknown"; for an LP ``basis``, or a full ``x``
        from which a basis is guessed.
    offers : callable, optional
        Asked often during branch and bound; returns a feasible point found elsewhere that was
        not given before, or None.
    in_child : bool
        For a caller whose other threads are busy in Python: HiGHS asks at every iteration
        whether to stop, and would wait for them. It runs in a child process whatever the size;
        small linear programs by simplex run here and do not ask.
    retry : bool
        Try once more after a crash, for a caller who has no other engine at work.

    Returns
    -------
    Outcome
        In the minimised sense. Unbounded comes with a feasible ``x`` and a ``primal_ray``;
        an infeasible LP of moderate size with a ``dual_ray``.

    Raises
    ------
    EngineError
        HiGHS refuses the model (with its reason) or fails without an answer.
    """
    stopped = progress.should_stop()
    if stopped is not None:
        return outcome_of(SolutionStatus.NOTHING, stopped)
    prepared = prepare(problem)
    if prepared.empty_column is not None:
        return _no_integer(problem, prepared.empty_column)
    if not problem.num_columns:
        return _no_columns(problem, options.tolerance)
    from solvers.highs.child import run_task  # what small models have no use for

    task = make_task(prepared, options, start)
    return to_outcome(run_task(task, progress, offers, in_child=in_child, retry=retry), prepared)


def solve_briefly(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    seconds: float,
    is_exact: Callable[[Outcome], bool],
    live: Live | None = None,
) -> Outcome | None:
    """Try a small linear program for some milliseconds, on one core and without a word.

    ``is_exact`` measures an optimum and says whether only rounding is left of its errors. Where it
    is not sure, they are measured in relation to sides and costs, and what has larger ones is
    cleaned up. ``live`` is what is left in HiGHS of the last solve of the same model.

    Returns
    -------
    Outcome or None
        What is known after that time; None where HiGHS fails or does not end.
    """
    channel = HurriedChannel(progress, seconds)
    try:
        prepared = prepare(problem)
        simplex_only = options.lp_algorithm in ("auto", "simplex")
        settings = {**lp_settings(options, simplex_only=simplex_only), **BRIEF}
        task = make_task(prepared, options, start, settings)
        return _lp_briefly(task, prepared, channel, is_exact, live)
    except (EngineError, MemoryError, OverstayedError):
        return None  # who solves it without haste says what is wrong


def search_briefly(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    seconds: float,
) -> tuple[Outcome | None, UnderWay | None]:
    """Search a small mixed-integer problem for some milliseconds, on one core and without a word.

    Returns
    -------
    outcome : Outcome or None
        What is known after that time, with the improving points as its pool, best first; None where
        HiGHS fails.
    under_way : UnderWay or None
        The branch and bound, which goes on, where it has not ended.
    """
    try:
        prepared = prepare(problem)
        if prepared.empty_column is not None:
            return _no_integer(problem, prepared.empty_column), None
        task = make_task(
            prepared, options, start, {**mip_settings(options), **settings_for(prepared.model)}
        )
        under_way = UnderWay(problem, options, prepared, task, progress)
        if under_way.wait(seconds) or progress.should_stop() is not None:
            return under_way.end(OVERSTAY), None
    except (EngineError, MemoryError):
        return None, None  # as above
    return under_way.so_far(), under_way


def _lp_briefly(
    task: Task,
    prepared: Prepared,
    channel: HurriedChannel,
    is_exact: Callable[[Outcome], bool],
    live: Live | None,
) -> Outcome:
    """Solve a small linear task; only where HiGHS works is another thread worth its while."""
    brief = Brief(channel)
    kept = None if live is None else live.take(task, brief)
    session = begin(task, brief) if kept is None else kept
    status = in_thread(session.run, channel, OVERSTAY, kept=True)
    reply = plain_optimum(session, status, task)
    outcome = None if reply is None else to_outcome(reply, prepared)
    if reply is None or outcome is None or not (is_exact(outcome) or _is_rounding(task, reply)):
        begun = (session, status) if kept is None else None  # from the last basis nothing is plain
        cleaned = in_thread(lambda: run(task, brief, begun), channel, OVERSTAY, kept=True)
        return to_outcome(cleaned, prepared)
    if live is not None:
        live.keep(session, task, reply)
    return outcome


def _is_rounding(task: Task, reply: Reply) -> bool:
    """Whether only rounding is left of an optimum's errors, in relation to sides and costs."""
    if reply.x is None or reply.row_dual is None:
        return False
    return lp_errors(task.model, reply.x, reply.row_dual) <= REFINE_ABOVE


def make_task(
    prepared: Prepared,
    options: EngineOptions,
    start: Start | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> Task:
    """Return the task of solving a prepared model, with the usual settings if none are given."""
    model = prepared.model
    begin = Start() if start is None else start
    if settings is None:
        settings = mip_settings(options) if model.is_mip else lp_settings(options)
    return Task(
        model=model,
        settings=settings,
        tolerance=options.tolerance,
        crossover=options.wants_vertex,
        want_ray=model.value.size <= RAY_NONZEROS,
        x=begin.x,
        row_dual=prepared.duals_in(begin.row_dual),
        basis=begin.basis,
    )


def _no_integer(problem: Problem, column: int) -> Outcome:
    return outcome_of(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        message=f"No integer lies between the bounds {problem.lower[column]:g} and "
        f"{problem.upper[column]:g} of the integer variable '{problem.column_label(column)}'.",
    )


def _no_columns(problem: Problem, tolerance: float) -> Outcome:
    """Answer a problem without columns: its rows hold at zero, or they do not."""
    low, high = problem.row_lower, problem.row_upper
    bad = np.flatnonzero((low > tolerance) | (high < -tolerance))
    if bad.size:
        row = int(bad[0])
        return outcome_of(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            message=f"Row '{problem.row_label(row)}' has no variables and needs a value between "
            f"{low[row]:g} and {high[row]:g}.",
        )
    m = problem.num_rows
    return outcome_of(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=problem.offset,
        bound=problem.offset,
        x=np.zeros(0),
        row_activity=np.zeros(m),
        row_dual=np.zeros(m),
        reduced_cost=np.zeros(0),
        basis=Basis(np.zeros(0, dtype=np.int8), np.ones(m, dtype=np.int8)),
    )


# The entry point of crossover: any engine's point on a linear program, moved to a vertex.


SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def expect_crossover(problem: Problem) -> None:
    """Have a child ready for the crossover of a problem that is being solved."""
    from solvers.highs import child

    if max(problem.num_nonzeros, problem.num_rows, problem.num_columns) > child.SMALL_STUBBORN:
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
    from solvers.highs.child import run_task

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
