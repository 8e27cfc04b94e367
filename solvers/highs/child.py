"""HiGHS in a process of its own, which can be killed.

HiGHS does not look at the clock or heed an interrupt in its root relaxation, in factorisations,
in clique and symmetry detection, or in crossover, so a limit holds for certain only for somebody
who can end it from outside. Two ways were rejected: ``multiprocessing`` with *spawn* runs the
caller's script again where it lacks a ``__main__`` guard, and with *fork* copies a process whose
other threads hold locks.

The parent polls: it hands incumbents and bounds to the progress object as they appear, asks the
child to stop at the deadline or on interruption, and after a short grace kills it. What the child
had told by then is the answer. A child whose answer nobody waits for any more is killed at once.

Task and reply go through pipes, points and bounds through memory; nothing is written to a disk.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.highs import process_pool
from solvers.highs.in_process import run_in_thread
from solvers.highs.messages import (
    BOUND,
    INCUMBENT,
    ITERATIONS,
    OFFER,
    PHASE,
    REPLYING,
    STARTING,
    STOP,
    Failure,
    SharedPage,
)
from solvers.highs.process_pool import ChildCannotStartError, Process
from solvers.highs.task import Offers, Reply, Task, Told, Work

BOOTSTRAP = (
    "import sys, json; "
    "sys.path[:] = json.loads(sys.argv[1]); "
    "from solvers.highs.worker import main; "
    "main()"
)
POLL = 0.02
"""Seconds between two looks at the child."""

GRACE_LOW, GRACE_HIGH, GRACE_SHARE = 0.3, 2.0, 0.03
"""How long a child may go on after its deadline: this part of the time limit, within bounds."""

REPLY_GRACE = 0.4
"""More seconds for a child that has stopped and is writing its reply."""


class ChildCrashedError(EngineError):
    """The child ended without an answer; another try may fare better.

    Parameters
    ----------
    reply : Reply
        What it had told by then, with the sentence of the error.
    """

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.message)
        self.reply = reply


def can_start() -> bool:
    """Whether this interpreter can start another of its kind and hand files over to it."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and os.name == "posix"


def expect() -> None:
    """Have a child ready for a task that will come in a moment."""
    if can_start():
        process_pool.expect(BOOTSTRAP)


def run_in_child(task: Task, progress: Progress, offers: Offers | None = None) -> Reply:
    """Run a task in a child process.

    Parameters
    ----------
    progress : Progress
        Told of incumbents, bounds and log lines; its limit is kept by killing the child.
    offers : callable, optional
        Asked often; returns a feasible point found elsewhere, or None.

    Raises
    ------
    ChildCannotStartError
        No child process could be started here.
    ChildCrashedError
        The child crashed before it had anything to tell.
    EngineError
        HiGHS refuses the model.
    """
    if progress.abandoned:
        return Reply(SolutionStatus.NOTHING, StopReason.INTERRUPTED)
    with Process(BOOTSTRAP, progress) as process, _page(process, task, progress) as page:
        process.begin(task)
        watch = _Watch(task, page, progress, offers)
        watch.until_end(process)
    return watch.reply(process)  # all that the child wrote is read by now


@contextlib.contextmanager
def _page(process: Process, task: Task, progress: Progress) -> Iterator[SharedPage]:
    """Make the page of a child, with points where branch and bound tells of them."""
    num_columns = task.model.num_columns if task.model.is_mip else 0
    deadline = time.monotonic() + progress.time_left
    try:
        page = SharedPage.create(process.child.page.fileno(), num_columns, deadline)
    except OSError as error:
        raise ChildCannotStartError(f"no memory to share with it: {error}") from error
    try:
        yield page
    finally:
        page.close()


class _Watch:
    """What the parent does while the child works."""

    def __init__(
        self, task: Task, page: SharedPage, progress: Progress, offers: Offers | None
    ) -> None:
        self._model = task.model
        self._page = page
        self._progress = progress
        self._offers = offers
        self._told = Told()
        self._phase = STARTING
        self._iterations = 0.0
        self._stop: StopReason | None = None

    def until_end(self, process: Process) -> None:
        """Poll until the child has ended by itself or has been killed."""
        kill_at = np.inf
        while not process.wait(POLL):
            self._forward()
            if self._progress.abandoned:
                self._stop = StopReason.INTERRUPTED
                process.kill()
                break
            if self._stop is None:
                self._stop = self._progress.should_stop()
                if self._stop is not None:
                    kill_at = time.monotonic() + self._grace()
                    if self._stop is StopReason.INTERRUPTED:
                        self._page.put(STOP, 1.0)
            writing = self._page.get(PHASE) == REPLYING
            if time.monotonic() >= kill_at + (REPLY_GRACE if writing else 0.0):
                process.kill()
                break
        self._forward()
        self._phase = self._page.get(PHASE)

    def reply(self, process: Process) -> Reply:
        """Return the child's reply, or what is known without one."""
        answer = process.reply
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, Failure):
            if answer.kind != "MemoryError":
                raise EngineError(answer.message)
            return self._told.reply(
                self._model, StopReason.OUT_OF_MEMORY, "The reference engine ran out of memory."
            )
        if process.killed and self._stop is not None:
            return self._told.reply(self._model, self._stop)
        words = _obituary(process.child.popen.returncode)
        if self._phase == STARTING:
            said = f": {' '.join(process.tail)}" if process.tail else ""
            raise ChildCannotStartError(f"it {words}{said}")
        if self._told.point is not None:
            return self._told.reply(
                self._model, StopReason.NUMERICAL_TROUBLE, f"The reference engine {words}."
            )
        message = f"The reference engine {words} before it had an answer."
        raise ChildCrashedError(
            self._told.reply(self._model, StopReason.NUMERICAL_TROUBLE, message)
        )

    def _grace(self) -> float:
        limit = self._progress.time_limit
        share = GRACE_SHARE * limit if np.isfinite(limit) else GRACE_LOW
        return float(np.clip(share, GRACE_LOW, GRACE_HIGH))

    def _forward(self) -> None:
        found = self._page.read_point(INCUMBENT)
        if found is not None:
            self._told.point = found
            self._progress.incumbent(found[0], "highs", found[1])
        self._told.bound = self._page.get(BOUND)
        self._progress.bound(self._told.bound, "highs")
        count = self._page.get(ITERATIONS)
        if count != self._iterations:
            self._iterations = count
            self._progress.iteration(int(count))
        offer = None if self._offers is None else self._offers()
        if offer is not None:
            objective = self._model.objective_at(offer)
            self._page.write_point(OFFER, objective, offer)


def _obituary(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    if name == "SIGKILL":
        return "was killed from outside (SIGKILL, often a sign of too little memory)"
    return f"crashed ({name})"


# Where a task runs: in a thread of this process, or in a child that can be killed.


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
    offers : callable, optional
        Points found elsewhere.
    in_child : bool
        Keep out of the way of a process whose other threads are busy in Python: use a child
        process, except for what is small and can be stopped without being asked: simplex, and
        branch and bound.
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
    unasked = task.model.is_mip or task.settings.get("solver") == "simplex"
    if in_child and is_small(task) and unasked and task.work is Work.SOLVE:
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
