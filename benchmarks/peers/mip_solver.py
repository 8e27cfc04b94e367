"""What a mixed-integer solver must offer to be measured, and how it tells what it finds."""

from __future__ import annotations

import json
import os
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mip_check import FloatArray

FLUSH = 0.2
"""Seconds between two writes of what was found, so that a killed process loses no more."""

EVENTS, POINT, ANSWER = "events.json", "point.npy", "answer.json"


@dataclass(frozen=True)
class MipTask:
    """What is asked of a solver, and the files of the model.

    ``path`` is the file of the index, ``plain`` the same as an uncompressed MPS file, ``arrays`` an
    ``.npz`` file with the arrays of the model for solvers that cannot live beside HiGHS, and
    ``folder`` is where they may write. ``warm_up`` are the seconds of a first solve that loads
    what a process needs.
    """

    path: Path
    plain: Path
    arrays: Path
    folder: Path
    time_limit: float
    threads: int
    seed: int
    device: str = "auto"
    warm_up: float = 5.0


@dataclass(frozen=True, eq=False)
class MipAnswer:
    """What a solver claims at its end: a status, a bound in the sense of the file, a point (n,)."""

    status: str
    bound: float | None = None
    x: FloatArray | None = None
    source: str = ""
    detail: str = ""


class Recorder:
    """Keeps times and objectives of the points a solver tells of, and the last point.

    Objectives are in the sense of the file. A thread writes them to ``folder`` some times a
    second, so that they outlive the process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._began = 0.0
        self._events: list[tuple[float, float]] = []
        self._x: FloatArray | None = None
        self._dirty = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write_at_times, daemon=True)

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return time.perf_counter() - self._began

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.perf_counter()
        self._thread.start()

    def event(self, objective: float, x: Any = None, seconds: float | None = None) -> None:
        """Note a better point, now or at a time the solver tells; cheap, from any thread."""
        at = self.seconds if seconds is None else seconds
        point = None if x is None else np.array(x, dtype=np.float64)
        with self._lock:
            self._events.append((at, float(objective)))
            self._x = self._x if point is None else point
            self._dirty = True

    def end(self, answer: MipAnswer, seconds: float, **more: Any) -> None:
        """Write everything, the answer last."""
        self._stop.set()
        self._thread.join()
        if answer.x is not None:
            self._x, self._dirty = np.array(answer.x, dtype=np.float64), True
        self._write()
        claims = {
            "status": answer.status,
            "bound": answer.bound,
            "source": answer.source,
            "detail": answer.detail,
            "seconds": seconds,
            **more,
        }
        _replace(self._folder / ANSWER, json.dumps(claims).encode())

    def _write_at_times(self) -> None:
        while not self._stop.wait(FLUSH):
            self._write()

    def _write(self) -> None:
        with self._lock:
            if not self._dirty:
                return
            events, x, self._dirty = list(self._events), self._x, False
        if x is not None:
            partial = self._folder / "partial.npy"
            np.save(partial, x)
            os.replace(partial, self._folder / POINT)
        _replace(self._folder / EVENTS, json.dumps(events).encode())


class MipSolver(ABC):
    """One solver with one way of using it."""

    @abstractmethod
    def label(self, task: MipTask) -> str:
        """Name, version and way, as tables show it."""

    @abstractmethod
    def missing(self) -> str | None:
        """Say why the solver cannot run here; None if it can."""

    @abstractmethod
    def warm_up(self, task: MipTask) -> None:
        """Load and compile what the first solve of a process would; reported apart."""

    @abstractmethod
    def load(self, task: MipTask) -> Any:
        """Make the solver's own model; not counted as its time."""

    @abstractmethod
    def solve(self, model: Any, task: MipTask, recorder: Recorder) -> MipAnswer:
        """Solve it and tell the recorder of every better point; the clock runs."""


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_suffix(".partial")
    partial.write_bytes(content)
    os.replace(partial, path)
