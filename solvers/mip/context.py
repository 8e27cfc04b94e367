"""One solve under way: what it is about, who is at work, and whether it is over.

What is known of the reduced model that is searched is in
:class:`~solvers.mip.portfolio.heuristic.HeuristicContext`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from solvers.core.concurrency import leave, start_thread, usable_cores
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.answer import infeasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import IncumbentStore

PATIENCE = 0.3
"""Seconds to wait at the end for threads to hear that it is over; after that they are left."""

STALL_SECONDS, STALL_SHARE = 60.0, 2.0
"""Heuristics alone, without a time limit, stop after this long without improvement: seconds, and
this multiple of the time of the last improvement."""


class SolveContext:
    """What all parts of one solve know; safe to use from any thread.

    Attributes
    ----------
    start : (n,) float64 or None
        What the caller knows, with NaN for the rest.
    start_is_open : bool
        Whether the start is still to be completed or mended.
    cores : int
        Threads that may be at work.
    incumbents : IncumbentStore
        Takes the points of all.
    settled : Outcome or None
        The answer, where presolve or propagation have found it.
    is_reducing : bool
        Whether presolve is still at work beside heuristics, which may begin again on a smaller
        model.
    """

    def __init__(
        self, problem: Problem, options: EngineOptions, progress: Progress, start: Start | None
    ) -> None:
        self.problem = problem
        self.options = options
        self.progress = progress
        self.start = None if start is None else start.x
        self.start_is_open = False
        self.cores = options.threads or usable_cores()
        self.incumbents = IncumbentStore(problem, progress, options.tolerance, options.pool_size)
        self.settled: Outcome | None = None
        self.is_reducing = False
        self.over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._budgets: list[Budget] = []
        self._best = np.inf
        self._improved_at = 0.0

    @property
    def is_sequential(self) -> bool:
        """Whether heuristics come one after the other, and branch and bound after them."""
        return self.options.deterministic or self.cores == 1

    @property
    def has_point(self) -> bool:
        """Whether any feasible point is known."""
        return len(self.incumbents.pool) > 0

    def is_over(self) -> bool:
        """Whether everybody is to stop."""
        settled = self.over.is_set() or self.settled is not None
        return settled or self.progress.should_stop() is not None

    def is_closed(self) -> bool:
        """Whether the best point is proven to be as good as was asked for."""
        return self.incumbents.is_closed(self.options.rel_gap, self.options.abs_gap)

    def is_settled(self) -> bool:
        """Whether heuristics need not go on: everybody is to stop, or the best point is proven."""
        return self.is_over() or self.is_closed()

    def has_stalled(self) -> bool:
        """Whether heuristics alone, without a time limit, have improved nothing for long."""
        if np.isfinite(self.progress.time_limit):
            return False
        now, best = self.progress.seconds, self.incumbents.pool.objective
        if best < self._best:
            self._best, self._improved_at = best, now
        since = now - self._improved_at
        return since > STALL_SECONDS and since > STALL_SHARE * self._improved_at

    def prove_infeasible(self) -> None:
        """Take note that propagation has proven that there is no feasible point."""
        if not self.has_point:
            self.settled = infeasible()

    def prove_bound(self, bound: float, source: str) -> None:
        """Take note of an objective that no feasible point is below, where a bound is asked for."""
        if not self.options.heuristics_only:
            self.progress.bound(bound, source)

    def budget(self, stop: Callable[[], bool]) -> Budget:
        """Return what the options allow: the time left and the limit on work."""
        limit = self.options.work_limit
        work = np.inf if limit is None else 1e9 * limit
        return self.watched(Budget(self.progress.time_left, work, stop))

    def watched(self, budget: Budget) -> Budget:
        """Return a budget of all heuristics, after noting whose end is that of the work allowed."""
        self._budgets.append(budget)
        return budget

    @property
    def has_done_its_work(self) -> bool:
        """Whether heuristics have ended for the limit on their work."""
        return any(budget.work_left <= 0.0 for budget in self._budgets)

    def spawn(self, name: str, work: Callable[[], object]) -> None:
        """Let somebody work in a thread of his own; whoever fails leaves the rest at work."""

        def failed(failure: BaseException) -> None:
            self.progress.log(f"'{name}' failed: {failure!r}")

        try:
            self._threads.append(start_thread(name, work, failed))
        except EngineError as failure:  # the system has no thread left
            failed(failure)

    def anybody_works(self) -> bool:
        """Whether any of those who were spawned is still at work."""
        return any(thread.is_alive() for thread in self._threads)

    def wait_for_threads(self) -> None:
        """Wait a moment for those at work to hear that it is over, and leave the others behind."""
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        leave(*self._threads)
