"""Work in a thread of its own: what it asks and tells, and keeping a limit whatever it is at.

A library's own loop hears of no limit, and what such a call may hide in is more than can be listed:
presolve, verification, an import that another thread has begun. So a solve runs in a thread, and
the caller does nothing but wait, no longer than it said, and hear Ctrl-C. That takes 0.2 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpu_bridge.report.log_text import figure_text
from solvers.core.concurrency import run_beside
from solvers.core.outcome import Event, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import DetachableProgress, Progress

SHOWN_FIGURES = ("primal_residual", "dual_residual", "gap")
"""Figures of an iteration that say how near an engine is."""


class ContenderProgress(DetachableProgress):
    """The :class:`~solvers.core.progress.Progress` of one engine among several.

    Clock, time limit and interruption are those of the solve; besides, the engine alone can be
    told that its answer is wanted no more, from when on it is not heard either. Log messages carry
    its name; the running text of a wrapped engine is left out, because that of several would be
    unreadable. Nothing an engine claims in a race counts before it is verified.

    Parameters
    ----------
    parent : Progress
        That of the solve.
    name : str
        What the log calls the engine.
    """

    def __init__(self, parent: Progress, name: str) -> None:
        super().__init__(parent)
        self.name = name
        self._count = 0
        self._figures: dict[str, float | int | str] = {}

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Remember how far the engine has come and pass it on."""
        if self.abandoned:
            return
        self._count = count
        if figures:
            self._figures = dict(figures)
            self._parent.iteration(count, **figures)
        self._parent.standing(self.name, self._short())

    def log(self, message: str) -> None:
        """Write a message to the log under the engine's name."""
        if not self.abandoned:
            self._parent.log(f"{self.name}: {message}")

    @property
    def reached(self) -> str:
        """What the engine had reached, in words."""
        if not self._count:
            return "no iteration reported"
        known = [name for name in SHOWN_FIGURES if _is_number(self._figures.get(name))]
        figures = [
            f"{name.replace('_', ' ')} {figure_text(name, self._figures[name])}" for name in known
        ]
        return ", ".join([f"{self._count} iterations", *figures])

    def _short(self) -> str:
        """Return the iterations and the largest error for a narrow column."""
        errors = [self._figures.get(name) for name in SHOWN_FIGURES]
        known = [float(error) for error in errors if error is not None and _is_number(error)]
        return f"{self._count} ({max(known):.1e})" if known else str(self._count)


class ForwardingProgress(DetachableProgress):
    """The progress of a whole solve, as long as the caller waits: everything is passed on.

    Attributes
    ----------
    best : (n,) float64 or None
        The best point that was told, for want of an answer.
    """

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent)
        self.best: FloatArray | None = None

    @property
    def best_objective(self) -> float:
        """Best objective reported so far; NaN without one."""
        return self._parent.best_objective

    @property
    def best_bound(self) -> float:
        """Best bound reported so far; NaN without one."""
        return self._parent.best_bound

    @property
    def history(self) -> tuple[Event, ...]:
        """Every improvement of incumbent or bound so far, in order of time."""
        return self._parent.history

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Pass a point on, and keep it if it is better than all before it."""
        if self.abandoned or not self._parent.incumbent(objective, source, x):
            return False
        if x is not None:
            self.best = np.array(x, dtype=np.float64)
        return True

    def bound(self, value: float, source: str) -> bool:
        """Pass a bound on."""
        return not self.abandoned and self._parent.bound(value, source)

    def engine_output(self, line: str) -> None:
        """Pass a line of a wrapped engine's log on."""
        if not self.abandoned:
            self._parent.engine_output(line)


def _is_number(value: float | int | str | None) -> bool:
    return value is not None and not isinstance(value, str) and bool(np.isfinite(value))


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
        lambda: patience_at(progress, PATIENCE_LOW if inner.held is not None else patience),
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
