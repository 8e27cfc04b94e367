"""What can be done to a process that solves: signals, full disks, limits, missing streams.

An injury says how the process is started, and does something to it while it solves.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

HEARD_AFTER = 0.1
"""Seconds after which a solve that was called has its handler of Ctrl-C in place."""


@dataclass
class Start:
    """How a process is started: its command, its environment, its temporary folder."""

    command: list[str]
    environment: dict[str, str]
    temporary: Path

    def through_shell(self, words: str) -> None:
        """Let a shell do something to itself, then become the process."""
        self.command = ["sh", "-c", f'{words} exec "$@"', "sh", *self.command]


class Injury:
    """Nothing; the base of all others.

    Attributes
    ----------
    delivered : int
        How often something was done.
    died_of : int or None
        The exit code that it explains, once it was done.
    may_exit : tuple of int
        Exit codes of the command that it explains, besides those of answers.
    """

    may_exit: tuple[int, ...] = ()
    options: dict[str, object] = {}  # noqa: RUF012  # never changed

    def __init__(self) -> None:
        self.delivered = 0
        self.died_of: int | None = None

    @contextmanager
    def arranged(self, start: Start) -> Iterator[None]:
        """Change how the process is started, and clear up after its end."""
        yield

    def act(self, pid: int, seconds: float) -> None:
        """Do something to the process, so many seconds after its solve began."""

    def may_raise(self, name: str, door: str) -> bool:
        """Whether an exception of this name is an honest answer to what was done at a door."""
        return False

    def __str__(self) -> str:
        return ""


@dataclass
class _Timed(Injury):
    """Something done at given times."""

    times: Sequence[float]
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0), repr=False)

    def __post_init__(self) -> None:
        super().__init__()
        self._left = sorted(self.times)

    def act(self, pid: int, seconds: float) -> None:
        while self._left and self._left[0] <= seconds:
            self._left.pop(0)
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                self.strike(pid)

    def strike(self, pid: int) -> None:
        """Do it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "at " + ", ".join(f"{one:.2f}" for one in sorted(self.times)) + " s"


class Interrupt(_Timed):
    """Ctrl-C, which the system may send to any thread."""

    may_exit = (130, -signal.SIGINT)  # the latter while the interpreter takes itself down

    def strike(self, pid: int) -> None:
        threads = os.listdir(f"/proc/{pid}/task")
        _send_to_thread(pid, int(self.rng.choice(threads)), signal.SIGINT)
        self.delivered += 1

    def may_raise(self, name: str, door: str) -> bool:
        """A second Ctrl-C raises, and so does one while a modelling package writes its model."""
        heard = door == "by_arrays" and min(self.times) > HEARD_AFTER
        return name == "KeyboardInterrupt" and (self.delivered > 1 or not heard)


class End(_Timed):
    """The end of the process from outside, by SIGTERM or SIGKILL."""

    number = signal.SIGTERM

    def strike(self, pid: int) -> None:
        os.kill(pid, self.number)
        self.delivered += 1
        self.died_of = -self.number


class Kill(End):
    """The end that nobody can prepare for."""

    number = signal.SIGKILL


class KillChildren(_Timed):
    """The end of one child or of all of them, as by a system without memory."""

    may_exit = (70,)

    def strike(self, pid: int) -> None:
        found = children(pid)
        if found and self.rng.random() < 0.5:
            found = [int(self.rng.choice(found))]
        for child in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                self.delivered += 1


class NoMoreFiles(_Timed):
    """From some time on nothing can be written to any file, as on a full disk."""

    may_exit = (73,)

    def strike(self, pid: int) -> None:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))
        self.delivered += 1


@dataclass
class FullFolder(Injury):
    """A temporary folder with some free kilobytes, or one that is not there."""

    kilobytes: int | None

    def __post_init__(self) -> None:
        super().__init__()

    @contextmanager
    def arranged(self, start: Start) -> Iterator[None]:
        self.delivered = 1
        if self.kilobytes is None:
            start.environment["TMPDIR"] = "/does/not/exist"
            yield
            return
        mount = ["mount", "-t", "tmpfs", "-o", f"size={4 + self.kilobytes}k", "tmpfs"]
        subprocess.run([*mount, start.temporary], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", start.temporary], check=True)

    def __str__(self) -> str:
        return "missing" if self.kilobytes is None else f"{self.kilobytes} kB free"


@dataclass
class Output(Injury):
    """Standard streams that are closed, or lead to a full device."""

    words: str

    may_exit = (73, 74)

    def __post_init__(self) -> None:
        super().__init__()

    @contextmanager
    def arranged(self, start: Start) -> Iterator[None]:
        self.delivered = 1
        start.through_shell(f"exec {self.words};")
        yield

    def __str__(self) -> str:
        return self.words


class FullLog(Injury):
    """A file for the log on a full device."""

    may_exit = (73, 74)
    options = {"log_file": "/dev/full"}  # noqa: RUF012  # never changed

    @contextmanager
    def arranged(self, start: Start) -> Iterator[None]:
        self.delivered = 1
        yield


@dataclass
class LittleMemory(Injury):
    """A limit on address space or data."""

    letter: str
    megabytes: int

    may_exit = (70,)

    def __post_init__(self) -> None:
        super().__init__()

    @contextmanager
    def arranged(self, start: Start) -> Iterator[None]:
        self.delivered = 1
        start.through_shell(f"ulimit -{self.letter} {self.megabytes * 1000};")
        yield

    def may_raise(self, name: str, door: str) -> bool:
        """A limit that is too low is named."""
        return name == "MemoryLimitError"

    def __str__(self) -> str:
        return f"ulimit -{self.letter} {self.megabytes} MB"


def children(pid: int) -> list[int]:
    """Return the children of a process, whichever of its threads has them."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in found for word in path.read_text().split()]


@cache
def can_mount() -> bool:
    """Whether a small file system can be mounted here."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder]
        if subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode:
            return False
        subprocess.run(["umount", folder], check=True)
        return True


def _send_to_thread(pid: int, thread: int, number: int) -> None:
    """Send a signal to one thread of another process."""
    tgkill = getattr(ctypes.CDLL(None), "tgkill", None)
    if tgkill is None:
        os.kill(pid, number)
    else:
        tgkill(pid, thread, number)
