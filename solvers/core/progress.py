"""What an engine asks of its caller, and what it tells: the clock, interruption, and events.

An engine asks one object whether there is time left and whether it was interrupted, and tells it
of better points, bounds and iterations. :class:`Progress` keeps the clock and the history and
prints nothing; ``gpu_bridge.report.progress`` adds the log and the live line. Work in a thread has
a :class:`DetachableProgress` (``threads.py``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from solvers.core.outcome import Event, Outcome, StopReason
from solvers.core.problem import FloatArray

LOOK_AGAIN = 0.02
"""Seconds between two looks at the clock: a main thread that sleeps may miss Ctrl-C."""


class Progress:
    """Clock, interruption flag and event history of one solve; safe to use from any thread.

    Objectives and bounds are those of the minimised problem.

    Parameters
    ----------
    time_limit : float
        Seconds from the beginning after which :meth:`should_stop` says TIME_LIMIT; 0 stops at once.
    began : float, optional
        The beginning by ``time.monotonic()``, where that was before now.
    """

    def __init__(self, time_limit: float = np.inf, *, began: float | None = None) -> None:
        self.time_limit = time_limit
        self._started = time.monotonic() if began is None else began
        self._interrupted = threading.Event()
        self._lock = threading.RLock()
        self._incumbent = np.nan
        self._bound = np.nan
        self._history: list[Event] = []
        self.held: Outcome | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return time.monotonic() - self._started

    @property
    def time_left(self) -> float:
        """Seconds until the time limit, never negative; inf without a limit."""
        return max(0.0, self.time_limit - self.seconds)

    @contextmanager
    def budget(self, seconds: float) -> Iterator[None]:
        """Let at most ``seconds`` from now pass for the engine running inside the block."""
        before = self.time_limit
        self.time_limit = min(before, self.seconds + max(0.0, seconds))
        try:
            yield
        finally:
            self.time_limit = before

    @property
    def interrupted(self) -> bool:
        """Whether someone asked the solve to stop."""
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        """Ask the engine to stop at its next look and return the best it has."""
        self._interrupted.set()

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the answer any more, so that the work may end without one."""
        return False

    @property
    def shares_gpu(self) -> bool:
        """Whether another engine is at work on the same GPU, which needs some of it."""
        return False

    @property
    def wants_point(self) -> bool:
        """Whether somebody waits for the point of least error so far, to be handed over."""
        return False

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        if self.interrupted:
            return StopReason.INTERRUPTED
        if self.seconds >= self.time_limit:
            return StopReason.TIME_LIMIT
        return None

    @property
    def best_objective(self) -> float:
        """Best objective reported so far; NaN without one."""
        return self._incumbent

    @property
    def best_bound(self) -> float:
        """Best bound reported so far; NaN without one."""
        return self._bound

    @property
    def history(self) -> tuple[Event, ...]:
        """Every improvement of incumbent or bound so far, in order of time."""
        with self._lock:
            return tuple(self._history)

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Report a feasible point; return whether it is better than all before it."""
        with self._lock:
            if self._incumbent <= objective:  # False while the incumbent is NaN
                return False
            self._incumbent = objective
            self._record(source)
        return True

    def bound(self, value: float, source: str) -> bool:
        """Report a proven lower bound; return whether it is better than all before it."""
        with self._lock:
            if not np.isfinite(value) or self._bound >= value:
                return False
            self._bound = value
            self._record(source)
        return True

    def listen(self, take: Callable[[FloatArray, str], object]) -> None:
        """Let points that others find meanwhile be given to ``take``, from any thread.

        It takes the point x (n,) and who found it. Here there are no others.
        """

    def hold(self, answer: Outcome) -> None:
        """Hand over the best answer so far, for a caller who cannot wait for the engine's end.

        It is kept as ``held``; nothing has verified it.
        """
        self.held = answer

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Tell how an iterative engine stands (residuals, weights); cheap to call often."""

    def standing(self, runner: str, words: str) -> None:
        """Tell in a few words how one of several engines at work stands; cheap to call often."""

    def log(self, message: str) -> None:
        """Say something a user following the log should know."""

    def engine_output(self, line: str) -> None:
        """Pass on a line of a wrapped engine's own log, which may be left out of ours."""

    def _record(self, source: str) -> None:
        self._history.append(Event(self.seconds, self._incumbent, self._bound, source))
        self.on_event(self._history[-1])

    def on_event(self, event: Event) -> None:
        """React to a new event; called with the lock held, so it must be quick."""


class DetachableProgress(Progress):
    """A :class:`Progress` whose clock is that of another, until it is abandoned.

    The time limit is its own, to begin with that of the parent. Incumbents and bounds stay here:
    what the work claims is the caller's to judge.

    Parameters
    ----------
    parent : Progress
    """

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent.time_limit)
        self._parent = parent
        self._abandoned = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since the solve, not this work, began."""
        return self._parent.seconds

    def is_over(self) -> bool:
        """Whether the caller's time is up or the solve was interrupted."""
        return self._parent.should_stop() is not None

    @property
    def interrupted(self) -> bool:
        """Whether the solve was interrupted or this work was told to stop."""
        return self.abandoned or super().interrupted or self._parent.interrupted

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for this work any more."""
        return self._abandoned.is_set() or self._parent.abandoned

    @property
    def shares_gpu(self) -> bool:
        """Whether another engine is at work on the same GPU, by the parent."""
        return self._parent.shares_gpu

    @property
    def wants_point(self) -> bool:
        """Whether somebody waits for the point of least error so far, by the parent."""
        return self._parent.wants_point

    def abandon(self) -> None:
        """Tell the work to stop without an answer, and hear it no more."""
        self._abandoned.set()

    def hold(self, answer: Outcome) -> None:
        """Keep the best answer so far, and hand it on."""
        if not self.abandoned:
            super().hold(answer)
            self._parent.hold(answer)

    def listen(self, take: Callable[[FloatArray, str], object]) -> None:
        """Hear of others' points by the parent, while somebody waits for this work."""
        self._parent.listen(lambda x, source: None if self.abandoned else take(x, source))

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Pass an iteration on."""
        if not self.abandoned:
            self._parent.iteration(count, **figures)

    def standing(self, runner: str, words: str) -> None:
        """Pass on how an engine of a race within this work stands."""
        if not self.abandoned:
            self._parent.standing(runner, words)

    def log(self, message: str) -> None:
        """Pass a message on."""
        if not self.abandoned:
            self._parent.log(message)
