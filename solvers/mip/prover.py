"""One branch and bound beside the heuristics: it proves the bound, and they exchange their points.

HiGHS runs on the problem as it was given, in a child process that is killed at the deadline; the
last bound it told stands. Its points go through the incumbent store like all others, and the best
of that store is submitted to it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers import highs
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress, leave, start_thread
from solvers.mip.model import lowered
from solvers.mip.solutions.incumbents import IncumbentStore

if TYPE_CHECKING:
    from solvers.highs.under_way import UnderWay

SOURCE = "highs"


class Prover:
    """A branch and bound under way.

    Parameters
    ----------
    problem : Problem
        As it was given.
    options : EngineOptions
        Gaps, tolerances and seed; ``threads`` are those of HiGHS.
    progress : Progress
        Of the solve: told of bounds.
    incumbents : IncumbentStore
        Takes HiGHS's points and gives it the others'.
    on_point : callable
        Told of each point (n,) of HiGHS's that the incumbent store took.
    """

    def __init__(
        self,
        problem: Problem,
        options: EngineOptions,
        progress: Progress,
        incumbents: IncumbentStore,
        on_point: Callable[[FloatArray], None],
    ) -> None:
        self._problem = problem
        self._options = options
        self._progress = progress
        self._incumbents = incumbents
        self._deputy = _Deputy(progress, options, incumbents, on_point)
        self._submitted = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.outcome: Outcome | None = None

    def start(self, begin: Start | None, under_way: UnderWay | None = None) -> None:
        """Begin in a thread of its own, if the system has one left, or go on with what has begun.

        A large model goes to a child process.
        """

        def work() -> None:
            if under_way is None:
                self.run(begin, in_child=True)
            else:
                self._run(lambda: under_way.go_on(self._deputy, self._submit))

        try:
            self._thread = start_thread("prover", work, self._has_failed)
        except EngineError as failure:
            self._has_failed(failure)

    def run(self, begin: Start | None, *, in_child: bool = True) -> None:
        """Work in the calling thread; what comes of it is in ``outcome``."""

        def solve() -> Outcome:
            return highs.solve(
                self._problem,
                self._options,
                self._deputy,
                begin,
                offers=self._submit,
                in_child=in_child,
            )

        self._run(solve)

    def _run(self, solve: Callable[[], Outcome]) -> None:
        try:
            self.outcome = solve()
        except Exception as failure:  # the points of others are not lost
            self._has_failed(failure)
        finally:
            self._ended.set()

    def _has_failed(self, failure: BaseException) -> None:
        """Take note that branch and bound has ended without an answer, and why."""
        reason = str(failure) or type(failure).__name__
        words = f"Branch and bound ended without an answer: {reason}"
        self.outcome = Outcome(
            SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, message=words, engine=SOURCE
        )
        self._progress.log(words)
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """Whether branch and bound is over, with or without an answer."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Tell it that nobody waits any more; the child is killed."""
        self._deputy.abandon()
        if self._thread is not None:
            leave(self._thread)

    def _submit(self) -> FloatArray | None:
        """Return the best point if it is new and another's."""
        version = self._incumbents.pool.version
        best = self._incumbents.pool.best
        if version == self._submitted or best is None:
            return None
        self._submitted = version
        is_own = best.source == SOURCE and best.objective >= self._deputy.told
        return None if is_own else best.x


class _Deputy(Progress):
    """What HiGHS asks and tells, with an end of its own."""

    def __init__(
        self,
        parent: Progress,
        options: EngineOptions,
        incumbents: IncumbentStore,
        on_point: Callable[[FloatArray], None],
    ) -> None:
        super().__init__(parent.time_limit)
        self._parent = parent
        self._options = options
        self._incumbents = incumbents
        self._on_point = on_point
        self._abandoned = threading.Event()
        self._told = np.inf

    @property
    def told(self) -> float:
        """Objective of the best point that this branch and bound has told of, less its errors."""
        return lowered(self._told)

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return self._parent.seconds

    @property
    def interrupted(self) -> bool:
        """Whether the solve was interrupted or nobody waits any more."""
        return self.abandoned or self._parent.interrupted

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._abandoned.is_set() or self._parent.abandoned

    def abandon(self) -> None:
        """Let it end without an answer."""
        self._abandoned.set()

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Have the incumbent store check a point of HiGHS's."""
        if x is None or not objective < self._told:
            return False
        self._told = objective
        improved = self._incumbents.record(x, SOURCE)
        self._on_point(x)
        return improved

    def bound(self, value: float, source: str) -> bool:
        """Pass a bound on; none is better than the best point by more than its own error."""
        return self._parent.bound(value, source)

    def engine_output(self, line: str) -> None:
        """Pass on a line of HiGHS's log."""
        if not self.abandoned:
            self._parent.engine_output(line)

    def log(self, message: str) -> None:
        """Pass on a message."""
        if not self.abandoned:
            self._parent.log(message)
