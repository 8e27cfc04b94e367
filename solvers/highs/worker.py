"""The child process: one task, then the end.

Started by :mod:`solvers.highs.spares` with an isolated interpreter and the parent's ``sys.path``,
it waits for one line on its standard input, in which :mod:`solvers.highs.child` says where the
task lies and when it has to be done. It dies with its parent: a thread waits for the end of
standard input, and because HiGHS does not give up Python's lock everywhere (its crossover does
not), the kernel is asked for a deadly signal on the same event.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

from solvers.errors import GpuBridgeError
from solvers.highs.channel import Halt
from solvers.highs.run import run
from solvers.highs.shared import (
    BOUND,
    INCUMBENT,
    ITERATIONS,
    OFFER,
    PHASE,
    REPLYING,
    RUNNING,
    STOP,
    SharedPage,
)
from solvers.highs.task import Ending, FloatArray, load_task, save

TASK, REPLY, PAGE, FAILURE = "task.npz", "reply.npz", "page.bin", "failure.json"
"""Names of the files in the folder that parent and child share."""


class ChildChannel:
    """Hands what HiGHS asks and tells to the parent through the shared page and the log pipe."""

    def __init__(self, page: SharedPage, deadline: float) -> None:
        self._page = page
        self._deadline = deadline

    def time_left(self) -> float:
        """Return the seconds left; the monotonic clock is the same in every process."""
        return max(0.0, self._deadline - time.monotonic())

    def stop(self) -> Ending | None:
        """Return why to stop now, or None."""
        if self._page.get(STOP):
            return Ending.INTERRUPTED
        return Ending.TIME_LIMIT if time.monotonic() >= self._deadline else None

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

    def takes(self, halt: Halt) -> bool:
        """Leave asking to HiGHS: nobody else is at work in this process."""
        return False


def main() -> None:
    """Wait for a task, do it, and leave the reply, or the failure, in its folder."""
    line = _first_line()
    if not line:
        return
    assignment = json.loads(line)
    place = Path(assignment["folder"])
    _die_with_parent(place)
    task = load_task(place / TASK)
    page = SharedPage(place / PAGE, task.model.num_columns)
    page.put(PHASE, RUNNING)
    try:
        reply = run(task, ChildChannel(page, assignment["deadline"]))
    except (GpuBridgeError, MemoryError) as failure:
        words = {"kind": type(failure).__name__, "message": str(failure)}
        (place / FAILURE).write_text(json.dumps(words), encoding="utf-8")
        return
    page.put(PHASE, REPLYING)
    save(reply, place / REPLY)
    sys.stdout.flush()
    os._exit(0)  # the parent waits for the end, and taking an interpreter down takes 30 ms


def _first_line() -> bytes:
    """Return the first line of standard input, empty if the parent closed it without one.

    Read byte by byte, past any buffer, because what comes after it is somebody else's to see.
    """
    line = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return line


def _die_with_parent(place: Path) -> None:
    def wait_for_the_end() -> None:
        while os.read(0, 1):
            pass
        shutil.rmtree(place, ignore_errors=True)
        os._exit(1)

    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
    threading.Thread(target=wait_for_the_end, daemon=True).start()
