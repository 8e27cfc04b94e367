"""Keeping a time limit whatever an engine is at: a library's own loop hears of no limit.

What such a call may hide in is more than can be listed: presolve, verification, an import that
another thread has begun. So a solve runs in a thread, and the caller does nothing but wait, no
longer than it said, and hear Ctrl-C. That takes 0.2 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpu_bridge.pipeline.contender_progress import ForwardingProgress
from solvers.core.concurrency import run_beside
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import DetachableProgress, Progress

PATIENCE_SHARE, PATIENCE_LOW, PATIENCE_HIGH = 0.03, 0.4, 3.0
"""How long work may go on after the limit or an interruption to hand over what it has: this part of
the time used, within bounds."""

WHOLE_SHARE, WHOLE_LOW, WHOLE_HIGH = 0.06, 1.4, 3.6
"""How long a whole solve may go on then, which is its engines' time and what it takes to verify an
answer: this part of the time used, within bounds in seconds."""

Answer = TypeVar("Answer")


def in_time(
    work: Callable[[ForwardingProgress], Answer],
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
    forwarding = ForwardingProgress(progress)
    try:
        found = run_beside(
            lambda: work(forwarding),
            progress,
            "solve",
            patience=lambda: _clipped(progress, WHOLE_SHARE, WHOLE_LOW, WHOLE_HIGH),
            is_over=lambda: progress.should_stop() is not None,
        )
    finally:
        forwarding.abandon()
    if found is not None:
        return found[0]
    progress.log("The time was up while something was busy that hears of no limit.")
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    return otherwise(stopped, forwarding.best)


def within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: float = PATIENCE_LOW,
) -> Outcome:
    """Run work in a thread and return what it returns, or nothing soon after the limit.

    ``patience`` is the least number of seconds that count as soon, unless the work holds an answer
    already.

    Raises
    ------
    Exception
        What the work raised.
    """
    inner = DetachableProgress(progress)
    found = answered(
        work,
        progress,
        engine,
        inner,
        lambda: PATIENCE_LOW if inner.held is not None else patience_at(progress, patience),
    )
    if found is not None:
        return found
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    progress.log(f"The time was up while {engine} was busy.")
    nothing = Outcome(SolutionStatus.NOTHING, stopped, engine=engine)
    return replace(inner.held or nothing, stop_reason=stopped)


def answered(
    work: Callable[[Progress], Answer],
    progress: Progress,
    engine: str,
    inner: DetachableProgress | None = None,
    patience: Callable[[], float] | None = None,
) -> Answer | None:
    """Run work in a thread and return what it returns, or None soon after the limit.

    A launch on a GPU ends by itself only: without a ``patience`` of its own, who pressed Ctrl-C
    has what it finds.

    Raises
    ------
    Exception
        What the work raised.
    """
    own = DetachableProgress(progress) if inner is None else inner

    def usual() -> float:
        return PATIENCE_HIGH if progress.interrupted else patience_at(progress)

    try:
        found = run_beside(
            lambda: work(own),
            progress,
            engine,
            patience=usual if patience is None else patience,
            is_over=lambda: progress.should_stop() is not None,
        )
    finally:
        own.abandon()
    return None if found is None else found[0]


def patience_at(progress: Progress, at_least: float = PATIENCE_LOW) -> float:
    """Return the seconds for which an engine that was told to stop now is waited for."""
    return _clipped(progress, PATIENCE_SHARE, at_least, PATIENCE_HIGH)


def _clipped(progress: Progress, share: float, low: float, high: float) -> float:
    return float(np.clip(share * progress.seconds, low, high))
