"""Where a task runs: in a thread of this process, or in a child that can be killed."""

from __future__ import annotations

from dataclasses import replace

from solvers.highs.channel import Offers
from solvers.highs.child import (
    ChildCannotStartError,
    ChildCrashedError,
    can_start,
    run_in_child,
)
from solvers.highs.in_process import run_in_thread
from solvers.highs.task import Reply, Task, Work
from solvers.progress import Progress

SMALL_LP = 100_000
"""LPs with at most this many nonzeros, rows and columns run in this process.

Measured: simplex and interior point up to 600,000 nonzeros stop within 0.35 s of being asked, and
within 0.2 s below this size.
"""

SMALL_MIP = 8_000
"""MIPs up to this size run in this process: of 120 MIPLIB models up to 60,000 nonzeros none below
13,000 took more than 0.1 s to stop, the worst above took 2.4 s."""

SMALL_STUBBORN = 5_000
"""Up to this size crossover, conflicts and HiGHS's PDLP, which hear no interrupt, run here."""


def run_task(
    task: Task,
    progress: Progress,
    offers: Offers | None = None,
    *,
    apart: bool = False,
    retry: bool = True,
) -> Reply:
    """Run a task where its limit can be kept, with a second try after a crash.

    Parameters
    ----------
    task : Task
    progress : Progress
    offers : callable, optional
        Points found elsewhere.
    apart : bool
        Keep out of the way of a process whose other threads are busy in Python: use a child
        process whatever the size, except for simplex, which can be stopped without being asked.
    retry : bool
        Try once more after a crash.

    Raises
    ------
    EngineError
        HiGHS refuses the model, or crashed once too often.
    """
    if apart and is_small(task) and task.settings.get("solver") == "simplex":
        return run_in_thread(task, progress, offers, halting=True)
    if (is_small(task) and not apart) or not can_start():
        return run_in_thread(task, progress, offers)
    try:
        return run_in_child(task, progress, offers)
    except ChildCannotStartError as failure:
        progress.log(f"No child process can be started ({failure}); working in this one.")
        return run_in_thread(task, progress, offers)
    except ChildCrashedError as failure:
        if not retry or progress.should_stop() is not None or task.work is not Work.SOLVE:
            raise
        progress.log(f"{failure} Trying once more without presolve.")
        return run_in_child(_careful(task), progress, offers)


def is_small(task: Task) -> bool:
    """Whether HiGHS will stop soon enough by itself when asked."""
    model = task.model
    size = max(model.num_rows, model.num_columns, model.value.size)
    if task.work is not Work.SOLVE or task.settings.get("solver") == "pdlp":
        return size <= SMALL_STUBBORN
    return size <= (SMALL_MIP if model.is_mip else SMALL_LP)


def _careful(task: Task) -> Task:
    settings = {**task.settings, "presolve": "off", "threads": 1}
    return replace(task, settings=settings)
