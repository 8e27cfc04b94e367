"""A GPU is lost during a solve: nobody waits for the others, and the CPU goes on.

No GPU takes part. ``Cuda`` stands for two of them as CUDA and NCCL tell of such a loss: events of
the lost one fail, those of the other never happen, as its messages wait for the lost one, and a
communicator does not end before every graph is gone that its messages were recorded in. Where the
memory of one is full at a launch, the other waits for its messages, too.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device
from solvers.core.errors import DeviceError, EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.core.threads import StopFlag
from solvers.pdlp.distributed import communication
from solvers.pdlp.distributed.communication import end_links, expect_links
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.waiting import is_loss
from solvers.pdlp.execution.on_group import GroupQueue
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.lps import random_lp

LOST, HEALTHY = 0, 1
NOT_READY, ILLEGAL_ADDRESS = 600, 700
PATIENCE = 20.0
"""Seconds after which a thread counts as hung; what these do takes some milliseconds."""

Error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})
NcclError = type("NcclError", (RuntimeError,), {"__module__": "cupy_backends.cuda.libs.nccl"})


class Graph:
    """A recorded graph; fails at its launch where it is to be the first to notice."""

    def __init__(self, cuda: Cuda, index: int) -> None:
        self._cuda, self._index = cuda, index

    def launch(self, stream: Stream) -> None:
        self._cuda.fail_at("launch", self._index)


class Current:
    """Makes a GPU the current one."""

    def __init__(self, cuda: Cuda, index: int) -> None:
        self._cuda, self._index = cuda, index

    def __enter__(self) -> None:
        self._before, self._cuda.current = self._cuda.current, self._index

    def __exit__(self, *error: object) -> None:
        self._cuda.current = self._before


class Stream:
    """A stream of one GPU, whose work never ends; ``ptr`` is what a query says."""

    def __init__(self, cuda: Cuda, index: int) -> None:
        self._cuda, self._index = cuda, index
        self.ptr = ILLEGAL_ADDRESS if cuda.is_lost(index) else NOT_READY

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin_capture(self) -> None:
        pass

    def end_capture(self) -> Graph:
        graph = Graph(self._cuda, self._index)
        self._cuda.graphs.add(graph)
        return graph

    def record(self) -> None:
        pass

    def wait_event(self, event: object) -> None:
        pass

    def synchronize(self) -> None:
        if self._cuda.is_lost(self._index):
            raise Error("cudaErrorIllegalAddress")
        self._cuda.wait_for_ever()


class Event:
    """An event of the GPU that is current when it is recorded; ``ptr`` is what a query says."""

    ptr = 0

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda

    def record(self, stream: Stream) -> None:
        lost = self._cuda.notices == "event" and stream._index == LOST
        self.ptr = ILLEGAL_ADDRESS if lost else NOT_READY


class Communicator:
    """NCCL's end of the links of one GPU."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda
        self.is_aborted = False

    def check_async_error(self) -> None:
        if self._cuda.notices == "nccl":
            raise self._cuda.nccl.NcclError("NCCL_ERROR_UNHANDLED_CUDA_ERROR")

    def abort(self) -> None:
        self._cuda.wait_for(lambda: not self._cuda.graphs)
        self.is_aborted = True


class Cuda:
    """Two GPUs, of which the first is lost, and who ``notices`` it: 'event', 'launch' or 'nccl'.

    With 'memory' none is lost, and the second has no room for a graph.
    """

    def __init__(self, notices: str) -> None:
        self.notices = notices
        self.graphs: weakref.WeakSet[Graph] = weakref.WeakSet()
        self.is_over = False
        self.current = 0
        self.members = [Communicator(self) for _ in range(2)]
        self.runtime = SimpleNamespace(eventQuery=int, streamQuery=int)
        self.Device = lambda index: Current(self, index)
        self.Stream = lambda **options: Stream(self, self.current)
        self.Event = lambda **options: Event(self)
        self.streams = [Stream(self, LOST), Stream(self, HEALTHY)]
        self.nccl = SimpleNamespace(
            available=True,
            NcclError=NcclError,
            NcclCommunicator=SimpleNamespace(initAll=lambda indices: self.members),
        )

    def get_current_stream(self, index: int | None = None) -> Stream:
        return self.streams[self.current if index is None else index]

    def alloc_pinned_memory(self, size: int) -> np.ndarray:
        return np.zeros(size, np.uint8)

    def is_lost(self, index: int) -> bool:
        return index == LOST and self.notices in ("event", "launch", "nccl")

    def fail_at(self, what: str, index: int) -> None:
        if self.notices == what and index == LOST:
            raise Error("cudaErrorIllegalAddress")
        if self.notices == "memory" and index == HEALTHY:
            raise MemoryError("a graph")

    def wait_for_ever(self) -> None:
        self.wait_for(lambda: False)

    def wait_for(self, happens: Callable[[], bool]) -> None:
        while not (happens() or self.is_over):
            time.sleep(0.001)


@pytest.fixture(params=["event", "launch", "nccl", "memory"])
def cuda(request, monkeypatch) -> Iterator[Cuda]:
    found = Cuda(request.param)
    cupy = ModuleType("cupy")
    modules = {"cupy": cupy, "cupy.cuda": found, "cupy.cuda.nccl": found.nccl}
    cupy.cuda = found  # type: ignore[attr-defined]
    cupy.cuda.memory = SimpleNamespace(OutOfMemoryError=MemoryError)  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    yield found
    found.is_over = True


def two_gpus() -> DeviceGroup:
    return DeviceGroup.of([Device("cuda", "GPU", index=index) for index in (LOST, HEALTHY)])


