"""Several devices of a host as one: their arrays, their streams, and how they come by each other.

Between the devices of a group messages travel in two ways. On GPUs NCCL carries them, in one
process with a communicator for each GPU. On CPUs, which stand for GPUs in tests, they are copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solvers.core.device import Device
from solvers.pdlp.distributed.waiting import is_loss, wait_for

if TYPE_CHECKING:
    from solvers.pdlp.distributed.communication import Links


@dataclass(frozen=True)
class DeviceGroup(Device):
    """Devices that work on one problem together; ``memory_total`` and ``_free`` are their sums.

    What a group gives to the device is copied to each of its members.
    """

    members: tuple[Device, ...] = ()
    shares: tuple[float, ...] = ()
    _links: list[Links] = field(default_factory=list, compare=False)
    _stuck: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, members: Sequence[Device], shares: Sequence[float] | None = None) -> DeviceGroup:
        """Return a group of devices of one kind; ``shares`` of the work are equal by default."""
        counts = Counter(member.name for member in members)
        name = " and ".join(f"{count} x {one}" for one, count in counts.items())
        if shares is None:
            shares = [1.0 / len(members)] * len(members)
        return cls(
            kind=members[0].kind,
            name=name,
            memory_total=sum(member.memory_total for member in members),
            memory_free=len(members) * min(member.memory_free for member in members),
            index=members[0].index,
            members=tuple(members),
            shares=tuple(shares),
        )

    @property
    def links(self) -> Links:
        """What carries messages between the members."""
        return self.connect()

    def connect(self) -> Links:
        """Return what carries messages between the members, made at the first call.

        Raises
        ------
        DeviceError
            NCCL is missing, or cannot connect these GPUs.
        """
        if not self._links:
            from solvers.pdlp.distributed.communication import HostLinks, take_links

            self._links.append(HostLinks() if self.kind == "cpu" else take_links(self._indices))
        return self._links[0]

    def disconnect(self) -> None:
        """Leave what carries messages to the next group of the same GPUs, if it still does."""
        from solvers.pdlp.distributed.communication import NcclLinks, keep_links

        for links in self._links:
            if isinstance(links, NcclLinks) and not self.is_stuck:
                keep_links(self._indices, links)
        self._links.clear()

    @property
    def _indices(self) -> tuple[int, ...]:
        return tuple(member.index for member in self.members)

    def on(self, member: int) -> AbstractContextManager[Any]:
        """Return a context in which one member is the current device."""
        if self.kind == "cpu":
            return nullcontext()
        return self.xp.cuda.Device(self.members[member].index)  # type: ignore[no-any-return]

    @property
    def is_stuck(self) -> bool:
        """Whether what is queued will not end: a member was lost, or one waits for another."""
        return bool(self._stuck)

    def activate(self, is_lost: Callable[[], bool] | None = None) -> AbstractContextManager[Any]:
        """Return a context in which each member has a stream of its own, the first is current.

        What is raised in it leaves it at once where work will not end, and ends the others' work.
        """
        return self._activated(is_lost or (lambda: self.is_stuck))

    @contextmanager
    def _activated(self, is_lost: Callable[[], bool]) -> Iterator[None]:
        with ExitStack() as stack:
            for member in reversed(self.members):
                stack.enter_context(member.activate(is_lost))
            try:
                yield
                self.synchronize()
            except Exception as error:
                if is_loss(error, self.members):
                    self._stuck.append(str(error))
                if self.is_stuck:
                    for links in self._links:
                        links.abandon()
                raise

    @contextmanager
    def together(self) -> Iterator[None]:
        """Return a context for what is queued on one member after the other, with messages in it.

        Where something is raised in the middle, members wait for messages that nobody sends.
        """
        try:
            yield
        except Exception as error:
            self._stuck.append(str(error))
            raise

    def to_device(self, array: Any) -> Replicated:
        """Return copies of a host array in the memory of all members."""
        return Replicated.of(self, array)

    def overwrite(self, target: Any, array: Any) -> None:
        """Overwrite what the members hold with an array of the host."""
        target.set(array)

    def to_host(self, array: Any) -> Any:
        """Return what the members hold as one NumPy array; waits for its computation."""
        return array.to_host()

    def fetch(self, array: Any, found: Any, order: Any = None) -> None:
        """Bring what the members hold of a vector to places of one of the host."""
        array.fetch(found, order)

    def synchronize(self) -> None:
        """Wait until the work queued on the current streams is done.

        Raises
        ------
        DeviceError
            A GPU was lost, or a link between them.
        """
        if self.kind == "cuda":
            self.wait_for(self.mark())

    def mark(self) -> list[Any]:
        """Return events, one on each GPU, that happen when what is queued now is done."""
        events, cuda = [], self.xp.cuda
        for device, member in enumerate(self.members):
            with self.on(device):
                event = cuda.Event(disable_timing=True)
                event.record(cuda.get_current_stream(member.index))
                events.append(event)
        return events

    def wait_for(self, events: Sequence[Any]) -> None:
        """Wait for events, one on each GPU; raises what :meth:`synchronize` does."""
        wait_for(events, self.members, self.links)

    def release_memory(self) -> None:
        """Give cached device memory back to the driver."""
        for device, member in enumerate(self.members):
            with self.on(device):
                member.release_memory()


@dataclass(eq=False)
class Replicated:
    """An array that every device has for itself, with the same content between blocks."""

    group: DeviceGroup
    arrays: Sequence[Any]

    @classmethod
    def of(cls, group: DeviceGroup, values: Any) -> Replicated:
        """Return copies of a host array."""
        arrays = []
        for device, member in enumerate(group.members):
            with group.on(device):
                arrays.append(member.to_device(values))
        return cls(group, arrays)

    def __setitem__(self, everything: Any, other: Replicated) -> None:
        """Overwrite the content."""
        for device, array in enumerate(self.arrays):
            with self.group.on(device):
                array[everything] = other.arrays[device]

    def set(self, values: Any) -> None:
        """Overwrite the content with a host array."""
        self.group.synchronize()  # the copy is going to wait for what is queued
        self[...] = Replicated.of(self.group, values)

    def to_host(self) -> Any:
        """Return the content."""
        self.group.synchronize()
        with self.group.on(0):
            return self.group.members[0].to_host(self.arrays[0])
