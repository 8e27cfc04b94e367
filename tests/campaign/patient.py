"""A process that solves while something is done to it, and what is to be said of its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gpu_bridge.cli.exit_codes import ExitCode
from tests.campaign.injuries import Injury, Start
from tests.campaign.victim import MODELS
from tests.campaign.written import mps_text
from tests.locations import ROOT
from tests.soon import soon

MARK = "GPU_BRIDGE_PATIENT"
"""Variable in the environment by which a process and its children are found."""

LOOK_AGAIN = 0.005
STARTS_IN = 120.0
"""Seconds in which a process has started, on the slowest machine."""

ENDS_IN = 10.0
"""Seconds after which who has not ended hangs."""

ANSWERS = {0, 1, 2, 3, 4}
OURS = "/gpu_bridge/", "/solvers/"


@dataclass(frozen=True)
class Plan:
    """What is solved, and how."""

    door: str
    model: str
    method: str
    limit: float
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.door} {self.model}-{self.seed} {self.method} {self.limit} s"


class Patient:
    """One trial.

    Parameters
    ----------
    plan : Plan
    injury : Injury
    lateness : float
        Seconds after a limit, or after Ctrl-C, in which there has to be an answer.

    Attributes
    ----------
    told : str
        What the process said of its answer.
    """

    def __init__(self, plan: Plan, injury: Injury, lateness: float) -> None:
        self.told = ""
        self._plan = plan
        self._injury = injury
        self._lateness = lateness
        self._mark = uuid.uuid4().hex
        self._complaints: list[str] = []
        self._said: list[bytes] = []
        self._stages: dict[str, float] = {}

    def treat(self) -> list[str]:
        """Run the process to its end; return what is wrong."""
        before = _in_shared_memory()
        with tempfile.TemporaryDirectory(prefix="patient-") as place:
            folder, temporary = Path(place) / "work", Path(place) / "temporary"
            folder.mkdir()
            temporary.mkdir()
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
                "TMPDIR": str(temporary),
                MARK: self._mark,
            }
            ours, theirs = socket.socketpair()
            start = Start(self._command(folder, theirs.fileno()), environment, temporary)
            with ours, self._injury.arranged(start):
                self._run(start, ours, theirs)
                self._look_for_processes()
                left = [path.name for path in temporary.iterdir()]
                self._check(not left, f"left in the temporary folder: {left}")
        left = sorted(_in_shared_memory() - before)
        self._check(not left, f"left in shared memory: {left}")
        return self._complaints

    def _command(self, folder: Path, number: int) -> list[str]:
        plan = self._plan
        options = {
            "method": plan.method,
            "device": "cpu",
            "time_limit": plan.limit,
            **self._injury.options,
        }
        if plan.door == "command":
            model = folder / "model.mps"
            model.write_text(mps_text(MODELS[plan.model](plan.seed)), encoding="utf-8")
            words = [f"--option={name}={value}" for name, value in options.items()]
            return [sys.executable, "-m", "gpu_bridge", "solve", str(model), *words]
        told = {
            "door": plan.door,
            "model": plan.model,
            "seed": plan.seed,
            "options": options,
            "folder": str(folder),
        }
        return [sys.executable, "-m", "tests.campaign.victim", str(number), json.dumps(told)]

    def _run(self, start: Start, ours: socket.socket, theirs: socket.socket) -> None:
        popen = subprocess.Popen(
            start.command,
            cwd=ROOT,
            env=start.environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        theirs.close()
        with popen, _reading(popen.stdout, []), _reading(popen.stderr, self._said):
            try:
                if self._plan.door == "command":
                    self._watch_command(popen)
                else:
                    self._watch_victim(popen, ours)
            finally:
                popen.kill()
        said = b"".join(self._said).decode("utf-8", "replace")
        wrong = "Traceback" in said or any(words in said for words in OURS)
        self._check(not wrong, f"said {said[-1500:]!r}")

    def _watch_command(self, popen: subprocess.Popen[bytes]) -> None:
        """See the command to its end, which begins once the command hears Ctrl-C."""
        maps = Path(f"/proc/{popen.pid}/maps")
        started = time.monotonic()
        while popen.poll() is None and "_multiarray_umath" not in _text(maps):
            time.sleep(LOOK_AGAIN)
        began = time.monotonic()
        while popen.poll() is None and time.monotonic() < began + self._plan.limit + ENDS_IN:
            self._injury.act(popen.pid, time.monotonic() - began)
            time.sleep(LOOK_AGAIN)
        code = popen.poll()
        self.told = f"exit code {code} after {time.monotonic() - began:.2f} s"
        if code is None:
            self._check(False, f"hung for {time.monotonic() - started:.1f} s")
            return
        # the model is read and written within the lateness, too
        self._look_at_clock(time.monotonic() - began)
        if code != self._injury.died_of:
            explained = ANSWERS | set(self._injury.may_exit)
            self._check(code in explained, f"exit code {code} ({_name(code)})")

    def _watch_victim(self, popen: subprocess.Popen[bytes], line: socket.socket) -> None:
        """See the process through both of its solves."""
        events = _Events(line)
        deadline = time.monotonic() + STARTS_IN
        while popen.poll() is None and time.monotonic() < deadline:
            for event in events.new():
                self._heed(event, line)
                if event["event"] == "begins":
                    deadline = time.monotonic() + self._plan.limit + ENDS_IN
                else:
                    deadline = time.monotonic() + ENDS_IN
            if "begins" in self._stages and "answer" not in self._stages:
                self._injury.act(popen.pid, time.monotonic() - self._stages["begins"])
            events.wait(LOOK_AGAIN)
        for event in events.new():
            self._heed(event, line)
        code = popen.poll()
        if code is None:
            self._check(False, f"hung after {list(self._stages)}")
        elif code == self._injury.died_of:
            self.told = self.told or f"exit code {code}"
        else:
            self._check(code == 0, f"exit code {code} after {list(self._stages)}")
            self._check("next" in self._stages, f"no next solve after {list(self._stages)}")
            if "next" in self._stages:
                late = time.monotonic() - self._stages["next"]
                self._check(late < self._lateness, f"took {late:.2f} s to exit")

    def _heed(self, event: dict[str, Any], line: socket.socket) -> None:
        kind = event.pop("event")
        event["event"] = kind
        self._stages[kind] = time.monotonic()
        if kind == "answer":
            seconds = self._stages["answer"] - self._stages["begins"]
            self.told = f"{event.get('status')} {event.get('reason')} after {seconds:.2f} s"
            self._look_at_clock(seconds)
            raised = event.get("raised")
            if raised is not None:
                self.told = f"{raised}: {event.get('words', '')}"
                may = self._injury.may_raise(raised, self._plan.door)
                self._check(may, f"raised {self.told}")
            with contextlib.suppress(OSError):  # of a process that was killed in between
                line.send(b"\n")
        elif kind == "next":
            self._check(event["status"] == "OPTIMAL", f"the next solve ended {event['status']}")

    def _look_at_clock(self, seconds: float) -> None:
        late = seconds - self._plan.limit
        self._check(late < self._lateness, f"{late:.2f} s late")

    def _look_for_processes(self) -> None:
        """Whether everybody has gone soon; whoever has not is ended."""
        gone = soon(lambda: not _marked(self._mark), ENDS_IN)
        self._check(gone, f"left {len(_marked(self._mark))} processes")
        for pid in _marked(self._mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _check(self, holds: bool, complaint: str) -> None:
        if not holds:
            self._complaints.append(complaint)


class _Events:
    """Lines of JSON from a socket, as they come."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._partial = b""

    def wait(self, seconds: float) -> None:
        """Wait for a line, or so long."""
        self._line.settimeout(seconds)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            self._partial += self._line.recv(65536)
            if not self._partial:  # the end; the process is about to be gone
                time.sleep(seconds)

    def new(self) -> Iterator[dict[str, Any]]:
        """Return what has come."""
        *lines, self._partial = self._partial.split(b"\n")
        for text in lines:
            yield json.loads(text)


@contextlib.contextmanager
def _reading(stream: IO[bytes] | None, into: list[bytes]) -> Iterator[None]:
    """Read a stream to its end beside what is done in the block."""
    assert stream is not None  # asked for when the process was started
    thread = threading.Thread(target=lambda: into.append(stream.read()), daemon=True)
    thread.start()
    yield
    thread.join(ENDS_IN)


def _marked(mark: str) -> list[int]:
    """Return the processes with a mark in their environment."""
    sign, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if sign in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def _in_shared_memory() -> set[str]:
    """Return what is there, but for semaphores of other programs: a solve makes none."""
    try:
        return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.")}
    except FileNotFoundError:
        return set()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _name(code: int) -> str:
    with contextlib.suppress(ValueError):
        return ExitCode(code).name
    return "undocumented"