def run_blocks(group: DeviceGroup) -> None:
    """Run blocks of iterations as the main loop does, until one fails."""
    control = SimpleNamespace(get=lambda **options: None)
    state = SimpleNamespace(settings=DEFAULT, control=SimpleNamespace(arrays=[control, control]))
    steps = SimpleNamespace(run=lambda count: None)
    with group.activate():
        queue = GroupQueue(state, group, steps)  # type: ignore[arg-type]
        for _ in range(2):
            queue.submit(DEFAULT.restart.check_interval)
            queue.take()


def in_thread(work: Callable[[], Any]) -> list[Any]:
    """Return what the work returned, or raised; nothing where it hangs."""
    found: list[Any] = []

    def noted() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error.with_traceback(None))  # whose frames keep what they had

    thread = threading.Thread(target=noted, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found


def test_nobody_waits_for_the_other_gpu(cuda):
    group = two_gpus()
    group.connect()
    found = in_thread(lambda: run_blocks(group))
    assert found, "hung"
    if cuda.notices == "launch":
        assert isinstance(found[0], Error)
    elif cuda.notices == "memory":
        assert isinstance(found[0], MemoryError)
    else:
        assert isinstance(found[0], DeviceError)
        assert "was lost" in str(found[0])


def test_graphs_go_and_then_communicators_end(cuda):
    group = two_gpus()
    group.connect()
    assert in_thread(lambda: run_blocks(group)), "hung"
    until = time.monotonic() + PATIENCE
    while not all(member.is_aborted for member in cuda.members) and time.monotonic() < until:
        time.sleep(0.001)
    assert [member.is_aborted for member in cuda.members] == [True, True]
    assert not cuda.graphs


def test_the_cpu_goes_on(cuda, monkeypatch):
    run, lines = pdlp.run_with_alternate_scalings, []
    progress = Progress(600.0)
    monkeypatch.setattr(progress, "log", lines.append)
    monkeypatch.setattr(pdlp, "find_devices", lambda wanted: two_gpus().members)

    def lost_at_first(request, settings):
        if isinstance(request.device, DeviceGroup):
            run_blocks(request.device)
        return run(request, settings)

    monkeypatch.setattr(pdlp, "run_with_alternate_scalings", lost_at_first)
    options = EngineOptions(device="cuda:all")
    found = in_thread(lambda: pdlp.solve(random_lp(1, 20, 30), options, progress))
    assert found, "hung"
    assert found[0].solution_status is SolutionStatus.OPTIMAL
    assert "going on on the CPU" in lines[1]
    assert ("out of memory" in lines[1]) is (cuda.notices == "memory")


def test_only_what_cuda_or_nccl_fail_at_is_a_loss(cuda):
    members = two_gpus().members
    assert is_loss(Error("invalid value"), members) is cuda.is_lost(LOST)
    assert is_loss(NcclError("a link"), members)
    assert not is_loss(ValueError("ours"), members)


def test_graphs_go_before_communicators_without_a_loss(cuda):
    """To destroy a communicator waits for graphs, too, and takes the caller's thread."""
    group = two_gpus()
    queue = GroupQueue(SimpleNamespace(settings=DEFAULT), group, SimpleNamespace())  # type: ignore[arg-type]
    queue._steps.run = lambda count: None  # type: ignore[method-assign]
    queue._recorded.graphs = queue._record(1)
    assert len(cuda.graphs) == 2
    group._links.clear()
    assert not cuda.graphs


def test_links_are_made_beside_and_kept_for_the_next_solve(cuda):
    both = (LOST, HEALTHY)
    try:
        expect_links(both)
        expect_links(both)  # which is the same
        group = two_gpus()
        links = group.connect()
        assert two_gpus().connect() is not links  # in use
        group.disconnect()
        assert two_gpus().connect() is links
        assert two_gpus().connect() is not links
    finally:
        end_links()


def test_links_that_failed_are_not_kept(cuda):
    group, other = two_gpus(), two_gpus()
    group.connect()
    assert in_thread(lambda: run_blocks(group)), "hung"
    abandoned = group.links
    group.disconnect()
    assert other.connect() is not abandoned


def test_links_that_cannot_be_made_are_told_of_by_who_needs_them(cuda):
    cuda.nccl.available = False
    cuda.runtime.runtimeGetVersion = lambda: 13000
    expect_links((LOST, HEALTHY))
    with pytest.raises(DeviceError, match="nvidia-nccl-cu13"):
        two_gpus().connect()


def test_links_for_which_there_is_no_thread_are_not_waited_for(cuda, monkeypatch):
    def no_thread(*given: object) -> None:
        raise EngineError("no thread")

    monkeypatch.setattr(communication, "start_thread", no_thread)
    expect_links((LOST, HEALTHY))
    found = in_thread(two_gpus().connect)
    assert found, "hung"
    assert isinstance(found[0], EngineError)


def test_links_that_are_being_made_are_ended_at_the_end_of_the_process(cuda):
    begins, made = threading.Event(), []

    def init_all(indices: list[int]) -> list[Communicator]:
        begins.set()
        time.sleep(0.1)
        made.append(cuda.members)
        return cuda.members

    cuda.nccl.NcclCommunicator.initAll = init_all
    expect_links((LOST, HEALTHY))
    assert begins.wait(PATIENCE)
    end_links()
    assert made


def test_who_was_left_behind_stops_looking(monkeypatch, cuda):
    monkeypatch.setattr(cuda, "notices", "nothing")
    monkeypatch.setattr(Stream, "synchronize", lambda self: None)
    group, flag = two_gpus(), StopFlag()

    def work() -> None:
        flag.watch()
        run_blocks(group)

    threading.Timer(0.05, flag.set).start()
    found = in_thread(work)
    assert found, "hung"
    assert type(found[0]).__name__ == "Interrupted"
