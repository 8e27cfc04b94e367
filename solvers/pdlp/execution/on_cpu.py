"""Windows of iterations on a CPU."""

from __future__ import annotations

import time
from collections import deque

from solvers.core.progress import Progress
from solvers.pdlp.execution.kernel_arguments import (
    column_measure_arguments,
    decide_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    settle_arguments,
)
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, STEP
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record


class WindowsOnCpu:
    """Runs a window at once, or as much of it as there is time for."""

    depth = 1

    def __init__(self, state: State, progress: Progress) -> None:
        self._state = state
        self._progress = progress
        self._records: deque[Record] = deque()

    @property
    def pending(self) -> int:
        """Windows submitted whose records have not been taken."""
        return len(self._records)

    def submit(self, count: int) -> None:
        """Run a window of so many iterations."""
        state = self._state
        done = 0
        if count > 1:
            step(state, 0, KEEP_FIRST)
            done = self._inner_steps(count - 2)
        step(state, done, KEEP_LAST if done else KEEP_FIRST | KEEP_LAST)
        check(state, done + 1)
        self._records.append(Record(state.read_control()))

    def take(self) -> Record:
        """Return the record of the earliest window not taken."""
        return self._records.popleft()

    def drain(self) -> None:
        """Nothing is ever under way here."""

    def _inner_steps(self, count: int) -> int:
        """Run iterations 1 to ``count`` of the window, or fewer; return the next offset."""
        state = self._state
        offset, last = 1, 1 + count
        while offset < last and self._progress.should_stop() is None:
            threads = state.pace.choose()
            wanted = state.pace.slice_length(threads, state.settings.slice_seconds)
            size = min(last - offset, wanted)
            began = time.perf_counter()
            STEP.twin.steps_fast(
                offset, size, primal_arguments(state), dual_arguments(state), threads
            )
            state.pace.note(threads, size, time.perf_counter() - began)
            offset += size
        return offset


def step(state: State, offset: int, keep: int) -> None:
    """Run one iteration."""
    STEP["primal_step"](*primal_arguments(state), offset, keep, threads=state.threads)
    STEP["dual_step"](*dual_arguments(state), offset, keep, threads=state.threads)


def check(state: State, count: int) -> None:
    """Measure the last iteration of a window of ``count``, decide, and carry it out."""
    MEASURE["measure_rows"](*row_measure_arguments(state), threads=state.threads)
    MEASURE["measure_columns"](*column_measure_arguments(state), threads=state.threads)
    DECISIONS["decide"](*decide_arguments(state, count))
    DECISIONS["settle"](*settle_arguments(state), threads=state.threads)
