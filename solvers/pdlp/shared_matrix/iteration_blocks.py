"""Windows of iterations, each with its check, on whichever device the problems are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from solvers.core.progress import Progress
from solvers.pdlp.shared_matrix.kernels.check import CHECK
from solvers.pdlp.shared_matrix.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from solvers.pdlp.shared_matrix.state import (
    State,
    check_arguments,
    dual_arguments,
    primal_arguments,
)

SLICE_SECONDS = 0.03
"""About how long a CPU computes between two looks at the clock."""


class Windows(Protocol):
    """Runs windows."""

    def run(self, count: int) -> None:
        """Run, or on a GPU queue, a window of so many iterations and its check."""


class OnCpu:
    """Runs a window at once, or as much of it as there is time for; at least one iteration."""

    def __init__(self, state: State, progress: Progress, threads: int) -> None:
        self._state = state
        self._progress = progress
        self._threads = threads
        self._seconds = 0.0

    def run(self, count: int) -> None:
        """Run a window of so many iterations and its check."""
        done = 0
        if count > 1:
            self._step(0, KEEP_FIRST)
            done = self._inner(count - 2)
        self._step(done, KEEP_LAST if done else KEEP_FIRST | KEEP_LAST)
        for name, arguments in check_arguments(self._state, done + 1).items():
            CHECK[name](*arguments, threads=self._threads)

    def _step(self, offset: int, keep: int) -> None:
        STEP["primal_step"](*primal_arguments(self._state), offset, keep, threads=self._threads)
        STEP["dual_step"](*dual_arguments(self._state), offset, keep, threads=self._threads)

    def _inner(self, count: int) -> int:
        """Run iterations 1 to ``count`` of the window, or fewer; return the next offset."""
        from solvers.kernels.sharing import threads_for

        state = self._state
        work = 2 * state.by_row.values.size * state.width
        threads = threads_for(work, self._threads)
        offset, last = 1, 1 + count
        while offset < last and self._progress.should_stop() is None:
            size = 1 if not self._seconds else int(SLICE_SECONDS / self._seconds)
            size = min(last - offset, max(1, size))
            began = time.perf_counter()
            STEP.twin.steps_fast(
                offset, size, primal_arguments(state), dual_arguments(state), threads
            )
            self._seconds = max(1e-9, (time.perf_counter() - began) / size)
            offset += size
        return offset


class OnGpu:
    """Queues a window as one recorded graph on the current stream."""

    def __init__(self, state: State, cupy: Any) -> None:
        self._state = state
        self._cupy = cupy
        self._graphs: dict[int, Any] = {}

    def run(self, count: int) -> None:
        """Queue a window of so many iterations and its check."""
        if count not in self._graphs:
            launches = self._launches(count)  # compiles, which may not happen in a capture
            stream = self._cupy.cuda.get_current_stream()
            stream.begin_capture()
            try:
                for launch in launches:
                    launch()
            finally:
                self._graphs[count] = stream.end_capture()
        self._graphs[count].launch()

    def _launches(self, count: int) -> list[Callable[[], None]]:
        state = self._state
        primal = STEP.bind("primal_step", *primal_arguments(state), 0, 0)
        dual = STEP.bind("dual_step", *dual_arguments(state), 0, 0)
        launches: list[Callable[[], None]] = []
        for offset in range(count):
            keep = KEEP_FIRST if offset == 0 else KEEP_NONE
            keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
            launches += [primal.ending(offset, keep), dual.ending(offset, keep)]
        for name, arguments in check_arguments(state, count).items():
            launches.append(CHECK.bind(name, *arguments))
        return launches
