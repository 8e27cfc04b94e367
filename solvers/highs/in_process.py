"""HiGHS in a thread of this process: no start-up cost, for models where it stops when asked.

A thread of its own for every solve, because HiGHS ties its scheduler to the thread it first ran
in, and because the caller's thread has to stay awake for Ctrl-C. Only solves of a moment share
threads, as they all ask for one core and a new thread takes HiGHS a third of a millisecond.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from solvers.core.outcome import StopReason
from solvers.core.process_state import Slot
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.core.threads import leave, start_thread
from solvers.highs.run import run
from solvers.highs.task import FloatArray, Model, Offers, Reply, Running, Task, Told, WhileItRuns

Answer = TypeVar("Answer")


class ProgressChannel:
    """Hands what HiGHS asks and tells straight to a :class:`Progress`."""

    def __init__(
        self, progress: Progress, offers: Offers | None = None, *, halting: bool = False
    ) -> None:
        self._progress = progress
        self._offers = offers
        self._halting = halting
        self._running: list[WhileItRuns] = []
        self._given_up = threading.Event()
        self.told = Told()

    def take_turn(self) -> None:
        """Go on at once: nobody else has to wait."""

    def takes(self, running: WhileItRuns) -> bool:
        """Take what stops HiGHS, if this process is too busy to be asked by it."""
        if self._halting:
            self._running.append(running)
        return self._halting

    def halt(self) -> None:
        """Stop every HiGHS that does not ask."""
        for one in self._unasked():
            one.halt()

    def ask(self) -> None:
        """Let every HiGHS that does not ask do so once."""
        for one in self._unasked():
            one.ask()

    def _unasked(self) -> list[Running]:
        held = [running() for running in self._running]
        return [one for one in held if one is not None]

    def give_up(self) -> None:
        """Make HiGHS stop although the progress object does not ask for it."""
        self._given_up.set()
        self.halt()

    def time_left(self) -> float:
        """Return the seconds left."""
        return self._progress.time_left

    def abandoned(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._progress.abandoned

    def stop(self) -> StopReason | None:
        """Return why to stop now, or None."""
        if self._given_up.is_set():
            return StopReason.INTERRUPTED
        reason = self._progress.should_stop()
        if reason is None:
            return None
        return StopReason.TIME_LIMIT if reason is StopReason.TIME_LIMIT else StopReason.INTERRUPTED

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Report a feasible point."""
        self.told.point = (objective, x)
        self._progress.incumbent(objective, "highs", x)

    def bound(self, value: float) -> None:
        """Report a bound."""
        self.told.bound = max(self.told.bound, value)
        self._progress.bound(value, "highs")

    def iteration(self, count: int) -> None:
        """Report an iteration count."""
        self._progress.iteration(count)

    def log(self, line: str) -> None:
        """Pass on a log line."""
        self._progress.engine_output(line)

    def offered_point(self) -> FloatArray | None:
        """Return a point found elsewhere, if there is a new one."""
        return None if self._offers is None else self._offers()


class HurriedChannel(ProgressChannel):
    """A channel with a limit of its own, in seconds from now."""

    def __init__(self, progress: Progress, seconds: float) -> None:
        super().__init__(progress)
        self._until = progress.seconds + seconds

    def time_left(self) -> float:
        """Return the seconds left."""
        return max(0.0, min(super().time_left(), self._until - self._progress.seconds))

    def stop(self) -> StopReason | None:
        """Return why to stop now, or None."""
        reason = super().stop()
        return StopReason.TIME_LIMIT if reason is None and not self.time_left() else reason


def run_in_thread(
    task: Task,
    progress: Progress,
    offers: Offers | None = None,
    *,
    halting: bool = False,
    patience: float = math.inf,
) -> Reply:
    """Run a task in a fresh thread and wait for it; whatever it raises is raised here.

    With ``halting`` its simplex is stopped from here and never asks, and branch and bound asks a
    few times a second. Otherwise as :func:`wait_for_reply`.
    """
    channel = ProgressChannel(progress, offers, halting=halting)
    return wait_for_reply(Begun(lambda: run(task, channel), channel), task.model, patience)


def wait_for_reply(begun: Begun[Reply], model: Model, patience: float = math.inf) -> Reply:
    """Wait for the reply of a HiGHS that has begun; whatever it raises is raised here.

    When nobody waits for the answer any more, HiGHS is told to stop and left to end by itself, and
    so it is when it goes on for longer than ``patience`` seconds after it should have stopped; the
    reply is what it had told by then.
    """
    channel = begun.channel
    try:
        return begun.end(patience)
    except OverstayedError as failure:
        return channel.told.reply(model, failure.stop_reason)
    except MemoryError:
        words = "The reference engine ran out of memory."
        return channel.told.reply(model, StopReason.OUT_OF_MEMORY, words)


