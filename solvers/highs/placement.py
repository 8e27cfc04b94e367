"""Where a task runs: in a thread of this process, or in a child that can be killed."""

from __future__ import annotations

from dataclasses import replace

from solvers.core.progress import Progress
from solvers.highs.channel import Offers
from solvers.highs.child import ChildCrashedError, can_start, run_in_child
from solvers.highs.in_process import run_in_thread
from solvers.highs.process import ChildCannotStartError
from solvers.highs.task import Reply, Task, Work

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

PATIENCE = 0.5
"""Seconds after a limit in which HiGHS in this process may stop, where there is no child to kill:
what a child has for it, and its reply."""


def run_task(
    task: Task,
    progress: Progress,
    offers: Offers | None = None,
    *,
    in_child: bool = False,
    retry: bool = True,
) -> Reply:
    """Run a task where its limit can be kept, with a second try after a crash.

    Parameters
    ----------
    task : Task
    progress : Progress
    offers : callable, optional
        Points found elsewhere.
    in_child : bool
        Keep out of the way of a process whose other threads are busy in Python: use a child
        process whatever the size, except for simplex, which can be stopped without being asked.
    retry : bool
        Try once more after a crash.

    Returns
    -------
    Reply
        After the last crash, what was told before it, with the reason in its message.

    Raises
    ------
    EngineError
        HiGHS refuses the model.
    """
    if in_child and is_small(task) and task.settings.get("solver") == "simplex":
        return run_in_thread(task, progress, offers, halting=True)
    if (is_small(task) and not in_child) or not can_start():
        return run_in_thread(task, progress, offers)
    tries = [task, _careful(task)] if retry and task.work is Work.SOLVE else [task]
    while True:
        attempt = tries.pop(0)
        try:
            return run_in_child(attempt, progress, offers)
        except ChildCannotStartError as failure:
            progress.log(f"No child process began to work ({failure}); working in this one.")
            return run_in_thread(attempt, progress, offers, patience=PATIENCE)
        except ChildCrashedError as failure:
            if not tries or progress.should_stop() is not None:
                progress.log(str(failure))
                return failure.reply
            progress.log(f"{failure} Trying once more without presolve.")


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
