"""Child processes that wait with HiGHS loaded, so that the next solve need not wait for them.

Starting an interpreter and loading NumPy and HiGHS takes 0.1 to 0.2 s, as long as many a linear
program takes to solve. Whoever has just used children often uses them again at once: the next
model of a loop, the next neighbourhood of a search. So as many as were at work together are
started again a moment after, wait for :data:`IDLE` seconds, and are gone when nobody came.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from io import FileIO
from typing import IO

from solvers.core.errors import EngineError
from solvers.core.process_state import Slot
from solvers.core.progress import Progress
from solvers.core.threads import start_thread
from solvers.highs import messages
from solvers.highs.task import Reply, Task

KEPT = 3
"""Most children that wait at once; a race has two, and crossover may follow."""

REST = 0.05
"""Seconds between the end of a child and the start of its successors, in which the caller works
on the answer."""

IDLE = 1.5
"""Seconds a child waits for a task. Loops come back within that; an idle process that lasts would
surprise whoever looks at the machine after a solve."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""What children have in their environment besides. HiGHS has no use for NumPy's threads for dense
matrices, and on ten cores those of three children, which turn round for 20 to 70 ms each before
they sleep, took the cores from a solve that began meanwhile: of 0.25 s it took 0.15 without."""

FIRST_OF_OURS = 3
"""The first descriptor that is not a standard stream's: a process started without them would give
their numbers to the files here, and its child would take one for the other."""


@dataclass(frozen=True, eq=False)
class Child:
    """A child process and what leads to it."""

    program: tuple[str, str]
    """Its code, and ``sys.path`` in JSON."""
    popen: subprocess.Popen[bytes]
    """With pipes to standard input, and from standard output and error together."""
    page: FileIO
    """A nameless file, still empty, that the child has open too."""
    replies: FileIO
    """A pipe from the child, unbuffered."""

    @property
    def tasks(self) -> IO[bytes]:
        """The pipe to the child."""
        assert self.popen.stdin is not None  # asked for when it was started
        return self.popen.stdin

    @property
    def words(self) -> IO[bytes]:
        """What the child says to people."""
        assert self.popen.stdout is not None  # asked for when it was started
        return self.popen.stdout

    def close(self) -> None:
        """Let go of all that led to it."""
        for stream in (self.tasks, self.words, self.page, self.replies):
            with contextlib.suppress(OSError):  # of a pipe that nobody reads from any more
                stream.close()


def take(bootstrap: str) -> Child:
    """Return a child that waits for its task, or starts on its way there.

    Parameters
    ----------
    bootstrap : str
        The child's program. It finds as its arguments ``sys.path`` and the descriptors of the page
        and of the pipe for the reply, and reads the task from its standard input.

    Raises
    ------
    OSError
        No child process can be started.
    """
    with _pool.locked() as pool:
        pool.busy += 1
        pool.most = min(max(pool.most, pool.busy), KEPT)
        pool.generation += 1
        program = _program(bootstrap)
        for child in tuple(pool.waiting):
            if child.program == program and child.popen.poll() is None:
                pool.waiting.remove(child)
                return child
    try:
        return _start(program)
    except OSError:
        with _pool.locked() as pool:
            pool.busy -= 1
        raise


def give_back(bootstrap: str) -> None:
    """Say that a child taken is no more, and have its successors started shortly."""
    with _pool.locked() as pool:
        pool.busy -= 1
        generation = pool.generation
    _later(REST, _refill, bootstrap, generation)


def expect(bootstrap: str) -> None:
    """Have a child ready for a task that will come in a moment."""
    with _pool.locked() as pool:
        pool.generation += 1
        generation = pool.generation
        if pool.waiting:
            return
        try:
            pool.waiting.append(_start(_program(bootstrap)))
        except OSError:
            return  # whoever wants the child will say so
    _later(IDLE, _expire, generation)


def dismiss() -> None:
    """End every child that waits."""
    with _pool.locked() as pool:
        leaving, pool.waiting = pool.waiting, []
    for child in leaving:
        child.popen.kill()
    for child in leaving:
        child.popen.wait()
        child.close()


@dataclass(eq=False)
class _Pool:
    """Who waits, and how many were at work together."""

    waiting: list[Child] = field(default_factory=list)
    busy: int = 0
    most: int = 0
    generation: int = 0


def _leave(pool: _Pool) -> None:
    """In a forked copy of this process, leave the children to the original."""
    for child in pool.waiting:
        child.popen.returncode = 0  # as far as the copy is concerned
        child.close()


_pool: Slot[_Pool] = Slot("child processes that wait with HiGHS loaded", _Pool, _leave)


def _program(bootstrap: str) -> tuple[str, str]:
    return bootstrap, json.dumps([os.path.abspath(entry) for entry in sys.path])


def _start(program: tuple[str, str]) -> Child:
    with contextlib.ExitStack() as undo:
        page = undo.enter_context(_nameless_file())
        replies, answers = _pipe(undo)
        ours = [page.fileno(), answers.fileno()]
        popen = subprocess.Popen(
            # isolated: nothing from the environment or the current folder comes before sys.path
            [sys.executable, "-I", "-c", *program, *map(str, ours)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=ours,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # a Ctrl-C at the terminal is for the parent to handle
        )
        answers.close()  # the pipe ends with the child
        undo.pop_all()
    return Child(program, popen, page, replies)


def _nameless_file() -> FileIO:
    """Return an empty file without a name, in memory where the system has such files."""
    try:
        number = os.memfd_create("gpu-bridge")
    except (AttributeError, OSError):  # an old kernel, another system, a sandbox
        with tempfile.TemporaryFile(buffering=0) as file:
            number = os.dup(file.fileno())
    return _opened(number, "r+b")


def _pipe(undo: contextlib.ExitStack) -> tuple[FileIO, FileIO]:
    read, write = os.pipe()
    return undo.enter_context(_opened(read, "rb")), undo.enter_context(_opened(write, "wb"))


def _opened(number: int, mode: str) -> FileIO:
    """Return a stream of a descriptor, which it takes over, past those of standard streams."""
    import fcntl

    if number < FIRST_OF_OURS:
        try:
            above = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, FIRST_OF_OURS)
        finally:
            os.close(number)
        number = above
    return FileIO(number, mode)


def _refill(bootstrap: str, generation: int) -> None:
    """Start successors unless children were taken since, which have successors of their own."""
    with _pool.locked() as pool:
        if generation != pool.generation or sys.is_finalizing():
            return
        wanted = pool.most - pool.busy - len(pool.waiting)
        try:
            for _ in range(wanted):
                pool.waiting.append(_start(_program(bootstrap)))
        except OSError:
            return  # the next solve says so, if it is still true then
    _later(IDLE, _expire, generation)


def _later(seconds: float, function: Callable[..., None], *arguments: object) -> None:
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no more threads: the next solve starts a child anew
        timer.start()


def _expire(generation: int) -> None:
    """Send the waiting home unless somebody came."""
    with _pool.locked() as pool:
        idle = generation == pool.generation
        if idle:
            pool.most = 0
    if idle:
        dismiss()


atexit.register(dismiss)


# A running child: its task on the way there, its words and its reply on the way back.


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
            self.child = take(bootstrap)
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
            give_back(self._bootstrap)

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
