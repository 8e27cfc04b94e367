"""Messages between the devices of a group.

A message is a run of float64 elements of one device's array that is put into another's. Messages of
one exchange go together; they begin when what the devices' streams have been given before is done,
and streams go on when their messages have arrived.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakSet

from solvers.core.errors import DeviceError, EngineError
from solvers.core.process_state import Slot
from solvers.core.threads import LAST_MOMENT, leave, start_thread

NCCL_MISSING = (
    "Several GPUs talk to each other through NCCL, which CuPy does not find here; run "
    "pip install nvidia-nccl-cu{version}."
)


FIRST = -5
"""Priority of the streams in which messages travel: NCCL's threads begin before those of a product
that waits, which fills the GPU and would keep them out until its end."""


@dataclass(frozen=True, eq=False)
class Message:
    """Elements of ``sent``, those at ``places`` if they are given, on their way to ``received``.

    ``packed`` is memory of the source in which elements from several places are put together.
    """

    source: int
    target: int
    sent: Any
    received: Any
    places: Any = None
    packed: Any = None


class RecordedGraphs:
    """CUDA graphs that messages were recorded in, one for each GPU.

    Until all of them are gone no communicator of NCCL ends, neither destroyed nor aborted.
    """

    def __init__(self, graphs: list[Any]) -> None:
        self.graphs = graphs

    def launch(self, device: int, stream: Any) -> None:
        """Launch that of one GPU; the frame of a launch that fails does not keep the graph."""
        self.graphs[device].launch(stream)


class Links(Protocol):
    """What carries messages.

    Beside its stream each device has a second one, in which messages travel while the first goes
    on computing.
    """

    def exchange(self, messages: Sequence[Message]) -> None:
        """Let messages travel in the streams beside."""

    def fork(self) -> None:
        """Let the streams beside wait for what the devices' streams have been given so far."""

    def join(self) -> None:
        """Let the devices' streams wait for what the streams beside have been given so far."""

    def watch(self, recorded: RecordedGraphs) -> None:
        """Know of graphs that messages were recorded in, for as long as their owner has them."""

    def check(self) -> None:
        """Raise a :class:`DeviceError` if messages cannot arrive any more."""

    def abandon(self) -> None:
        """End what messages are under way, after a GPU was lost, without waiting for their end."""


class HostLinks:
    """Copies between arrays in the memory of the host."""

    def exchange(self, messages: Sequence[Message]) -> None:
        """Copy."""
        for message in messages:
            places = slice(None) if message.places is None else message.places
            message.received[...] = message.sent[places]

    def fork(self) -> None:
        """Nothing travels beside anything here."""

    def join(self) -> None:
        """Nothing travels beside anything here."""

    def watch(self, recorded: RecordedGraphs) -> None:
        """Nothing is recorded here."""

    def check(self) -> None:
        """Find nothing wrong: copies arrive."""

    def abandon(self) -> None:
        """Nothing is under way here."""


