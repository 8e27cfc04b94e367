"""Long-lived processes that try models; one that dies or hangs is a finding, and is replaced."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.campaign.generators import make_model
from tests.campaign.trial import Examiner, Finding, Trial, at_work, free_name
from tests.campaign.verdicts import Verdict
from tests.campaign.written import mps_text

HUNG_SECONDS = 120.0
"""Time without a word after which a process hangs."""

START_SECONDS = 60.0
"""Time that a new process may take before it begins."""

BEGINNING = "beginning"
Task = tuple[str, int]


@dataclass(frozen=True)
class Settings:
    """What every process is told once."""

    folder: Path
    device: str = "cpu"
    ways: int = 3
    hung_seconds: float = HUNG_SECONDS


class _Member:
    """A process, its task, and what it said last."""

    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process: Any = context.Process(target=work, args=(other, settings))
        self.process.start()
        other.close()
        self.task: Task | None = None
        self.doing = "starting"
        self.heard = time.monotonic()

    def give(self, task: Task) -> None:
        self.task, self.doing, self.heard = task, BEGINNING, time.monotonic()
        self.pipe.send(task)

    def end(self) -> None:
        """End the process and whatever it started; it leads a group of its own."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()  # where it has not made its group yet
        self.process.join()
        self.pipe.close()


def run_crew(tasks: Iterator[Task], settings: Settings, processes: int) -> Iterator[Trial]:
    """Try all models that ``tasks`` yields, and return what came of each as it ends."""
    crew = [_Member(settings) for _ in range(processes)]
    try:
        for member in crew:
            _give_next(member, tasks)
        while any(member.task is not None for member in crew):
            busy = [member for member in crew if member.task is not None]
            ready = wait([member.pipe for member in busy], timeout=1.0)
            for member in busy:
                trial = _hear(member, settings) if member.pipe in ready else _late(member, settings)
                if trial is None:
                    continue
                yield trial
                if member.pipe.closed:
                    crew[crew.index(member)] = member = _Member(settings)
                _give_next(member, tasks)
    finally:
        for member in crew:
            if not member.pipe.closed:
                member.end()


def _give_next(member: _Member, tasks: Iterator[Task]) -> None:
    task = next(tasks, None)
    member.task = None
    if task is not None:
        member.give(task)


def _hear(member: _Member, settings: Settings) -> Trial | None:
    """Read what a process says: a trial at its end, or else what it does."""
    try:
        said = member.pipe.recv()
    except (EOFError, ConnectionError):
        member.process.join()
        code = member.process.exitcode
        member.end()
        return _lost(member, Verdict.DIED, f"exit code {code} while {member.doing}", settings)
    member.heard = time.monotonic()
    if isinstance(said, Trial):
        return said
    member.doing = said
    return None


def _late(member: _Member, settings: Settings) -> Trial | None:
    silent = time.monotonic() - member.heard
    if silent < settings.hung_seconds + (START_SECONDS if member.doing == BEGINNING else 0.0):
        return None
    member.end()
    return _lost(member, Verdict.HUNG, f"{silent:.0f} s while {member.doing}", settings)


def _lost(member: _Member, verdict: Verdict, detail: str, settings: Settings) -> Trial:
    """Return the trial of a process that ended without one, with its model in a file."""
    assert member.task is not None
    kind, seed = member.task
    file = free_name(settings.folder, f"{verdict.value}-{kind}-{seed}".replace(" ", "_"))
    file.write_text(mps_text(make_model(kind, seed)), encoding="utf-8")
    smaller = at_work(settings.folder, member.process.pid)
    if smaller.exists():
        smaller.replace(file)
    finding = Finding(kind, seed, member.doing, verdict, detail, file.name)
    return Trial(kind, seed, 1, findings=[finding])


def work(pipe: Connection, settings: Settings) -> None:
    """Try models until there are no more: what a process runs."""
    os.setsid()
    logging.getLogger("pyomo").setLevel(logging.ERROR)  # it warns of points at limits
    with tempfile.TemporaryDirectory(prefix="campaign-") as files:
        examiner = Examiner(settings.folder, Path(files), settings.device, settings.ways, pipe.send)
        with contextlib.suppress(EOFError, ConnectionError):  # when nobody is there any more
            while True:
                pipe.send(examiner.try_model(*pipe.recv()))
