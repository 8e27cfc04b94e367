"""Blocks of iterations, each followed by a check, on whichever device the state is.

A block is ``check_interval`` iterations, the sums of a check, and the decisions that follow from
them: stop, restart, next weight. On a CPU it runs to its end before the host reads what came of
it. On a GPU the whole of it is one recorded graph of launches, and a block is always queued
behind the one that runs: the host reads about a block while the next is under way, and the GPU
is never idle. Where slices of a block end has no influence on the numbers, only on how soon a
limit or an interruption is noticed.
"""

from __future__ import annotations

from typing import Protocol

from solvers.core.progress import Progress
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record


class IterationBlocks(Protocol):
    """Runs blocks of iterations in the order in which they were submitted."""

    depth: int
    """Blocks that may be under way at once."""

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""

    def submit(self, count: int) -> None:
        """Run, or queue, a block of so many iterations."""

    def take(self) -> Record:
        """Return the record of the earliest block not taken; waits for it."""

    def drain(self) -> None:
        """Wait for all blocks submitted."""


def iteration_blocks(state: State, progress: Progress) -> IterationBlocks:
    """Return what runs blocks of iterations on the device of a state."""
    device = state.problem.device
    if isinstance(device, DeviceGroup):
        from solvers.pdlp.execution.on_group import BlocksOnGroup

        return BlocksOnGroup(state, device)
    if device.kind == "cpu":
        from solvers.pdlp.execution.on_cpu import BlocksOnCpu

        return BlocksOnCpu(state, progress)
    from solvers.pdlp.execution.on_gpu import BlocksOnGpu

    return BlocksOnGpu(state, progress)
