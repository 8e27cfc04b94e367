"""From a problem to a verified answer in the sense of its model, and the log of how it came about.

    Problem -> at_once, or engines -> Outcome

Whatever a model that is settled at once has no use for is imported by the others only.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

import solvers.core.outcome
from gpu_bridge.interrupt import interruptible
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.pipeline.brief import DECISION, is_settled, is_worth_a_try, try_at_once
from gpu_bridge.pipeline.memory_limit import check_memory_limits
from gpu_bridge.report.log_output import asked_streams
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.solution_pool import pool_solutions
from solvers.core.errors import OptionError
from solvers.core.outcome import Basis, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    from gpu_bridge.report.improvement import Watcher
    from solvers.core.process_state import Analyses
    from solvers.highs.live import Live
    from solvers.highs.under_way import UnderWay

WORTH_A_GPU = 20_000
"""Coefficients from which an engine on a GPU may take part without being asked for."""


def solve(
    problem: Problem,
    options: Options,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
    watcher: Watcher | None = None,
    live: Live | None = None,
    analyses: Analyses | None = None,
) -> Outcome:
    """Solve ``problem`` as :func:`gpu_bridge.solve` does, with checked options.

    Parameters
    ----------
    watcher : Watcher, optional
        Told of better points during the solve; what its function raised is for the caller to
        raise.
    live : Live, optional
        What is left in the reference engine of the last solve of the same model; where a small
        linear program is solved again, simplex goes on from there.
    analyses : Analyses, optional
        What earlier solves have left for models of the same structure.

    Raises
    ------
    MemoryLimitError
        This process may not use as much memory as the engines take to be loaded.
    """
    began = time.monotonic()
    check_memory_limits()  # the adapters come here without any other look
    if options.relax and problem.is_mip:
        problem = problem.relaxation()
    if start is not None:
        start = checked_start(problem, start)
    if options.cluster is not None and problem.is_mip:
        from gpu_bridge.cluster.connection import join

        join(options.cluster)  # says what is missing, whatever comes of the model at once
    choice = None
    if options.method != "auto" or not is_worth_a_try(problem, options, start, live):
        _expect_gpu(problem, options)
        from gpu_bridge.pipeline.registry import choose

        choice = choose(problem, options)
    with ExitStack() as stack:
        progress = BridgeProgress(
            np.inf if options.time_limit is None else options.time_limit,
            streams=[*streams, *asked_streams(options, stack)],
            live=options.log,
            maximize=problem.maximize,
            watcher=watcher,
            began=began,  # to see what a large model is takes a second
        )
        stack.enter_context(progress)
        ended = stack.enter_context(interruptible(progress))
        answer, under_way, explanation = None, None, None
        if choice is None:
            answer, under_way = _at_once(problem, options, progress, start, live)
            if under_way is not None:
                stack.callback(under_way.abandon)
        settled = answer is not None and is_settled(problem, options, answer)
        if live is not None:
            live.was_brief(settled if choice is None else None)
        if answer is None or not settled:
            from gpu_bridge.pipeline.engines import run_engines

            answer, explanation = run_engines(
                problem, options, choice, progress, start, answer, under_way, analyses
            )
        elif answer.solution_status is SolutionStatus.INFEASIBLE and options.explain:
            from gpu_bridge.pipeline.engines import explained_in_time

            explanation = explained_in_time(problem, options, progress)
        outcome = Outcome.in_model_sense(
            answer,
            problem,
            seconds=progress.seconds,
            history=progress.history,
            explained=explanation,
        )
        if problem.is_mip:
            # which begins with the answer, whoever found it and kept no pool
            outcome = dataclasses.replace(outcome, pool=pool_solutions(outcome))
            if options.pool_search == "best" and outcome.solution_status is SolutionStatus.OPTIMAL:
                from gpu_bridge.pipeline.pool_search import with_best_points

                outcome = with_best_points(problem, outcome, options, progress, solve)
        progress.footer(outcome)
        ended(outcome.stop_reason is StopReason.INTERRUPTED)
        return dataclasses.replace(outcome, record=progress.record)


def _expect_gpu(problem: Problem, options: Options) -> None:
    """Make the GPU ready beside all else where this problem may go there."""
    if options.device == "cpu" or options.method == "highs" or options.cluster is not None:
        return
    from solvers.core.device import expect

    if options.device != "auto" or problem.num_nonzeros >= WORTH_A_GPU:
        expect(options.device)
        if options.method == "pdlp":  # what comes next waits for the driver, a tenth of a second
            import solvers.pdlp  # noqa: F401


def _at_once(
    problem: Problem,
    options: Options,
    progress: BridgeProgress,
    start: Start | None,
    live: Live | None,
) -> tuple[solvers.core.outcome.Outcome | None, UnderWay | None]:
    """Return what is known of a small model after some milliseconds, and who goes on with it."""
    progress.header(problem, options, _cpu_name)
    progress.decision(DECISION)
    if progress.should_stop() is not None:
        return None, None
    return try_at_once(problem, options, progress, start, live)


def _cpu_name() -> str:
    from solvers.core.device import cpu

    return cpu().name


def report(outcome: Outcome, options: Options) -> Outcome:
    """Log an answer that needed no engine where a solve would, and return it with that log."""
    with ExitStack() as stack:
        progress = BridgeProgress(streams=asked_streams(options, stack))
        stack.enter_context(progress)
        progress.footer(outcome)
        return dataclasses.replace(outcome, record=progress.record)


def checked_start(problem: Problem, start: Start) -> Start:
    """Return a start whose parts are arrays of the problem's sizes.

    Raises
    ------
    OptionError
        Something else was given, or a part is of another size or kind.
    """
    checked_kind(start)
    basis = start.basis
    if basis is not None:
        if not isinstance(basis, Basis):
            raise OptionError(
                f"The starting 'basis' must be a Basis, such as that of an earlier outcome; a "
                f"{type(basis).__name__} was given."
            )
        sizes = basis.shapes
        if sizes != ((problem.num_columns,), (problem.num_rows,)):
            raise OptionError(
                f"The starting 'basis' has statuses of shape {sizes[0]} and {sizes[1]}; they must "
                f"be ({problem.num_columns},) for the columns and ({problem.num_rows},) for the "
                "rows."
            )
    x = _vector("x", start.x, problem.num_columns)
    return Start(x, _vector("row_dual", start.row_dual, problem.num_rows), basis)


def checked_kind(start: Any) -> None:
    """Raise OptionError for what is no :class:`~solvers.core.outcome.Start`."""
    if not isinstance(start, Start):
        raise OptionError(
            f"'start' must be a gpu_bridge.Start, such as Start(x=...); a {type(start).__name__} "
            "was given."
        )


def _vector(name: str, values: Any, size: int) -> FloatArray | None:
    if values is None:
        return None
    try:
        if np.iscomplexobj(values):
            raise TypeError("some are complex")
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"The starting '{name}' is not an array of numbers: {error}.") from error
    if array.shape != (size,):
        raise OptionError(f"The starting '{name}' has shape {array.shape}; it must be ({size},).")
    return array
