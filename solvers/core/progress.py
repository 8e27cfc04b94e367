"""Work beside its caller: what it asks and tells, how it is waited for, and left to itself.

An engine asks one object whether there is time left and whether it was interrupted, and tells it
of better points, bounds and iterations. :class:`Progress` keeps the clock and the history and
prints nothing; ``gpu_bridge.report.progress`` adds the log and the live line.

A library's own loop hears of no limit, and what such a call may hide in is more than can be listed:
presolve, verification, an import that another thread has begun. So work of any length runs in a
thread (:func:`run_beside`), with a :class:`DetachableProgress`. The caller does nothing but look at
the clock and hear Ctrl-C, and leaves behind what does not end in time. That takes 0.2 ms. Loops of
our own are told to end by a flag that they look at.
"""

from __future__ import annotations

import atexit
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeVar

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.outcome import Event, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.process_state import Slot

LOOK_AGAIN = 0.02
"""Seconds between two looks at the clock: a main thread that sleeps may miss Ctrl-C."""

LAST_MOMENT = 2.0
"""Seconds for which the end of the interpreter waits for threads left behind."""

Answer = TypeVar("Answer")
Own = TypeVar("Own", bound="DetachableProgress")

_left: Slot[set[threading.Thread]] = Slot("threads left behind, still at work", set)
_own: Slot[threading.local] = Slot("the stop flag that a thread's loops look at", threading.local)


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


@dataclass(frozen=True)
class Patience:
    """How long work may go on once it is over: a part of the time used, within bounds in s."""

    share: float
    low: float
    high: float

    def after(self, seconds: float) -> float:
        """Return the seconds to wait on after so many."""
        return min(max(self.share * seconds, self.low), self.high)


PATIENCE = Patience(0.03, 0.4, 3.0)
"""That with an engine, which is to hand over what it has."""


class StopFlag:
    """Tells the compiled loops of a thread, and of those that it starts, to end."""

    def __init__(self) -> None:
        self._byte = np.zeros(1, dtype=np.uint8)

    def set(self) -> None:
        """Let them raise :class:`solvers.native.Interrupted` at their next look."""
        self._byte[0] = 1

    @property
    def is_set(self) -> bool:
        """Whether they were told to end."""
        return bool(self._byte[0])

    def watch(self) -> None:
        """Let the loops of this thread look at the flag from now on."""
        _own.value.flag = self
        if (core := _compiled()) is not None:
            core.watch(self._byte.ctypes.data)


def told_to_end() -> bool:
    """Whether the compiled loops of this thread were told to end; others had better, too."""
    flag: StopFlag | None = getattr(_own.value, "flag", None)
    return flag is not None and flag.is_set


def _compiled() -> ModuleType | None:
    """Return the compiled loops; without them nothing of them is to be ended or held."""
    try:
        import solvers.native._core as core
    except (EngineError, ImportError):
        return None
    return core


def start_thread(
    name: str, work: Callable[[], object], failed: Callable[[BaseException], object]
) -> threading.Thread:
    """Start a daemon thread, the only way in which work goes to one.

    ``failed`` is told in that thread of what the work raised, and must not raise itself.

    Raises
    ------
    EngineError
        The system has no thread left.
    """
    flag: StopFlag | None = getattr(_own.value, "flag", None)

    def guarded() -> None:
        try:
            if flag is not None:
                flag.watch()
            work()
        except BaseException as failure:  # whatever it is, somebody is told of it
            failed(failure)

    thread = threading.Thread(target=guarded, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise EngineError(
            f"The system starts no more threads ({error}); raise its limit on processes "
            "('ulimit -u') or on memory."
        ) from error
    return thread


def run_beside(
    work: Callable[[Own], Answer],
    own: Own,
    name: str,
    *,
    patience: Callable[[float], float] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Answer | None:
    """Run work in a thread; return its answer, or None where it was left behind.

    Parameters
    ----------
    work : callable
        Takes ``own``; ends by itself once it is over, unless it is at something that cannot.
    own : DetachableProgress
        That of the work, abandoned at the end.
    name : str
        Of the thread.
    patience : callable, optional
        Takes the seconds used once it is over; returns for how many to wait on. A launch on a GPU
        ends by itself only: unless said otherwise, who pressed Ctrl-C has what it finds.
    is_over : callable, optional
        Asked between looks whether the work is to end; else a limit and an interruption end it.

    Raises
    ------
    BaseException
        What the work raised.
    """
    ended: queue.SimpleQueue[tuple[Answer] | BaseException] = queue.SimpleQueue()
    flag = StopFlag()

    def watched() -> None:
        flag.watch()
        ended.put((work(own),))

    def usual(seconds: float) -> float:
        return PATIENCE.high if own.interrupted else PATIENCE.after(seconds)

    # what it raises is raised by the caller, in its own thread
    thread = start_thread(name, watched, ended.put)
    found: tuple[Answer] | BaseException | None = None
    give_up_at = np.inf
    try:
        while found is None and own.seconds < give_up_at:
            try:
                found = ended.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                if np.isinf(give_up_at) and (is_over or own.is_over)():
                    give_up_at = own.seconds + (patience or usual)(own.seconds)
    finally:
        if found is None:  # Ctrl-C may have raised here
            flag.set()
            leave(thread)
        own.abandon()
    if isinstance(found, BaseException):
        raise found
    return None if found is None else found[0]


def within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: Patience = PATIENCE,
) -> Outcome:
    """Run an engine beside and return its outcome, or soon after the limit what it held.

    ``patience`` is that with an engine that holds no answer yet.
    """
    own = DetachableProgress(progress)
    found = run_beside(
        work,
        own,
        engine,
        patience=lambda seconds: (patience if own.held is None else PATIENCE).after(seconds),
    )
    if found is not None:
        return found
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    progress.log(f"The time was up while {engine} was busy.")
    held = own.held or Outcome(SolutionStatus.NOTHING, stopped, engine=engine)
    return replace(held, stop_reason=stopped)


def leave(*threads: threading.Thread) -> None:
    """Let threads, which have been told to stop, end by themselves."""
    with _left.locked() as left:
        left.difference_update([one for one in left if not one.is_alive()])
        left.update(one for one in threads if one.is_alive())


def left_behind() -> tuple[threading.Thread, ...]:
    """Return the threads that were left and are still at work."""
    with _left.locked() as left:
        return tuple(one for one in left if one.is_alive())


@atexit.register
def wait_for_left(seconds: float = LAST_MOMENT) -> None:
    """Wait for them at the end of the interpreter, and let them end silently."""
    until = time.monotonic() + seconds
    before = sys.unraisablehook
    sys.unraisablehook = lambda told: None if told.exc_type is SystemExit else before(told)
    while (threads := left_behind()) and time.monotonic() < until:
        for thread in threads:
            thread.join(LOOK_AGAIN / len(threads))
    sys.unraisablehook = before
    if threads and (core := _compiled()) is not None:
        core.hold_other_threads()
