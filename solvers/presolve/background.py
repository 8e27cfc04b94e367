"""Presolve in a thread of its own, for who waits for it a while and then goes on without."""

from __future__ import annotations

import threading

from solvers import presolve
from solvers.core.concurrency import leave, start_thread
from solvers.core.problem import Problem
from solvers.core.progress import DetachableProgress, Progress
from solvers.presolve import Reduction, unchanged
from solvers.presolve.with_highs import TIME_SHARE


class BackgroundPresolve:
    """HiGHS's presolve of one problem, under way from now on.

    Parameters
    ----------
    problem : Problem
    progress : Progress
    seconds : float
        What it may take at most; the reduction is then what it has come to.
    """

    def __init__(self, problem: Problem, progress: Progress, seconds: float) -> None:
        self._problem = problem
        self._progress = DetachableProgress(progress)
        self._progress.time_limit = min(
            progress.time_limit, progress.seconds + seconds / TIME_SHARE
        )
        self._reduction: Reduction | None = None
        self._failure: BaseException | None = None
        self._ended = threading.Event()
        self._thread = start_thread("presolve", self._run, self._has_failed)

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return whether it has ended."""
        return self._ended.wait(None if seconds == float("inf") else seconds)

    def reduction(self) -> Reduction:
        """Return what it has come to; before its end, that is nothing.

        Raises
        ------
        Exception
            What presolve raised.
        """
        if self._failure is not None:
            raise self._failure
        return unchanged(self._problem) if self._reduction is None else self._reduction

    def abandon(self) -> None:
        """Let nobody wait for it any more; a reduction that is there stays of use."""
        if not self._ended.is_set():
            self._progress.abandon()
            leave(self._thread)

    def _run(self) -> None:
        self._reduction = presolve.apply(self._problem, self._progress, "highs")
        self._ended.set()

    def _has_failed(self, failure: BaseException) -> None:
        """Carry over what presolve raised to who asks for the reduction."""
        self._failure = failure
        self._ended.set()
