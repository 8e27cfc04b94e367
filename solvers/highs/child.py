"""HiGHS in a process of its own, which can be killed.

HiGHS does not look at the clock or heed an interrupt in its root relaxation, in factorisations,
in clique and symmetry detection, or in crossover, so a limit holds for certain only for somebody
who can end it from outside. Two ways were rejected: ``multiprocessing`` with *spawn* runs the
caller's script again where it lacks a ``__main__`` guard, and with *fork* copies a process whose
other threads hold locks.

The parent polls: it hands incumbents and bounds to the progress object as they appear, asks the
child to stop at the deadline or on interruption, and after a short grace kills it. What the child
had told by then is the answer. A child whose answer nobody waits for any more is killed at once.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from solvers.errors import EngineError
from solvers.highs import spares
from solvers.highs.channel import Offers
from solvers.highs.shared import (
    BOUND,
    INCUMBENT,
    ITERATIONS,
    OFFER,
    PHASE,
    REPLYING,
    STARTING,
    STOP,
    SharedPage,
)
from solvers.highs.task import Ending, Finding, FloatArray, Reply, Task, load_reply, save
from solvers.highs.worker import FAILURE, PAGE, REPLY, TASK
from solvers.outcome import StopReason
from solvers.progress import Progress

BOOTSTRAP = (
    "import sys, json; "
    "sys.path[:] = json.loads(sys.argv[1]); "
    "from solvers.highs.worker import main; "
    "main()"
)
POLL = 0.02
"""Seconds between two looks at the child."""

GRACE_LOW, GRACE_HIGH, GRACE_SHARE = 0.3, 2.0, 0.03
"""How long a child may go on after its deadline: this part of the time limit, within bounds."""

REPLY_GRACE = 0.4
"""More seconds for a child that has stopped and is writing its reply."""


class ChildCannotStartError(Exception):
    """There is no interpreter here that could run a child; internal to this package."""


class ChildCrashedError(EngineError):
    """The child ended without an answer; another try may fare better."""


def can_start() -> bool:
    """Whether this interpreter can start another of its kind."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def expect() -> None:
    """Have a child ready for a task that will come in a moment."""
    if can_start():
        spares.expect(BOOTSTRAP)


def run_in_child(task: Task, progress: Progress, offers: Offers | None = None) -> Reply:
    """Run a task in a child process.

    Parameters
    ----------
    task : Task
    progress : Progress
        Told of incumbents, bounds and log lines; its limit is kept by killing the child.
    offers : callable, optional
        Asked often; returns a feasible point found elsewhere, or None.

    Raises
    ------
    ChildCannotStartError
        No child process could be started here.
    ChildCrashedError
        The child crashed before it had anything to tell.
    EngineError
        HiGHS refuses the model.
    """
    if progress.abandoned:
        return Reply(Finding.NOTHING, Ending.INTERRUPTED)
    with (
        tempfile.TemporaryDirectory(prefix="gpu-bridge-", ignore_cleanup_errors=True) as folder,
        _page_for(task, Path(folder)) as page,
    ):
        watch = _Watch(task, page, progress, offers)
        with _Process(progress) as process:  # it starts while the task is written
            save(task, Path(folder) / TASK)
            process.assign(Path(folder), time.monotonic() + progress.time_left)
            watch.until_end(process)
        return watch.reply(process, Path(folder))


@contextlib.contextmanager
def _page_for(task: Task, place: Path) -> Iterator[SharedPage]:
    page = SharedPage(place / PAGE, task.model.num_columns, create=True)
    try:
        yield page
    finally:
        page.close()


