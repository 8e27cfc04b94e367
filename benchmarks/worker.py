"""Solvers in processes of their own: a crash costs one run, a hang the limit, neither the rest.

A worker process holds one solver, loads it once, solves a small program to load what it
needs, and then answers one request after the other. Only the call of the solver is timed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import memory
from benchmarks.linear_programs import LinearProgram, small_example
from benchmarks.peers import Answer, Solver, Task

START_SECONDS = 180.0
"""How long loading a solver and its first small solve may take."""

GRACE = 30.0
"""Seconds beyond twice the time limit after which a run counts as hung."""

TRIAL_TOLERANCE = 1e-2
TRIAL_SECONDS = 2.0
"""The unmeasured run on each model: as much as it takes to load and to warm up."""


@dataclass(frozen=True, eq=False)
class Timed:
    """An answer, the wall time it took in seconds, and the memory beside the program's size.

    ``host_peak`` is in multiples of that size; None where the system does not tell.
    """

    answer: Answer
    seconds: float
    host_peak: float | None = None


class Worker:
    """One solver, made by ``make``, in a process that is started again when it died."""

    def __init__(self, make: Callable[[], Solver], trial: bool = True, grace: float = GRACE):
        self._make, self._trial, self._grace = make, trial, grace
        self._process: Any = None
        self._connection: Connection | None = None
        self._refusal: str | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def solve(self, lp: LinearProgram, task: Task) -> Timed:
        """Solve a program; a crash or a hang comes back as a status."""
        connection = self._ready()
        if connection is None:
            return Timed(Answer("failed", detail=f"did not start: {self._refusal}"), 0.0)
        began = time.perf_counter()
        try:
            connection.send((lp, task))
            patience = 2 * task.time_limit + self._grace
            while not connection.poll(min(1.0, patience)):
                patience -= 1.0
                if patience <= 0:
                    self.stop()
                    return Timed(Answer("hang"), time.perf_counter() - began)
            found = connection.recv()
        except (EOFError, OSError):
            self.stop()
            return Timed(Answer("crash"), time.perf_counter() - began)
        assert isinstance(found, Timed)
        return found

    def stop(self) -> None:
        """End the process and whatever it started."""
        if self._process is not None and self._process.pid is not None:
            _end_group(self._process.pid)
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _ready(self) -> Connection | None:
        """Return the way to a running solver; None if it cannot be loaded, which is tried once."""
        if self._connection is None and self._refusal is None:
            try:
                self._start()
            except (EOFError, OSError, TimeoutError) as error:
                self._refusal = str(error) or "its process ended"
                self.stop()
        return self._connection

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, self._make, self._trial))
        self._process.start()
        theirs.close()
        self._connection = ours
        if not ours.poll(START_SECONDS):
            raise TimeoutError(f"no word within {START_SECONDS:g} s")
        ours.recv()


def serve(connection: Connection, make: Callable[[], Solver], trial: bool) -> None:
    """Answer requests until the other end is closed; the body of the worker process."""
    os.setsid()
    solver = make()
    _run(solver, small_example(), Task(1e-4, 10.0))
    connection.send("ready")
    while True:
        try:
            lp, task = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(run(solver, lp, task, trial))


def run(solver: Solver, lp: LinearProgram, task: Task, trial: bool = False) -> Timed:
    """Solve once in this process, if asked for after an unmeasured trial on the same model."""
    if trial and not solver.exact:
        tolerance = max(task.tolerance, TRIAL_TOLERANCE)
        seconds = min(task.time_limit, TRIAL_SECONDS)
        _run(solver, lp, replace(task, tolerance=tolerance, time_limit=seconds))
    return _run(solver, lp, task)


def _run(solver: Solver, lp: LinearProgram, task: Task) -> Timed:
    model = solver.prepare(lp, task)
    before = memory.restart_peak()
    began = time.perf_counter()
    try:
        answer = solver.solve(model, task)
    except Exception as error:  # whatever a foreign solver raises is its result
        answer = Answer("failed", detail=f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - began
    peak = None if before is None else (memory.peak() - before) / lp.nbytes
    return Timed(answer, seconds if answer.seconds is None else answer.seconds, peak)


def _end_group(pid: int) -> None:
    """Kill a process and, once it leads a group of its own, all that belong to it."""
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
