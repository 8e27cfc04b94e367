"""Iteration blocks of several problems, each with its check, on whichever device they are."""

from __future__ import annotations

from typing import Any

from solvers.core.concurrency import threads_for
from solvers.core.device import Device
from solvers.core.progress import Progress
from solvers.pdlp.execution.on_cpu import (
    BlockKernels,
    Speed,
    dual_arguments,
    primal_arguments,
    run_block,
)
from solvers.pdlp.shared_matrix.kernels.check import CHECK
from solvers.pdlp.shared_matrix.kernels.step import STEP
from solvers.pdlp.shared_matrix.state import State, check_arguments

SLICE_SECONDS = 0.03
"""About how long a CPU computes between two looks at the clock."""


class BlocksOnCpu:
    """Runs a block at once, or as much of it as there is time for; at least one iteration."""

    def __init__(self, state: State, progress: Progress, threads: int) -> None:
        work = 2 * state.by_row.values.size * state.width
        self._speed = Speed((threads_for(work, threads),))
        self._kernels = kernels_of(state, threads)
        self._progress = progress

    def run(self, count: int) -> None:
        """Run a block of so many iterations and its check."""
        run_block(self._kernels, count, self._speed, self._progress, SLICE_SECONDS)


class BlocksOnGpu:
    """Queues a block as one recorded graph on the current stream."""

    def __init__(self, state: State, device: Device) -> None:
        self._state = state
        self._cupy = device.xp
        self._graphs: dict[int, Any] = {}

    def run(self, count: int) -> None:
        """Queue a block of so many iterations and its check."""
        from solvers.pdlp.execution.on_gpu import recorded, single_steps

        if count not in self._graphs:
            state = self._state
            launches = single_steps(STEP, primal_arguments(state), dual_arguments(state), count)
            for name, arguments in check_arguments(state, count).items():
                launches.append(CHECK.bind(name, *arguments))
            self._graphs[count] = recorded(self._cupy.cuda.get_current_stream(), launches)
        self._graphs[count].launch()


def iteration_blocks(
    state: State, device: Device, progress: Progress, threads: int
) -> BlocksOnCpu | BlocksOnGpu:
    """Return what runs blocks of iterations on the device of a state."""
    if device.kind == "cpu":
        return BlocksOnCpu(state, progress, threads)
    return BlocksOnGpu(state, device)


def kernels_of(state: State, threads: int) -> BlockKernels:
    """Return the kernels of a block with their arguments."""

    def step(offset: int, keep: int) -> None:
        STEP["primal_step"](*primal_arguments(state), offset, keep, threads=threads)
        STEP["dual_step"](*dual_arguments(state), offset, keep, threads=threads)

    def steps(first: int, count: int, threads: int) -> None:
        STEP.twin.steps_fast(first, count, primal_arguments(state), dual_arguments(state), threads)

    def check(count: int) -> None:
        for name, arguments in check_arguments(state, count).items():
            CHECK[name](*arguments, threads=threads)

    return BlockKernels(step, steps, check)