class _Job:
    """A function to be called in another thread, and what came of it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.answers: list[Any] = []
        self.failures: list[BaseException] = []
        # not Thread.join: before Python 3.13 an interrupted join takes the thread for ended; and no
        # event, which takes longer
        self._finished = threading.Lock()
        self._finished.acquire()
        self._has_ended = False

    def do(self) -> None:
        """Call it and keep what it returns or raises."""
        try:
            self.answers.append(self._function())
        except BaseException as failure:  # raised by whoever waits
            self.failures.append(failure)
        finally:
            self._has_ended = True
            self._finished.release()

    def wait(self, seconds: float) -> bool:
        """Return whether it has ended, as soon as it has; only one thread may ask."""
        return self._has_ended or self._finished.acquire(timeout=seconds)


class _KeptThread:
    """A thread that does one job after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.thread = start_thread("highs", self._work, lambda failure: None)

    def begin(self, job: _Job) -> None:
        """Do a job after those before it."""
        self._jobs.put(job)

    def end(self) -> None:
        """End after the jobs so far."""
        self._jobs.put(None)

    def _work(self) -> None:
        while self._next():
            pass

    def _next(self) -> bool:
        job = self._jobs.get()  # forgotten with the end of this call
        if job is not None:
            job.do()
        return job is not None


_idle: Slot[list[_KeptThread]] = Slot("HiGHS's threads that wait for work", list)

MOST_IDLE = 4
"""How many threads are kept."""


def _idle_thread() -> _KeptThread:
    """Return a thread that was kept and does nothing, or a new one."""
    try:
        return _idle.value.pop()
    except IndexError:
        return _KeptThread()


class OverstayedError(Exception):
    """A thread went on after it should have stopped; it was left behind.

    Parameters
    ----------
    stop_reason : StopReason
        Why it should have stopped.
    """

    def __init__(self, stop_reason: StopReason) -> None:
        super().__init__(stop_reason)
        self.stop_reason = stop_reason


class Begun(Generic[Answer]):
    """A function that has been begun in another thread.

    Parameters
    ----------
    function : callable
        What to do; nothing it works on may be used again after an OverstayedError.
    channel : ProgressChannel
        Says when the thread should stop.
    kept : bool
        Take a thread that did such work before, and keep it for more; every such function asks
        HiGHS for one core. Otherwise the thread is a fresh one.
    """

    def __init__(
        self, function: Callable[[], Answer], channel: ProgressChannel, *, kept: bool = False
    ) -> None:
        self.channel = channel
        self._job = job = _Job(function)
        self._is_kept = kept
        self._workers = [_idle_thread()] if kept else []
        if kept:
            self._workers[0].begin(job)
            self._thread = self._workers[0].thread
        else:
            self._thread = start_thread("highs", job.do, job.failures.append)

    def wait(self, seconds: float) -> bool:
        """Return whether it has ended, as soon as it has; only one thread may ask."""
        return self._job.wait(seconds)

    def abandon(self) -> None:
        """Tell HiGHS to stop, and leave the thread to end by itself; from any thread."""
        self.channel.give_up()
        for worker in self._take_workers():
            worker.end()
        leave(self._thread)

    def _take_workers(self) -> list[_KeptThread]:
        """Return the kept thread, if there is one, to the first who asks."""
        try:
            return [self._workers.pop()]
        except IndexError:
            return []

    def end(self, patience: float = math.inf) -> Answer:
        """Wait for the end, and return or raise what the function does.

        Parameters
        ----------
        patience : float
            Seconds to wait for it after it should have stopped; none once the answer is abandoned.

        Raises
        ------
        OverstayedError
            It did not stop in time.
        """
        job = self._job
        try:
            _wait(job, self.channel, patience)
        except BaseException as reason:
            # a KeyboardInterrupt, perhaps followed by another: HiGHS is told to end, and has a
            # moment for it before the interpreter ends, because its threads would abort the process
            self.abandon()
            while not isinstance(reason, OverstayedError) and not job.wait(LOOK_AGAIN):
                pass  # in slices, because a sleeping main thread may miss the next Ctrl-C
            raise
        if not self._is_kept:
            self._thread.join()
        for worker in self._take_workers():
            if len(_idle.value) < MOST_IDLE:
                _idle.value.append(worker)
            else:
                worker.end()
        if job.failures:
            raise job.failures[0]
        answer: Answer = job.answers[0]
        return answer


def in_thread(
    function: Callable[[], Answer],
    channel: ProgressChannel,
    patience: float = math.inf,
    *,
    kept: bool = False,
) -> Answer:
    """Call a function in another thread as :class:`Begun` does, and wait for its end."""
    return Begun(function, channel, kept=kept).end(patience)


def _wait(job: _Job, channel: ProgressChannel, patience: float) -> None:
    """Wait for a job, and tell HiGHS when it should stop; raises OverstayedError."""
    waited = 0.0
    while not job.wait(LOOK_AGAIN):
        if channel.stop() is None:
            channel.ask()
        else:
            waited += LOOK_AGAIN
            channel.halt()
        if waited > patience or channel.abandoned():
            raise OverstayedError(channel.stop() or StopReason.INTERRUPTED)
