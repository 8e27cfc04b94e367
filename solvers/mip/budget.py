"""How long a heuristic may go on: by the clock, by work done, or until it is told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.progress import Progress

LOOK = 20_000.0
"""Work that asking counts for: what goes on between two looks costs some tenths of a millisecond
in the interpreter however small the model is, as much as so many entries."""

SMALL_MODEL = 10_000
"""Entries that a smaller model counts as having where work is limited by its size."""

LARGE_MODEL = 1_000_000
"""Entries of a model beyond which nothing is done that takes a second or two of one thread for as
many, or another copy of it for each process."""

VERY_LARGE_MODEL = 5_000_000
"""Entries of a model beyond which no heuristic takes part whose own view of it takes seconds to
make, or several times its memory."""

BEFORE_OTHERS = 2.0
"""Seconds of branch and bound before other processes begin beside it: most models need no more."""

SMALL_SHARE = 0.1
"""Part of the time left that something may take, or is waited for, before more is known of it: a
first turn, presolve, heuristics before a proof, an LP of a point."""

SLICE = 1_000_000
"""Entries that compiled loops visit between two looks: some ten milliseconds."""


def _never() -> bool:
    return False


class Budget:
    """Time and work that a heuristic may spend; safe to share between threads.

    Work is counted in entries of the matrix visited, so that a budget without a time limit makes
    the same decisions on every machine. A heuristic asks :meth:`spent` about a hundred times a
    second at least and looks at no other clock.

    Parameters
    ----------
    seconds : float
        Time from now; inf for no limit.
    work : float
        Entries of the matrix that may be visited; inf for no limit.
    stop : callable
        Asked whether to stop for a reason from outside.
    by_clock : bool
        Parts of it may end by the clock though it has no limit itself.
    """

    def __init__(
        self,
        seconds: float = np.inf,
        work: float = np.inf,
        stop: Callable[[], bool] = _never,
        *,
        by_clock: bool = False,
    ) -> None:
        self._began = time.monotonic()
        self._end = self._began + seconds
        self._work = work
        self._by_clock = by_clock or self.is_timed
        self._done = 0.0
        self._stop = stop
        self._parent: Budget | None = None
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Seconds since the budget was made."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is spent, never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def work(self) -> float:
        """Work done so far."""
        return self._done

    @property
    def work_left(self) -> float:
        """Work until the budget is spent, never negative."""
        own = max(0.0, self._work - self._done)
        return own if self._parent is None else min(own, self._parent.work_left)

    @property
    def is_timed(self) -> bool:
        """Whether the clock has a say: False where every run has to take the same path."""
        return bool(np.isfinite(self._end))

    def charge(self, work: float) -> None:
        """Count work as done, here and in the budget this is a part of."""
        with self._lock:
            self._done += work
        if self._parent is not None:
            self._parent.charge(work)

    def spent(self) -> bool:
        """Whether to stop now; counts as :data:`LOOK` entries."""
        self.charge(LOOK)
        return self.is_over()

    def is_over(self) -> bool:
        """Whether to stop now; counts as nothing, for who asks by the clock or very often."""
        if self._stop() or self._done >= self._work or time.monotonic() >= self._end:
            return True
        return self._parent is not None and self._parent.is_over()

    def part(self, seconds: float = np.inf, work: float = np.inf) -> Budget:
        """Return a budget within this one; only ``work`` counts where the clock has no say."""
        left = min(seconds, self.seconds_left) if self._by_clock else np.inf
        piece = Budget(left, work, by_clock=self._by_clock)
        piece._parent = self
        return piece


class BudgetProgress(Progress):
    """Stops an engine when a budget is over.

    Engines ask by the clock, so asking does not count as work: untimed searches repeat themselves.
    """

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget.seconds_left)
        self._budget = budget

    @property
    def time_left(self) -> float:
        """Seconds until the time is spent, never negative; inf without a limit."""
        return self._budget.seconds_left

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        return StopReason.TIME_LIMIT if self._budget.is_over() else None
