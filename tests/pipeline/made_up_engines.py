"""Engines for races: they wait for events, give answers, break, or go on until they are told."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from gpu_bridge.options import make_options
from gpu_bridge.pipeline.race import Contender, race
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from tests.soon import LONG, soon

DIET = Problem.from_arrays([2, 3], [[1, 1]], [4], upper=[3, np.inf])
IMPOSSIBLE = Problem.from_arrays([1, 1], [[1, 1], [1, 1]], [3, -np.inf], [np.inf, 2])
ENDLESS = Problem.from_arrays([-1, 0], [[1, -1]], [0], [0])
OPTIONS = make_options()


def claim(
    x: list[float] | None = None,
    y: list[float] | None = None,
    status: SolutionStatus = SolutionStatus.OPTIMAL,
    reason: StopReason = StopReason.CONVERGED,
    **more: object,
) -> Outcome:
    """Return what an engine says, before it is verified."""
    return Outcome(
        status,
        reason,
        x=None if x is None else np.array(x),
        row_dual=None if y is None else np.array(y),
        engine="made-up",
        **more,  # type: ignore[arg-type]
    )


RIGHT = claim([3.0, 1.0], [3.0])
OUTSIDE = claim([0.0, 0.0], [3.0])
WORSE = claim([0.0, 4.0], [0.0])
WORST = claim([3.0, 4.0], [0.0])


class Gates:
    """Events by name, all opened at the end so that no thread is left waiting."""

    def __init__(self) -> None:
        self._events: dict[str, threading.Event] = {}

    def __getitem__(self, name: str) -> threading.Event:
        return self._events.setdefault(name, threading.Event())

    def open_all(self) -> None:
        for event in tuple(self._events.values()):
            event.set()


def says(answer: Outcome, after: threading.Event | None = None) -> Callable[[Progress], Outcome]:
    """Return an engine that gives an answer, perhaps only after an event."""

    def run(progress: Progress) -> Outcome:
        assert after is None or after.wait(LONG)
        return answer

    return run


def raises(error: BaseException) -> Callable[[Progress], Outcome]:
    """Return an engine that breaks."""

    def run(progress: Progress) -> Outcome:
        raise error

    return run


def works_until_told(
    ended: threading.Event, answer: Outcome | None = None
) -> Callable[[Progress], Outcome]:
    """Return an engine that never finds an answer, and returns this one when it has to stop."""

    def run(progress: Progress) -> Outcome:
        while True:
            stopped = progress.should_stop()
            if stopped is not None:
                ended.set()
                return answer or Outcome(SolutionStatus.NOTHING, stopped)
            ended.wait(0.005)

    return run


def says_when(answer: Outcome, holds: Callable[[], bool]) -> Callable[[Progress], Outcome]:
    """Return an engine that gives an answer as soon as something is true."""

    def run(progress: Progress) -> Outcome:
        assert soon(holds)
        return answer

    return run


def run_race(problem: Problem, progress: Progress | None = None, **contenders: object) -> Outcome:
    made = [Contender(name, run) for name, run in contenders.items()]  # type: ignore[arg-type]
    return race(problem, made, OPTIONS, progress or Progress())
