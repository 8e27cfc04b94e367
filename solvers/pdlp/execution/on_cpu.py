"""Iteration blocks on a CPU, in slices as long as a limit may go unnoticed.

Threads help on a quiet machine and hurt on a busy one, where each of an iteration's two loops
may wait for the slowest thread to get a core. Any number of threads gives the same bits, so the one
that was faster when last measured is taken, and given up when it turns slower than the other was.

The arguments that kernels take from the state stand here in the order in which they are declared,
for a GPU as well.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from solvers.core.lp_answer import STEPS_PER_OWNER
from solvers.core.machine import threads_for
from solvers.core.progress import Progress
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, STEP
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record

THREADS_TRIED_FROM = 20_000
"""Elementary steps of half an iteration from which threads are given a trial."""

WARM_UP = 1
"""Iterations of the first slice, in which threads start and caches fill: it is not counted."""

TRIAL = 10
"""Iterations of its second slice, the first one timed."""

RETRY = 8
"""Slices after which the slower number of threads gets another trial, doubled each time: threads
that have just been started can take some 50 ms to find their cores, as long as a whole trial."""


Arguments = tuple[Any, ...]


def primal_arguments(state: State) -> Arguments:
    """Return the arguments of the primal step up to ``control``."""
    x, gathered = state.x, state.y.point
    own = (x.point, x.anchor, *state.column_side, state.reflected, *x.written)
    return (*state.column_matrix, gathered, *own, state.control)


def dual_arguments(state: State) -> Arguments:
    """Return the arguments of the dual step up to ``control``."""
    y, gathered = state.y, state.reflected
    own = (y.point, y.anchor, *state.row_side, *y.written)
    return (*state.row_matrix, gathered, *own, state.control)


def staying_arguments(state: State, count: int, thread_blocks: int, memory: Arguments) -> Arguments:
    """Return the arguments of a kernel whose threads stay for a whole block of iterations.

    ``memory`` is what its thread blocks tell each other through.
    """
    x, y = state.x, state.y
    return (
        *state.column_matrix,
        *state.row_matrix,
        *(x.point, x.anchor, *state.column_side),
        state.reflected,
        *x.written,
        *(y.point, y.anchor, *state.row_side, *y.written),
        state.control,
        count,
        thread_blocks,
        *memory,
    )


def row_measure_arguments(state: State) -> Arguments:
    """Return the arguments of ``measure_rows``."""
    sums = (state.control, state.row_partial.shape[0], state.row_partial)
    return (*state.row_matrix, *state.x.written, *state.y.measured, *state.row_data, *sums)


def column_measure_arguments(state: State) -> Arguments:
    """Return the arguments of ``measure_columns``."""
    sums = (state.control, state.column_partial.shape[0], state.column_partial)
    gathered = state.y.projection
    return (*state.column_matrix, gathered, *state.x.measured, *state.column_data, *sums)


def decide_arguments(state: State, count: int) -> Arguments:
    """Return the arguments of ``decide``."""
    return (
        state.row_partial.shape[0],
        state.row_partial,
        state.column_partial.shape[0],
        state.column_partial,
        count,
        state.control,
    )


def settle_arguments(state: State) -> Arguments:
    """Return the arguments of ``settle``."""
    x, y = state.x, state.y
    return (
        x.point.size,
        x.point,
        x.anchor,
        x.projection,
        x.best,
        state.feasible_x,
        y.point.size,
        y.point,
        y.anchor,
        y.projection,
        y.best,
        state.control,
    )


@dataclass(eq=False)
class Speed:
    """Seconds per iteration with each number of threads that comes into question."""

    thread_counts: Sequence[int] = (1,)
    seconds: dict[int, float] = field(default_factory=dict)
    _warm: set[int] = field(default_factory=set)
    _slices: int = 0
    _retry_at: int = RETRY

    def choose(self) -> int:
        """Return the number of threads for the next slice."""
        untried = [threads for threads in self.thread_counts if threads not in self.seconds]
        if untried:
            return untried[0]
        if self._slices >= self._retry_at and len(self.thread_counts) > 1:
            self._retry_at = 2 * self._slices
            return max(self.thread_counts, key=self.seconds.__getitem__)
        return self._best()

    def slice_length(self, threads: int, target: float) -> int:
        """Return how many iterations take about ``target`` seconds."""
        if threads not in self._warm:
            return WARM_UP
        if threads not in self.seconds or threads != self._best():
            return TRIAL
        return max(1, int(min(target / max(self.seconds[threads], 1e-9), 1e9)))

    def note(self, threads: int, iterations: int, elapsed: float) -> None:
        """Record what a slice took."""
        self._slices += 1
        if threads in self._warm:
            self.seconds[threads] = elapsed / iterations
        self._warm.add(threads)

    def _best(self) -> int:
        return min(self.seconds, key=self.seconds.__getitem__)


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
        self._speed = Speed(thread_counts(state))
        self._records: deque[Record] = deque()

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""
        return len(self._records)

    def submit(self, count: int) -> None:
        """Run a block of so many iterations."""
        state = self._state
        slice_seconds = state.settings.execution.slice_seconds
        run_block(self._kernels, count, self._speed, self._progress, slice_seconds)
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
        halves = (*primal_arguments(state), *dual_arguments(state))
        STEP.twin.steps_fast(first, count, *halves, threads)

    def check(count: int) -> None:
        MEASURE["measure_rows"](*row_measure_arguments(state), threads=threads)
        MEASURE["measure_columns"](*column_measure_arguments(state), threads=threads)
        DECISIONS["decide"](*decide_arguments(state, count))
        DECISIONS["settle"](*settle_arguments(state), threads=threads)

    return BlockKernels(step, steps, check)


def thread_counts(state: State) -> tuple[int, ...]:
    """Return the numbers of CPU threads to try."""
    matrix = state.problem.coefficients.by_row
    work = matrix.nonzeros + STEPS_PER_OWNER * max(matrix.rows, matrix.columns)
    many = threads_for(work, state.threads, parallel_from=THREADS_TRIED_FROM)
    return (1,) if many == 1 else (1, many)
