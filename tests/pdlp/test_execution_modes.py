"""Which execution mode runs a block on a GPU, by a stand-in for CuPy that notes its launches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from solvers.pdlp.control import SIZE, Control, Stop
from solvers.pdlp.execution import on_gpu
from solvers.pdlp.execution.on_gpu import (
    LEFT_FREE,
    BlocksOnGpu,
    ExecutionMode,
    Synchronisation,
)
from solvers.pdlp.settings import DEFAULT

INTERVAL = DEFAULT.restart.check_interval
SECONDS = {Synchronisation.FLOW: 3.0, Synchronisation.BARRIER: 2.0, Synchronisation.LAUNCHES: 1.0}


class Gpu:
    """A GPU on which a launch takes what its mode takes; events read its clock."""

    def __init__(self) -> None:
        self.clock, self.launched, self.events = 0.0, list[ExecutionMode](), 0
        self.processors = 100
        self.cuda = SimpleNamespace(
            Event=self._event,
            get_current_stream=lambda: None,
            get_elapsed_time=lambda began, done: done.at - began.at,
            alloc_pinned_memory=bytearray,
            Device=lambda: SimpleNamespace(attributes={"MultiProcessorCount": self.processors}),
        )

    def _event(self, *, disable_timing: bool = False) -> Any:
        self.events += not disable_timing
        event = SimpleNamespace(at=None, synchronize=lambda: None)
        event.record = lambda stream: setattr(event, "at", self.clock)
        return event

    def graph(self, mode: ExecutionMode) -> Any:
        def launch() -> None:
            self.launched.append(mode)
            self.clock += SECONDS[mode.kind]

        return SimpleNamespace(launch=launch)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    gpu = Gpu()
    monkeypatch.setattr(BlocksOnGpu, "_graph", lambda self, mode, count: gpu.graph(mode))
    monkeypatch.setattr(
        BlocksOnGpu, "_launches", lambda self, mode, count: [lambda: gpu.launched.append(mode)]
    )
    return gpu


def blocks_on(gpu: Gpu, shared: bool) -> tuple[BlocksOnGpu, SimpleNamespace]:
    """Return the blocks of a model that is tried in two modes, and their progress."""
    control = np.zeros(SIZE)
    control[Control.STOP] = Stop.NO

    def get(stream: Any, out: Any, blocking: bool) -> None:
        out[...] = control

    side = SimpleNamespace(nonzeros=100_000, units=200)
    problem = SimpleNamespace(
        device=SimpleNamespace(xp=gpu),
        coefficients=SimpleNamespace(by_row=side, by_column=side),
    )
    state = SimpleNamespace(problem=problem, settings=DEFAULT, control=SimpleNamespace(get=get))
    progress = SimpleNamespace(shares_gpu=shared)
    return BlocksOnGpu(state, progress), progress  # type: ignore[arg-type]


def run(blocks: BlocksOnGpu, count: int = INTERVAL) -> None:
    blocks.submit(count)
    blocks.take()


def test_each_mode_is_timed_once_and_the_fastest_runs_the_rest(gpu: Gpu) -> None:
    blocks, _ = blocks_on(gpu, shared=False)
    for _ in range(4):
        run(blocks)
    run(blocks, count=7)
    kinds = [mode.kind for mode in gpu.launched]
    assert kinds == [Synchronisation.FLOW, *[Synchronisation.BARRIER] * 4]
    assert gpu.events == 4


@pytest.mark.parametrize(
    ("processors", "blocks"), [(200, 100), (100, 100 - LEFT_FREE), (20, 10), (1, 1)]
)
def test_beside_another_engine_the_best_mode_leaves_room_and_is_not_timed(
    processors: int, blocks: int, gpu: Gpu
) -> None:
    gpu.processors = processors
    ours, progress = blocks_on(gpu, shared=True)
    for count in (INTERVAL, 7):
        run(ours, count)
    assert gpu.launched == [ExecutionMode(Synchronisation.FLOW, min(blocks, processors))] * 2
    assert gpu.events == 0
    progress.shares_gpu = False
    for _ in range(2):
        run(ours)
    progress.shares_gpu = True
    run(ours)
    assert gpu.launched[-1].kind is Synchronisation.BARRIER
    assert gpu.launched[-1].thread_blocks <= max(1, processors // 2, processors - LEFT_FREE)


def test_launches_of_each_half_leave_room_anyway(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        on_gpu, "execution_modes", lambda *_: (ExecutionMode(Synchronisation.LAUNCHES),)
    )
    ours, _ = blocks_on(gpu, shared=True)
    run(ours)
    assert gpu.launched == [ExecutionMode(Synchronisation.LAUNCHES)]
