"""Keeping a time limit while engines are compiled, which nothing can interrupt.

The first solve of an installation compiles loops and kernels, a second or more for each, and a
limit of a few seconds would be missed by many. Whoever wants a loop that is not compiled yet, or
only to be read from disk, waits for Numba's one lock, which an earlier solve that nobody waits for
any more may hold for a minute. What such a wait may hide in is more than can be listed: presolve,
verification, an import that another thread has begun. So a solve runs in a thread, and the caller
does nothing but wait, no longer than it said, and hear Ctrl-C. That takes 0.2 ms.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpu_bridge.race_progress import Deputy, Relay
from solvers.apart import apart
from solvers.left_behind import leave
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.problem import FloatArray
from solvers.progress import Progress
from solvers.threads import start_thread

PATIENCE_SHARE, PATIENCE_LOW, PATIENCE_HIGH = 0.03, 0.4, 3.0
"""How long work may go on after the limit or an interruption to hand over what it has: this part of
the time used, within bounds."""

STAND_IN_SHARE = 0.3
"""Part of the time left after which an engine that needs no compiler begins beside one that is
still being compiled."""

WHOLE_SHARE, WHOLE_LOW, WHOLE_HIGH = 0.06, 1.4, 3.6
"""How long a whole solve may go on then, which is its engines' time and what it takes to verify an
answer: this part of the time used, within bounds in seconds."""

Answer = TypeVar("Answer")


def in_time(
    work: Callable[[Relay], Answer],
    progress: Progress,
    otherwise: Callable[[StopReason, FloatArray | None], Answer],
) -> Answer:
    """Run a whole solve in a thread, and return its answer, or another soon after the limit.

    Parameters
    ----------
    work : callable
        Keeps limits by itself, unless it is at something that cannot.
    progress : Progress
    otherwise : callable
        Takes why the solve ended and the best point (n,) it told of, if any.

    Raises
    ------
    Exception
        What the work raised.
    """
    relay = Relay(progress)
    try:
        found = apart(
            lambda: work(relay),
            progress,
            "solve",
            patience=lambda: _clipped(progress, WHOLE_SHARE, WHOLE_LOW, WHOLE_HIGH),
            is_over=lambda: progress.should_stop() is not None,
        )
    finally:
        relay.abandon()
    if found is not None:
        return found[0]
    progress.log("The time was up while something was being compiled, or busy.")
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    return otherwise(stopped, relay.best)


def within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: float = PATIENCE_LOW,
    stand_in: Callable[[Progress], Outcome] | None = None,
) -> Outcome:
    """Run work in a thread and return what it returns, or nothing soon after the limit.

    ``patience`` is the least number of seconds that count as soon, unless the work holds an answer
    already or a compiler is at work. ``stand_in`` needs no compiler; it works beside where the
    compiler takes a good part of the limit, and then its answer counts.

    Raises
    ------
    Exception
        What the work raised.
    """
    substitute = None if stand_in is None else _StandIn(stand_in, progress)
    try:
        return _within_limit(work, progress, engine, patience, substitute)
    finally:
        if substitute is not None:
            substitute.end()


def _within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: float,
    substitute: _StandIn | None,
) -> Outcome:
    deputy = Deputy(progress)

    def waits_in_vain() -> bool:
        return deputy.held is not None or is_compiling()

    found = apart(
        lambda: work(deputy),
        progress,
        engine,
        patience=lambda: PATIENCE_LOW if waits_in_vain() else patience_at(progress, patience),
        is_over=lambda: progress.should_stop() is not None,
        enough=lambda: substitute is not None and substitute.has_settled(),
    )
    if found is not None:
        return found[0]
    deputy.abandon()
    found_instead = None if substitute is None else substitute.answer
    if found_instead is not None:
        progress.log(f"The reference engine stood in while {engine} was being compiled.")
        return found_instead
    progress.log(f"The time was up while {engine} was being compiled, or busy.")
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    nothing = Outcome(SolutionStatus.NOTHING, stopped, engine=engine)
    return replace(deputy.held or nothing, stop_reason=stopped)


def patience_at(progress: Progress, at_least: float = PATIENCE_LOW) -> float:
    """Return the seconds for which an engine that was told to stop now is waited for."""
    return _clipped(progress, PATIENCE_SHARE, at_least, PATIENCE_HIGH)


def _clipped(progress: Progress, share: float, low: float, high: float) -> float:
    return float(np.clip(share * progress.seconds, low, high))


class _StandIn:
    """An engine that begins where another spends a good part of the limit on being compiled."""

    def __init__(self, work: Callable[[Progress], Outcome], progress: Progress) -> None:
        self._work = work
        self._progress = progress
        self._deputy: Deputy | None = None
        self._thread: threading.Thread | None = None
        self._begins_at = progress.seconds + STAND_IN_SHARE * progress.time_left
        self.answer: Outcome | None = None

    def has_settled(self) -> bool:
        """Look at the clock and the compiler; return whether there is an answer to return."""
        if self._deputy is None:
            if self._progress.seconds >= self._begins_at and is_compiling():
                self._deputy = Deputy(self._progress)
                self._thread = start_thread("stand-in", self._stand_in, self._has_failed)
            return False
        found = self.answer
        return found is not None and found.stop_reason is StopReason.CONVERGED

    def end(self) -> None:
        """Tell it that nobody waits for it, or no longer."""
        if self._deputy is not None and self._thread is not None:
            self._deputy.abandon()
            leave(self._thread)

    def _stand_in(self) -> None:
        assert self._deputy is not None
        self.answer = self._work(self._deputy)

    def _has_failed(self, failure: BaseException) -> None:
        """Say so; the other engine may still answer."""
        self._progress.log(f"The reference engine, standing in, failed: {failure!r}")


def is_compiling() -> bool:
    """Whether Numba's compiler is at work in another thread of the process."""
    module = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(getattr(module, "global_compiler_lock", None), "_lock", None)
    if lock is None:  # nothing was compiled yet, or Numba keeps its lock elsewhere
        return False
    if not lock.acquire(blocking=False):
        return True
    lock.release()
    return False
