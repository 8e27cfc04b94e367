"""Windows of iterations on a GPU: recorded graphs, one after the other, never waited for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.pdlp.control import SIZE, Stop
from solvers.pdlp.execution.kernel_arguments import (
    column_measure_arguments,
    decide_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    settle_arguments,
    window_arguments,
)
from solvers.pdlp.execution.modes import Kind, Way, ways_of
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.flow import FLOW
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from solvers.pdlp.kernels.window import WINDOW
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record

Launch = Callable[[], None]

DEEP, SHALLOW = 8, 2
"""Windows kept under way on a problem whose window takes about a millisecond, and on any other.
Beside other Python threads the host may be late by 5 ms, the interval at which the interpreter lets
another thread run; a deep queue costs what windows after the last one take, which do nothing."""

DEEP_BELOW = 400_000
"""Coefficients below which windows count as short: at 10 us an iteration one takes 1 ms or less."""


class WindowsOnGpu:
    """Queues windows on the current stream.

    Where more than one way of running a window comes into question, each is tried once, in
    earnest, and timed; the fastest runs the rest. All ways give the same bits.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._cupy = state.problem.device.xp
        self._stream = self._cupy.cuda.get_current_stream()
        self.depth = depth_of(state.problem.coefficients.by_row.nonzeros)
        self._slots = _pinned(self._cupy, self.depth + 1)
        self._under_way: deque[tuple[int, Way | None, Any, Any]] = deque()
        self._submitted = 0
        self._untried = list(ways_of(state.problem.coefficients, state.settings, self._cupy))
        self._first = self._untried[0]
        self._milliseconds: dict[Way, float] = {}
        self._graphs: dict[Way, Any] = {}
        self._memory: dict[Kind, tuple[Any, ...]] = {}

    @property
    def pending(self) -> int:
        """Windows submitted whose records have not been taken."""
        return len(self._under_way)

    def submit(self, count: int) -> None:
        """Queue a window of so many iterations, and the copy of its record."""
        way = None
        began = self._cupy.cuda.Event()
        if count == self._state.settings.check_interval:
            way = self._choose()
            graph = self._graph(way, count)
            began.record(self._stream)
            graph.launch()
        else:
            for launch in self._launches(self._best(), count):
                launch()
        done = self._cupy.cuda.Event()
        done.record(self._stream)
        slot = self._submitted % len(self._slots)
        self._state.control.get(stream=self._stream, out=self._slots[slot], blocking=False)
        copied = self._cupy.cuda.Event(disable_timing=True)
        copied.record(self._stream)
        timed = way if way not in self._milliseconds else None
        self._under_way.append((slot, timed, (began, done), copied))
        self._submitted += 1

    def take(self) -> Record:
        """Return the record of the earliest window not taken; waits for it."""
        slot, way, (began, done), copied = self._under_way.popleft()
        copied.synchronize()
        record = Record(self._slots[slot].copy())
        if way is not None and record.stop is Stop.NO:  # else it may have done nothing
            self._milliseconds[way] = self._cupy.cuda.get_elapsed_time(began, done)
        return record

    def drain(self) -> None:
        """Wait for all windows submitted."""
        self._stream.synchronize()

    def _choose(self) -> Way:
        return self._untried.pop(0) if self._untried else self._best()

    def _best(self) -> Way:
        if not self._milliseconds:
            return self._first
        return min(self._milliseconds, key=self._milliseconds.__getitem__)

    def _graph(self, way: Way, count: int) -> Any:
        """Return the launches of a full window as a CUDA graph, recorded at its first use."""
        if way not in self._graphs:
            launches = self._launches(way, count)  # compiles, which may not happen in a capture
            self._stream.begin_capture()
            try:
                for launch in launches:
                    launch()
            finally:
                self._graphs[way] = self._stream.end_capture()
        return self._graphs[way]

    def _launches(self, way: Way, count: int) -> list[Launch]:
        """Return the launches of a window, ready to go."""
        state = self._state
        return [
            *self._steps(way, count),
            MEASURE.bind("measure_rows", *row_measure_arguments(state)),
            MEASURE.bind("measure_columns", *column_measure_arguments(state)),
            DECISIONS.bind("decide", *decide_arguments(state, count)),
            DECISIONS.bind("settle", *settle_arguments(state)),
        ]

    def _steps(self, way: Way, count: int) -> list[Launch]:
        state = self._state
        if way.kind is Kind.LAUNCHES:
            return _single_steps(state, count)
        memory = self._shared_memory(way.kind)
        flow = way.kind is Kind.FLOW
        arguments = window_arguments(state, count, way.blocks, memory, reflected=not flow)
        if flow:
            return [FLOW.bind("flow_steps", *arguments)]
        forget = _Forget(self._cupy, memory[0], self._stream)
        return [forget, WINDOW.bind("window_steps", *arguments)]

    def _shared_memory(self, kind: Kind) -> tuple[Any, ...]:
        """Return what blocks that stay tell each other through."""
        if kind not in self._memory:
            state, zeros = self._state, self._cupy.zeros
            self._memory[kind] = (
                (zeros((state.x.point.size, 2)), zeros((state.y.point.size, 2)))
                if kind is Kind.FLOW
                else (zeros(1, dtype=np.int32),)
            )
        return self._memory[kind]


class _Forget:
    """Sets an array to zero, on the stream."""

    def __init__(self, cupy: Any, array: Any, stream: Any) -> None:
        self._set = cupy.cuda.runtime.memsetAsync
        self._array = array
        self._stream = stream

    def __call__(self) -> None:
        self._set(self._array.data.ptr, 0, self._array.nbytes, self._stream.ptr)


def _single_steps(state: State, count: int) -> list[Launch]:
    """Return two launches for each iteration."""
    primal = STEP.bind("primal_step", *primal_arguments(state), 0, 0)
    dual = STEP.bind("dual_step", *dual_arguments(state), 0, 0)
    launches: list[Launch] = []
    for offset in range(count):
        keep = KEEP_FIRST if offset == 0 else KEEP_NONE
        keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
        launches += [primal.ending(offset, keep), dual.ending(offset, keep)]
    return launches


def depth_of(nonzeros: int) -> int:
    """Return how many windows to keep under way on a problem of so many coefficients."""
    return DEEP if nonzeros < DEEP_BELOW else SHALLOW


def _pinned(cupy: Any, count: int) -> Any:
    """Return control arrays in host memory that the GPU can write while the host goes on."""
    memory = cupy.cuda.alloc_pinned_memory(count * SIZE * 8)
    return np.frombuffer(memory, np.float64, count * SIZE).reshape(count, SIZE)
