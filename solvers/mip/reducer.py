"""Presolve beside the heuristics, and the reduced problem with the ways there and back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.threads import leave, start_thread
from solvers.mip.budget import SMALL_SHARE

if TYPE_CHECKING:
    from solvers.presolve import Reduction

Map = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left of a problem to search."""

    problem: Problem
    to_original: Map
    """Maps a point of it to one of the original problem."""
    to_reduced: Map | None = None
    """Maps a point of the original to one of it that may or may not be feasible."""
    settled: Outcome | None = None
    """The answer to the original problem, where reducing found it."""
    further: Callable[[Progress], Reduced] | None = None
    """Reduces the original problem anew and in more time, where time has ended this reduction."""


def unreduced(problem: Problem) -> Reduced:
    """Return a problem as its own reduction."""

    def itself(x: FloatArray) -> FloatArray:
        return x

    return Reduced(problem, itself, itself)


PRESOLVE_AT_MOST = 3.0
"""Seconds, within :data:`SMALL_SHARE` of the time left, that heuristics wait for presolve before
they begin on the model as it is."""

PRESOLVE_BESIDE_FROM = 4_000_000
"""Nonzeros from which heuristics begin at once and presolve goes on beside them: HiGHS takes about
a microsecond for each to read such a model, and more than its seconds for the first reductions."""

FURTHER_SHARE = 0.4
"""Part of the time left that presolve may take in all. On the model as it is, heuristics often find
nothing: walks of 400 million entries found no point of irish-electricity before presolve, which
takes five seconds of one core, and after it one in 70 to 80 million, on one of two seeds."""

SolveExactly = Callable[[Problem, Progress], Outcome | None]
"""Solves what presolve has left, where another engine solves problems of its kind exactly; returns
None where it is of no such kind, or no optimum was proven."""


class BackgroundPresolve:
    """HiGHS's presolve in a thread, for who waits for it a while and then goes on without.

    Parameters
    ----------
    seconds : float
        What it may take at most; the reduction is then what it has come to.
    """

    def __init__(self, problem: Problem, progress: Progress, seconds: float) -> None:
        from solvers.presolve.with_highs import TIME_SHARE

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
        if self._reduction is not None:
            return self._reduction
        from solvers.presolve import unchanged

        return unchanged(self._problem)

    def abandon(self) -> None:
        """Let nobody wait for it any more; a reduction that is there stays of use."""
        if not self._ended.is_set():
            self._progress.abandon()
            leave(self._thread)

    def _run(self) -> None:
        from solvers import presolve

        self._reduction = presolve.apply(self._problem, self._progress, "highs")
        self._ended.set()

    def _has_failed(self, failure: BaseException) -> None:
        """Carry over what presolve raised to who asks for the reduction."""
        self._failure = failure
        self._ended.set()


class Reducer:
    """Presolves one problem.

    It is never cut short to begin anew: what it has done by then is half of the work.
    """

    def __init__(self, problem: Problem, solve_exactly: SolveExactly | None = None) -> None:
        self._problem = problem
        self._solve_exactly = solve_exactly
        self._background: BackgroundPresolve | None = None

    def __call__(self, progress: Progress) -> Reduced:
        """Return the reduced problem, or the problem itself with the way to a smaller one."""
        if self._problem.num_nonzeros < PRESOLVE_BESIDE_FROM:
            patience = min(SMALL_SHARE * progress.time_left, PRESOLVE_AT_MOST)
            if self._begun(progress).wait(patience):
                return self._reduced(progress)
        return replace(unreduced(self._problem), further=self._further)

    def abandon(self) -> None:
        """Stop what nobody waits for any more."""
        if self._background is not None:
            self._background.abandon()

    def _begun(self, progress: Progress) -> BackgroundPresolve:
        if self._background is None:
            seconds = FURTHER_SHARE * progress.time_left
            self._background = BackgroundPresolve(self._problem, progress, seconds)
        return self._background

    def _further(self, progress: Progress) -> Reduced:
        """Wait for the end of presolve, however long it takes."""
        background = self._begun(progress)
        while not background.wait(LOOK_AGAIN) and progress.should_stop() is None:
            pass
        return self._reduced(progress)

    def _reduced(self, progress: Progress) -> Reduced:
        assert self._background is not None  # the callers have begun
        reduction = self._background.reduction()
        settled = reduction.settled
        is_reduced = reduction.problem is not self._problem
        if settled is None and is_reduced and self._solve_exactly is not None:
            answer = self._solve_exactly(reduction.problem, progress)
            settled = None if answer is None else reduction.undo(answer)
        return _as_reduced(reduction, settled)


def _as_reduced(reduction: Reduction, settled: Outcome | None) -> Reduced:
    """Return what presolve has come to, with the ways there and back."""
    forward = reduction.forward

    def to_original(x: FloatArray) -> FloatArray:
        point = Outcome(
            SolutionStatus.FEASIBLE, StopReason.CONVERGED, objective=np.nan, x=x, engine="mip"
        )
        back = reduction.undo(point).x
        assert back is not None  # undo maps points to points
        return back

    def to_reduced(x: FloatArray) -> FloatArray:
        assert forward is not None  # given only where there is one
        there = forward(Start(x=x)).x
        assert there is not None  # as above
        return there

    return Reduced(reduction.problem, to_original, None if forward is None else to_reduced, settled)