class _Process:
    """The running child, its log reader, and its certain end."""

    def __init__(self, progress: Progress) -> None:
        self._bootstrap = BOOTSTRAP
        self.tail: list[str] = []
        self.killed = False
        try:
            self.popen = spares.take(self._bootstrap)
        except OSError as error:
            raise ChildCannotStartError(str(error)) from error
        assert self.popen.stdout is not None  # asked for when it was started
        self._ended = threading.Event()
        self._reader = threading.Thread(
            target=self._read, args=(self.popen.stdout, progress), daemon=True
        )
        self._reader.start()

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.popen.wait()
        self._reader.join()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # of a task that found nobody
                    stream.close()
        spares.give_back(self._bootstrap)

    def wait(self, seconds: float) -> bool:
        """Wait for the child to end; return whether it has."""
        return self._ended.wait(seconds) and self.popen.poll() is not None

    def kill(self) -> None:
        """End the child now if it still runs."""
        if self.popen.poll() is None:
            self.killed = True
            self.popen.kill()

    def assign(self, place: Path, deadline: float) -> None:
        """Tell the child where its task lies; one that is gone already is found by its end."""
        words = json.dumps({"folder": str(place), "deadline": deadline})
        assert self.popen.stdin is not None  # asked for when it was started
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.write(words.encode() + b"\n")
            self.popen.stdin.flush()

    def _read(self, stream: IO[bytes], progress: Progress) -> None:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                self.tail = [*self.tail[-9:], text]
                progress.engine_output(text)
        self.popen.wait()
        self._ended.set()


class _Watch:
    """What the parent does while the child works."""

    def __init__(
        self, task: Task, page: SharedPage, progress: Progress, offers: Offers | None
    ) -> None:
        self._model = task.model
        self._page = page
        self._progress = progress
        self._offers = offers
        self._best: FloatArray | None = None
        self._objective = np.nan
        self._iterations = 0.0
        self._stop: StopReason | None = None

    def until_end(self, process: _Process) -> None:
        """Poll until the child has ended by itself or has been killed."""
        kill_at = np.inf
        while not process.wait(POLL):
            self._forward()
            if self._progress.abandoned:
                self._stop = StopReason.INTERRUPTED
                process.kill()
                break
            if self._stop is None:
                self._stop = self._progress.should_stop()
                if self._stop is not None:
                    kill_at = time.monotonic() + self._grace()
                    if self._stop is StopReason.INTERRUPTED:
                        self._page.put(STOP, 1.0)
            writing = self._page.get(PHASE) == REPLYING
            if time.monotonic() >= kill_at + (REPLY_GRACE if writing else 0.0):
                process.kill()
                break
        self._forward()

    def reply(self, process: _Process, place: Path) -> Reply:
        """Return the child's reply, or what is known without one."""
        if (place / REPLY).exists():
            return load_reply(place / REPLY)
        if (place / FAILURE).exists():
            failure = json.loads((place / FAILURE).read_text(encoding="utf-8"))
            if failure["kind"] != "MemoryError":
                raise EngineError(failure["message"])
            return self.so_far(Ending.OUT_OF_MEMORY, "The reference engine ran out of memory.")
        if process.killed and self._stop is not None:
            return self.so_far(Ending[self._stop.name])
        if self._page.get(PHASE) == STARTING:
            raise ChildCannotStartError(" ".join(process.tail) or "it ended without a word")
        words = _obituary(process.popen.returncode)
        if self._best is None:
            raise ChildCrashedError(f"The reference engine {words} before it had an answer.")
        return self.so_far(Ending.NUMERICAL_TROUBLE, f"The reference engine {words}.")

    def _grace(self) -> float:
        limit = self._progress.time_limit
        share = GRACE_SHARE * limit if np.isfinite(limit) else GRACE_LOW
        return float(np.clip(share, GRACE_LOW, GRACE_HIGH))

    def _forward(self) -> None:
        found = self._page.read_point(INCUMBENT)
        if found is not None:
            self._objective, self._best = found
            self._progress.incumbent(self._objective, "highs", self._best)
        self._progress.bound(self._page.get(BOUND), "highs")
        count = self._page.get(ITERATIONS)
        if count != self._iterations:
            self._iterations = count
            self._progress.iteration(int(count))
        offer = None if self._offers is None else self._offers()
        if offer is not None:
            objective = self._model.objective_at(offer)
            self._page.write_point(OFFER, objective, offer)

    def so_far(self, ending: Ending, message: str = "") -> Reply:
        """Return what the child has told, for want of a reply."""
        bound = self._page.get(BOUND)
        if self._best is None:
            return Reply(Finding.NOTHING, ending, bound=bound, message=message)
        return Reply(
            Finding.FEASIBLE,
            ending,
            objective=self._objective,
            bound=bound,
            x=self._best,
            row_activity=self._model.activity(self._best),
            message=message,
        )


def _obituary(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    if name == "SIGKILL":
        return "was killed from outside (SIGKILL, often a sign of too little memory)"
    return f"crashed ({name})"