class NcclLinks:
    """Communicators of NCCL, one for each GPU, all in this process.

    Parameters
    ----------
    indices : sequence of int
        Numbers of the GPUs.

    Raises
    ------
    DeviceError
        NCCL is missing or cannot be used between these GPUs.
    """

    def __init__(self, indices: Sequence[int]) -> None:
        self._recorded: WeakSet[RecordedGraphs] = WeakSet()
        import cupy
        from cupy.cuda import nccl

        if not nccl.available:
            version = cupy.cuda.runtime.runtimeGetVersion() // 1000
            raise DeviceError(NCCL_MISSING.format(version=version))
        self._cupy = cupy
        self._nccl = nccl
        self._indices = list(indices)
        try:
            self._members = nccl.NcclCommunicator.initAll(self._indices)
        except nccl.NcclError as failure:
            raise DeviceError(f"NCCL cannot connect the GPUs: {failure}.") from failure
        self._beside, self._events = [], []
        for index in indices:
            with cupy.cuda.Device(index):
                self._beside.append(cupy.cuda.Stream(non_blocking=True, priority=FIRST))
                self._events.append(cupy.cuda.Event(disable_timing=True))

    def exchange(self, messages: Sequence[Message]) -> None:
        """Queue messages."""
        if not messages:
            return
        for message in messages:
            if message.places is not None:
                place = message.source
                with self._cupy.cuda.Device(self._indices[place]), self._beside[place]:
                    self._cupy.take(message.sent, message.places, out=message.packed)
        kind = self._nccl.NCCL_FLOAT64
        self._nccl.groupStart()
        try:
            for message in messages:
                source, target = message.source, message.target
                sent = message.sent if message.places is None else message.packed
                members, streams = self._members, self._beside
                received, count = message.received.data.ptr, message.received.size
                members[source].send(sent.data.ptr, count, kind, target, streams[source].ptr)
                members[target].recv(received, count, kind, source, streams[target].ptr)
        finally:
            self._nccl.groupEnd()

    def fork(self) -> None:
        """Let the streams beside wait."""
        self._order(self._own_streams(), self._beside)

    def join(self) -> None:
        """Let the devices' streams wait."""
        self._order(self._beside, self._own_streams())

    def watch(self, recorded: RecordedGraphs) -> None:
        """Know of graphs that messages were recorded in, for as long as their owner has them."""
        self._recorded.add(recorded)

    def check(self) -> None:
        """Ask NCCL whether its communicators are well.

        Raises
        ------
        DeviceError
            One is not.
        """
        try:
            for member in self._members:
                member.check_async_error()
        except (self._nccl.NcclError, KeyError) as failure:  # CuPy knows no name for newer errors
            raise DeviceError(f"a link between the GPUs was lost: {failure}") from failure

    def abandon(self) -> None:
        """End what messages are under way, after a GPU was lost, in threads left behind.

        That frees the GPUs that wait for the lost one. To abort a communicator may take for ever:
        it waits for the others' aborts, for streams, and for graphs to go, and a lost GPU may keep
        its own. So each is aborted beside the others, and nobody waits for any.
        """
        members, self._members = self._members, []
        threads = [start_thread("end of messages", one.abort, _ignore) for one in members]
        leave(*threads, start_thread("end of graphs", self._take_graphs().clear, _ignore))

    def __del__(self) -> None:
        """Let graphs go before the communicators, which would wait for them for ever."""
        self._take_graphs().clear()

    def _take_graphs(self) -> list[list[Any]]:
        taken = []
        for recorded in list(self._recorded):
            taken.append(recorded.graphs)
            recorded.graphs = []
        return taken

    def _own_streams(self) -> list[Any]:
        return [self._cupy.cuda.get_current_stream(index) for index in self._indices]

    def _order(self, first: Sequence[Any], then: Sequence[Any]) -> None:
        for place, index in enumerate(self._indices):
            with self._cupy.cuda.Device(index):
                self._events[place].record(first[place])
                then[place].wait_event(self._events[place])


_ready: Slot[dict[tuple[int, ...], list[Future[NcclLinks]]]] = Slot(
    "links between GPUs, made or being made, that no solve uses", dict
)


def expect_links(indices: tuple[int, ...]) -> None:
    """Begin to connect GPUs in a thread, beside whatever comes before their use.

    That takes 0.65 s on two H100s. Where it fails, who needs the links finds out.
    """
    found: Future[NcclLinks] = Future()
    with _ready.locked() as ready:
        if ready.setdefault(indices, []):
            return
        ready[indices].append(found)
    try:
        start_thread("links", lambda: found.set_result(NcclLinks(indices)), found.set_exception)
    except EngineError as no_thread:
        found.set_exception(no_thread)  # who took them would wait for ever


def take_links(indices: tuple[int, ...]) -> NcclLinks:
    """Return links between GPUs for one solve: those that are expected, or new ones.

    Raises
    ------
    DeviceError
        As from ``NcclLinks``.
    """
    with _ready.locked() as ready:
        found = ready.get(indices, [])
        expected = found.pop() if found else None
    return NcclLinks(indices) if expected is None else expected.result()


def keep_links(indices: tuple[int, ...], links: NcclLinks) -> None:
    """Keep the links of a solve that is over for the next: to end them takes half a second."""
    kept: Future[NcclLinks] = Future()
    kept.set_result(links)
    with _ready.locked() as ready:
        ready.setdefault(indices, []).append(kept)


@atexit.register
def end_links() -> None:
    """End links that are kept, or are being made, while CUDA is still there."""
    with _ready.locked() as ready:
        unused = [links for kept in ready.values() for links in kept]
        ready.clear()
    wait(unused, LAST_MOMENT)


def _ignore(failure: BaseException) -> None:
    """Say nothing: whoever gave the GPUs up has said why."""
