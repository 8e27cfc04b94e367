"""The child process: one task, then the end.

Started by :mod:`solvers.highs.process_pool` with an isolated interpreter and the parent's
``sys.path``, it waits for a task on its standard input. It dies with its parent: a thread waits
for the end of standard input, and because HiGHS does not give up Python's lock everywhere (its
crossover does not), the kernel is asked for a deadly signal on the same event.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import time

from solvers.core.errors import GpuBridgeError
from solvers.core.outcome import StopReason
from solvers.highs.messages import (
    BOUND,
    DEADLINE,
    INCUMBENT,
    ITERATIONS,
    OFFER,
    PHASE,
    REPLYING,
    RUNNING,
    STOP,
    Failure,
    SharedPage,
    TruncatedError,
    receive,
    send,
)
from solvers.highs.run import run
from solvers.highs.task import FloatArray, Reply, Task, WhileItRuns


class ChildChannel:
    """Hands what HiGHS asks and tells to the parent through the shared page and the log pipe."""

    def __init__(self, page: SharedPage) -> None:
        self._page = page
        self._deadline = page.get(DEADLINE)

    def time_left(self) -> float:
        """Return the seconds left; the monotonic clock is the same in every process."""
        return max(0.0, self._deadline - time.monotonic())

    def stop(self) -> StopReason | None:
        """Return why to stop now, or None."""
        if self._page.get(STOP):
            return StopReason.INTERRUPTED
        return StopReason.TIME_LIMIT if time.monotonic() >= self._deadline else None

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Publish a feasible point."""
        self._page.write_point(INCUMBENT, objective, x)

    def bound(self, value: float) -> None:
        """Publish a bound."""
        if value > self._page.get(BOUND):
            self._page.put(BOUND, value)

    def iteration(self, count: int) -> None:
        """Publish an iteration count."""
        self._page.put(ITERATIONS, float(count))

    def log(self, line: str) -> None:
        """Write a log line to the pipe."""
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def offered_point(self) -> FloatArray | None:
        """Return a point the parent offers."""
        offer = self._page.read_point(OFFER)
        return None if offer is None else offer[1]

    def take_turn(self) -> None:
        """Go on at once: nobody else is at work in this process."""

    def takes(self, running: WhileItRuns) -> bool:
        """Leave asking to HiGHS: nobody else is at work in this process."""
        return False


def main() -> None:
    """Wait for a task, do it, and send the reply, or the failure."""
    page_number, reply_number = map(int, sys.argv[2:4])
    try:
        task = receive(io.FileIO(0, closefd=False))
    except TruncatedError:  # nobody wants anything
        return
    assert isinstance(task, Task)
    _die_with_parent()
    page = SharedPage(page_number)
    page.put(PHASE, RUNNING)
    answer: Reply | Failure
    try:
        answer = run(task, ChildChannel(page))
    except (GpuBridgeError, MemoryError) as failure:
        answer = Failure(type(failure).__name__, str(failure))
    page.put(PHASE, REPLYING)
    send(answer, io.FileIO(reply_number, "w"))
    sys.stdout.flush()
    os._exit(0)  # the parent waits for the end, and taking an interpreter down takes 30 ms


def _die_with_parent() -> None:
    def wait_for_the_end() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
    threading.Thread(target=wait_for_the_end, daemon=True).start()
