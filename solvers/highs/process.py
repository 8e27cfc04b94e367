"""A running child: its task on the way there, its words and its reply on the way back."""

from __future__ import annotations

import contextlib
import threading

from solvers.core.concurrency import start_thread
from solvers.core.errors import EngineError
from solvers.core.progress import Progress
from solvers.highs import messages, process_pool
from solvers.highs.task import Reply, Task

TAIL = 10
"""Last lines of a child that are kept, for the case that it fails."""


class ChildCannotStartError(Exception):
    """No child could begin with the work; internal to this package."""


class Process:
    """A child that was given a task, and its certain end.

    Parameters
    ----------
    bootstrap : str
        The child's program.
    progress : Progress
        Told of the lines that the child writes.

    Attributes
    ----------
    child : Child
    reply : Reply or Failure or None
        What the child has answered, once it is whole.
    killed : bool
        Whether it was ended from here.
    tail : list of str
        The last lines that it wrote.

    Raises
    ------
    ChildCannotStartError
        No process can be started here.
    """

    def __init__(self, bootstrap: str, progress: Progress) -> None:
        self.tail: list[str] = []
        self.killed = False
        self.reply: Reply | messages.Failure | None = None
        self._bootstrap = bootstrap
        self._progress = progress
        self._failures: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self._ended = threading.Event()
        try:
            self.child = process_pool.take(bootstrap)
        except OSError as error:
            raise ChildCannotStartError(str(error)) from error

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.kill()
            self.child.popen.wait()
            for thread in self._threads:
                thread.join()
        finally:  # Ctrl-C may come in between
            self.child.close()
            process_pool.give_back(self._bootstrap)

    def begin(self, task: Task) -> None:
        """Hand over the task, which may take a while, and read what comes back, in threads.

        Raises
        ------
        ChildCannotStartError
            There are no threads for it.
        """
        try:
            for name, work in (("child", self._listen), ("task", lambda: self._converse(task))):
                self._threads.append(start_thread(name, work, self._failures.append))
        except EngineError as error:
            raise ChildCannotStartError(str(error)) from error

    def wait(self, seconds: float) -> bool:
        """Wait for the child to end; return whether it has.

        Raises
        ------
        BaseException
            What listening to it raised.
        """
        ended = self._ended.wait(seconds)
        if self._failures:
            raise self._failures[0]
        return ended

    def kill(self) -> None:
        """End the child now if it still runs."""
        if self.child.popen.poll() is None:
            self.killed = True
            self.child.popen.kill()

    def _listen(self) -> None:
        """Pass on what the child writes, until its end."""
        for line in self.child.words:
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                self.tail = [*self.tail[1 - TAIL :], text]
                self._progress.engine_output(text)

    def _converse(self, task: Task) -> None:
        """Send the task and read the reply; a child that is gone has none, and is seen to end."""
        with contextlib.suppress(BrokenPipeError, messages.TruncatedError):
            messages.send(task, self.child.tasks)
            self.child.tasks.flush()
            reply = messages.receive(self.child.replies)
            assert not isinstance(reply, Task)
            self.reply = reply
        self.child.popen.wait()
        self._ended.set()
