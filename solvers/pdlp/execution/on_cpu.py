"""Iteration blocks on a CPU."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.progress import Progress
from solvers.pdlp.execution.kernel_arguments import (
    column_measure_arguments,
    decide_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    settle_arguments,
)
from solvers.pdlp.execution.speed import Speed
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, STEP
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record


@dataclass(frozen=True)
class BlockKernels:
    """What a block consists of.

    ``step(offset, keep)`` is one iteration, ``steps(first, count, threads)`` several that keep
    nothing, and ``check(count)`` what follows the last one.
    """

    step: Callable[[int, int], None]
    steps: Callable[[int, int, int], None]
    check: Callable[[int], None]


def run_block(
    kernels: BlockKernels, count: int, speed: Speed, progress: Progress, slice_seconds: float
) -> None:
    """Run a block of ``count`` iterations, or as many of it as there is time for, and its check."""
    done = 0
    if count > 1:
        kernels.step(0, KEEP_FIRST)
        done, last = 1, count - 1
        while done < last and progress.should_stop() is None:
            threads = speed.choose()
            size = min(last - done, speed.slice_length(threads, slice_seconds))
            began = time.perf_counter()
            kernels.steps(done, size, threads)
            speed.note(threads, size, time.perf_counter() - began)
            done += size
    kernels.step(done, KEEP_LAST if done else KEEP_FIRST | KEEP_LAST)
    kernels.check(done + 1)


class BlocksOnCpu:
    """Runs a block at once, or as much of it as there is time for."""

    depth = 1

    def __init__(self, state: State, progress: Progress) -> None:
        self._state = state
        self._progress = progress
        self._kernels = kernels_of(state)
        self._records: deque[Record] = deque()

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""
        return len(self._records)

    def submit(self, count: int) -> None:
        """Run a block of so many iterations."""
        state = self._state
        slice_seconds = state.settings.execution.slice_seconds
        run_block(self._kernels, count, state.speed, self._progress, slice_seconds)
        self._records.append(Record(state.read_control()))

    def take(self) -> Record:
        """Return the record of the earliest block not taken."""
        return self._records.popleft()

    def drain(self) -> None:
        """Nothing is ever under way here."""


def kernels_of(state: State) -> BlockKernels:
    """Return the kernels of a block with their arguments."""
    threads = state.threads

    def step(offset: int, keep: int) -> None:
        STEP["primal_step"](*primal_arguments(state), offset, keep, threads=threads)
        STEP["dual_step"](*dual_arguments(state), offset, keep, threads=threads)

    def steps(first: int, count: int, threads: int) -> None:
        STEP.twin.steps_fast(first, count, primal_arguments(state), dual_arguments(state), threads)

    def check(count: int) -> None:
        MEASURE["measure_rows"](*row_measure_arguments(state), threads=threads)
        MEASURE["measure_columns"](*column_measure_arguments(state), threads=threads)
        DECISIONS["decide"](*decide_arguments(state, count))
        DECISIONS["settle"](*settle_arguments(state), threads=threads)

    return BlockKernels(step, steps, check)
