"""Problems solved one by one: small LPs on all cores at once, the others after one another."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TextIO

import numpy as np

from gpu_bridge.batch.batch import Batch
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.errors import CrossedBoundsError
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress

SMALL_NONZEROS = 50_000
"""LPs with fewer entries are solved by one thread each, by HiGHS even if PDLP is asked for, which
takes 2 to 13 times as long for models of 4,000 to 10,000."""

POOL_FROM = 8
"""Fewer small LPs than this are solved after one another, each with a log and an explanation."""


def solve_singles(
    problems: Sequence[Problem | Exception],
    options: Options,
    progress: BridgeProgress,
    streams: Sequence[TextIO] = (),
    start: Start | None = None,
) -> list[Outcome]:
    """Solve problems in the time that is left; an exception stands for crossed bounds.

    With ``start`` all are of its sizes, and begin there: four times as fast for a sweep of costs
    over ``scfxm1``, from a basis.
    """
    small = [k for k, problem in enumerate(problems) if _is_small(problem, options)]
    found: dict[int, Outcome] = {}
    if len(small) >= POOL_FROM:
        found = _on_all_cores({k: problems[k] for k in small}, options, progress, start)
    analyses = Analyses()  # most share a structure
    return [
        found[k] if k in found else _solve(problem, options, progress, streams, start, analyses)
        for k, problem in enumerate(problems)
    ]


def labelled(outcomes: list[Outcome], batch: Batch) -> list[Outcome]:
    """Give answers that have no problem, those of crossed bounds, the one of the batch."""
    return [
        outcome if outcome.problem else dataclasses.replace(outcome, problem=batch.problem)
        for outcome in outcomes
    ]


def _is_small(problem: Problem | Exception, options: Options) -> bool:
    return (
        isinstance(problem, Problem)
        and (options.relax or not problem.is_mip)
        and problem.num_nonzeros < SMALL_NONZEROS
        and options.method in ("auto", "highs", "pdlp")
    )


def _on_all_cores(
    small: Mapping[int, Problem | Exception],
    options: Options,
    progress: Progress,
    start: Start | None,
) -> dict[int, Outcome]:
    """Solve small LPs with one thread each; a second Ctrl-C drops those that have not begun."""
    pool = ThreadPoolExecutor(options.threads or len(os.sched_getaffinity(0)))
    try:
        jobs = {k: pool.submit(_solve_small, p, options, progress, start) for k, p in small.items()}
        return {k: _heeding_signals(job) for k, job in jobs.items()}
    finally:
        pool.shutdown(cancel_futures=True)


def _heeding_signals(job: Future[Outcome]) -> Outcome:
    """Wait for a job, looking up now and then.

    The system may hand Ctrl-C to any thread, but only the main one acts on it, once it runs:
    waiting without a limit, it would sleep on.
    """
    while not job.done():
        wait([job], LOOK_AGAIN)
    return job.result()


def _solve(
    problem: Problem | Exception,
    options: Options,
    progress: BridgeProgress,
    streams: Sequence[TextIO],
    start: Start | None,
    analyses: Analyses,
) -> Outcome:
    """Solve one problem as a call of its own, with what is left of the time."""
    from gpu_bridge.outcome import crossed_bounds_outcome
    from gpu_bridge.pipeline.dispatch import solve

    if isinstance(problem, CrossedBoundsError):
        return crossed_bounds_outcome(problem)
    assert isinstance(problem, Problem)
    if progress.should_stop() is not None:
        return _not_reached(problem, progress)
    limit = _limit(options, progress)
    if np.isfinite(limit):
        options = dataclasses.replace(options, time_limit=limit)
    outcome = solve(problem, options, start=start, streams=streams, analyses=analyses)
    if outcome.stop_reason is StopReason.INTERRUPTED:
        progress.interrupt()
    return outcome


def _solve_small(
    problem: Problem | Exception, options: Options, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a small LP with one thread, past the log, and check it."""
    from solvers import highs

    assert isinstance(problem, Problem)
    if progress.should_stop() is not None:
        return _not_reached(problem, progress)
    lp = problem.relaxation() if problem.is_mip else problem
    own = _OfOne(progress)
    own.time_limit = _limit(options, progress)
    alone = dataclasses.replace(options, threads=1)
    answer = verify(lp, highs.solve(lp, alone, own, start), options)
    if answer.stop_reason is StopReason.NUMERICAL_TROUBLE:
        careful = dataclasses.replace(alone, presolve=False, lp_algorithm="auto")
        answer = verify(lp, highs.solve(lp, careful, own), options)
    answer = dataclasses.replace(answer, seconds=own.seconds)
    return Outcome.in_model_sense(answer, lp)


class _OfOne(DetachableProgress):
    """One of many: it hears an interruption of the whole call, keeps its own time, says nothing."""

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent)
        self._before = parent.seconds
        self.time_limit = parent.time_left

    @property
    def seconds(self) -> float:
        """Seconds since this one began."""
        return super().seconds - self._before

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Say nothing: lines of many at once would be unreadable."""

    def log(self, message: str) -> None:
        """Say nothing, for the same reason."""


def _limit(options: Options, progress: Progress) -> float:
    """Return the seconds that one member may take from now on."""
    each = np.inf if options.time_limit_each is None else options.time_limit_each
    return min(each, progress.time_left)


def _not_reached(problem: Problem, progress: Progress) -> Outcome:
    reason = progress.should_stop() or StopReason.TIME_LIMIT
    return Outcome(SolutionStatus.NOTHING, reason, problem=problem)
