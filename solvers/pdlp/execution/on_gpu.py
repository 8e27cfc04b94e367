"""Iteration blocks on a GPU: recorded graphs, one after the other, never waited for.

A block may be run in several execution modes, which differ in how the threads of one half of an
iteration wait for those of the half before. All modes give the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from solvers.core.progress import Progress
from solvers.kernels.family import recorded
from solvers.pdlp.control import SIZE, Stop
from solvers.pdlp.execution.on_cpu import (
    column_measure_arguments,
    decide_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    settle_arguments,
    staying_arguments,
)
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.staying import STAYING
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from solvers.pdlp.settings import Settings
from solvers.pdlp.state import Coefficients, State
from solvers.pdlp.termination import Record

Launch = Callable[[], None]

DEEP, SHALLOW = 8, 2
"""Blocks kept under way on a problem whose block takes about a millisecond, and on any other.
Beside other Python threads the host may be late by 5 ms, the interval at which the interpreter lets
another thread run; a deep queue costs what blocks after the last one take, which do nothing."""

DEEP_BELOW = 400_000
"""Coefficients below which blocks count as short: at 10 us an iteration one takes 1 ms or less."""


class Synchronisation(Enum):
    """How the threads of one half of an iteration wait for those of the half before."""

    FLOW = "threads that stay wait for each element they read"
    BARRIER = "threads that stay all meet after each half"
    LAUNCHES = "each half is a launch of its own"


@dataclass(frozen=True)
class ExecutionMode:
    """One mode; so many blocks of threads stay for all iterations, 0 if none do."""

    kind: Synchronisation
    thread_blocks: int = 0


LEFT_FREE = 32
"""Multiprocessors that threads which stay leave to another engine at work on the same GPU, whose
launches go first (``Device.activate_first``); half of those of a small GPU, on which few would be
left to PDLP. Interior point took 1.92 s for an energy system of 365 hours on an H200, alone as
beside them, and 2.44 beside launches of each half of an iteration, which made 0.83 of PDLP's
iterations instead of 0.98. On ``lp22`` it took 0.77 s alone, 1.09 beside them and 0.82 beside
launches, but these made 0.60 of the iterations instead of 0.95."""


def execution_modes(
    coefficients: Coefficients, settings: Settings, xp: Any
) -> tuple[ExecutionMode, ...]:
    """Return the modes to try for a model of this size, the likeliest first."""
    limits = settings.execution
    by_row, by_column = coefficients.by_row, coefficients.by_column
    units = max(by_row.units, by_column.units)
    processors = int(xp.cuda.Device().attributes["MultiProcessorCount"])

    def staying(kind: Synchronisation, units_of_block: int) -> ExecutionMode:
        return ExecutionMode(kind, max(1, min(processors, -(-units // units_of_block))))

    found = []
    if by_row.nonzeros <= limits.flow_up_to:
        spread = by_row.nonzeros <= limits.spread_up_to
        found.append(staying(Synchronisation.FLOW, 1 if spread else 2))
    if limits.barrier_from <= by_row.nonzeros <= limits.barrier_up_to:
        found.append(staying(Synchronisation.BARRIER, 4))
    if by_row.nonzeros >= limits.launches_from or not found:
        found.append(ExecutionMode(Synchronisation.LAUNCHES))
    return tuple(found)


class BlocksOnGpu:
    """Queues blocks on the current stream.

    Where more than one execution mode comes into question, each is tried for one block and timed;
    the fastest runs the rest.
    """

    def __init__(self, state: State, progress: Progress) -> None:
        self._state, self._progress = state, progress
        self._cupy = state.problem.device.xp
        self._stream = self._cupy.cuda.get_current_stream()
        self.depth = depth_of(state.problem.coefficients.by_row.nonzeros)
        self._slots = pinned(self._cupy, self.depth + 1)
        self._under_way: deque[tuple[int, tuple[ExecutionMode, Any, Any] | None, Any]] = deque()
        self._submitted = 0
        self._untried = list(
            execution_modes(state.problem.coefficients, state.settings, self._cupy)
        )
        self._first = self._untried[0]
        processors = int(self._cupy.cuda.Device().attributes["MultiProcessorCount"])
        self._most_beside = max(1, processors // 2, processors - LEFT_FREE)
        self._milliseconds: dict[ExecutionMode, float] = {}
        self._graphs: dict[ExecutionMode, Any] = {}
        self._memory: dict[Synchronisation, tuple[Any, ...]] = {}

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""
        return len(self._under_way)

    def submit(self, count: int) -> None:
        """Queue a block of so many iterations, and the copy of its record."""
        event, shared = self._cupy.cuda.Event, self._progress.shares_gpu
        is_whole = count == self._state.settings.restart.check_interval
        mode = self._among_others() if shared else self._choose() if is_whole else self._best()
        timed = None
        if is_whole:
            graph = self._graph(mode, count)
            if not shared and mode not in self._milliseconds:
                timed = mode, event(), event()
                timed[1].record(self._stream)
            graph.launch()
            if timed is not None:
                timed[2].record(self._stream)
        else:
            for launch in self._launches(mode, count):
                launch()
        slot = self._submitted % len(self._slots)
        self._state.control.get(stream=self._stream, out=self._slots[slot], blocking=False)
        copied = event(disable_timing=True)
        copied.record(self._stream)
        self._under_way.append((slot, timed, copied))
        self._submitted += 1

    def take(self) -> Record:
        """Return the record of the earliest block not taken; waits for it."""
        slot, timed, copied = self._under_way.popleft()
        copied.synchronize()
        record = Record(self._slots[slot].copy())
        if timed is not None and record.stop is Stop.NO:  # else it may have done nothing
            mode, began, done = timed
            self._milliseconds[mode] = self._cupy.cuda.get_elapsed_time(began, done)
        return record

    def drain(self) -> None:
        """Wait for all blocks submitted."""
        self._stream.synchronize()

    def _choose(self) -> ExecutionMode:
        return self._untried.pop(0) if self._untried else self._best()

    def _best(self) -> ExecutionMode:
        if not self._milliseconds:
            return self._first
        return min(self._milliseconds, key=self._milliseconds.__getitem__)

    def _among_others(self) -> ExecutionMode:
        """Return the mode beside another engine, whose launches need room."""
        best = self._best()
        return replace(best, thread_blocks=min(best.thread_blocks, self._most_beside))

    def _graph(self, mode: ExecutionMode, count: int) -> Any:
        """Return the launches of a full block as a CUDA graph, recorded at its first use."""
        if mode not in self._graphs:
            self._graphs[mode] = recorded(self._stream, self._launches(mode, count))
        return self._graphs[mode]

    def _launches(self, mode: ExecutionMode, count: int) -> list[Launch]:
        """Return the launches of a block, ready to go."""
        state = self._state
        return [
            *self._steps(mode, count),
            MEASURE.bind("measure_rows", *row_measure_arguments(state)),
            MEASURE.bind("measure_columns", *column_measure_arguments(state)),
            DECISIONS.bind("decide", *decide_arguments(state, count)),
            DECISIONS.bind("settle", *settle_arguments(state)),
        ]

    def _steps(self, mode: ExecutionMode, count: int) -> list[Launch]:
        state = self._state
        if mode.kind is Synchronisation.LAUNCHES:
            return single_steps(primal_arguments(state), dual_arguments(state), count)
        memory = self._shared_memory(mode.kind)
        arguments = staying_arguments(state, count, mode.thread_blocks, memory)
        if mode.kind is Synchronisation.FLOW:
            return [STAYING.bind("flow_steps", *arguments)]
        clear = _SetToZero(self._cupy, memory[0], self._stream)
        return [clear, STAYING.bind("barrier_steps", *arguments)]

    def _shared_memory(self, kind: Synchronisation) -> tuple[Any, ...]:
        """Return what blocks that stay tell each other through."""
        if kind not in self._memory:
            state, zeros = self._state, self._cupy.zeros
            self._memory[kind] = (
                (zeros((state.x.point.size, 2)), zeros((state.y.point.size, 2)))
                if kind is Synchronisation.FLOW
                else (zeros(1, dtype=np.int32),)
            )
        return self._memory[kind]


class _SetToZero:
    """Sets an array to zero, on the stream."""

    def __init__(self, cupy: Any, array: Any, stream: Any) -> None:
        self._set = cupy.cuda.runtime.memsetAsync
        self._array = array
        self._stream = stream

    def __call__(self) -> None:
        self._set(self._array.data.ptr, 0, self._array.nbytes, self._stream.ptr)


def single_steps(
    primal_half: tuple[Any, ...], dual_half: tuple[Any, ...], count: int
) -> list[Launch]:
    """Return two launches for each iteration, from the arguments of both steps up to control."""
    primal = STEP.bind("primal_step", *primal_half, 0, 0)
    dual = STEP.bind("dual_step", *dual_half, 0, 0)
    launches: list[Launch] = []
    for offset in range(count):
        keep = KEEP_FIRST if offset == 0 else KEEP_NONE
        keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
        launches += [primal.ending(offset, keep), dual.ending(offset, keep)]
    return launches


def depth_of(nonzeros: int) -> int:
    """Return how many blocks to keep under way on a problem of so many coefficients."""
    return DEEP if nonzeros < DEEP_BELOW else SHALLOW


def pinned(cupy: Any, count: int) -> Any:
    """Return control arrays in host memory that the GPU can write while the host goes on."""
    memory = cupy.cuda.alloc_pinned_memory(count * SIZE * 8)
    return np.frombuffer(memory, np.float64, count * SIZE).reshape(count, SIZE)
