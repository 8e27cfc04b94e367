"""A matrix by its rows, shared out over the devices of a group."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from solvers.core.problem import FloatArray
from solvers.kernels.family import Family
from solvers.pdlp.distributed.communication import Message
from solvers.pdlp.distributed.group import DeviceGroup, Replicated
from solvers.pdlp.distributed.sides import Side
from solvers.pdlp.distributed.vectors import SharedOut
from solvers.pdlp.kernels.measure import slots_of
from solvers.sparse.slices import Slices

Call = Callable[[], None]


@dataclass(frozen=True, eq=False)
class SharedMatrix:
    """A matrix by rows: of each device, the slices of each of its parts."""

    group: DeviceGroup
    own: Side
    """Its rows."""
    other: Side
    """Its columns, of which devices read copies."""
    slices: tuple[tuple[Slices, ...], ...]

    @property
    def rows(self) -> int:
        """Rows in all."""
        return self.own.size

    @property
    def columns(self) -> int:
        """Columns in all."""
        return self.other.size

    @property
    def nonzeros(self) -> int:
        """Coefficients in all."""
        return sum(part.nonzeros for parts in self.slices for part in parts)

    @property
    def bytes(self) -> int:
        """Bytes that one product has to read of the matrix, on all devices together."""
        return sum(part.bytes for parts in self.slices for part in parts)

    @property
    def units(self) -> int:
        """Teams of threads that one product keeps busy, on all devices together."""
        return sum(part.units for parts in self.slices for part in parts)

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.slices)

    @property
    def slots(self) -> int:
        """Partial sums of a check for which each device needs room."""
        return max(sum(map(slots_of, parts)) for parts in self.slices)

    def of_rows(self, values: FloatArray) -> SharedOut:
        """Share figures of the rows (rows,), in the side's order, out."""
        return SharedOut.of(self.group, self.own, values)

    def zeros(self) -> SharedOut:
        """Share a vector (rows,) of zeros out, with room for copies of others' elements."""
        return SharedOut.zeros(self.group, self.own)

    def prepared(self, family: Family, name: str, values: Sequence[Any], threads: int) -> Call:
        """Return a kernel of all parts with its arguments, to be run again and again.

        Vectors of the other side are brought up to date on all devices before; they have to have
        room for that (``SharedOut.with_copies``).
        """
        gathered = [value for value in values if is_on(value, self.other)]
        messages = [message for vector in gathered for message in messages_of(vector)]
        calls = []
        for device, parts in enumerate(self.slices):
            for part, slices in enumerate(parts):
                there = [self._local(value, device, part) for value in values]
                arguments = (*slices.arguments, *there)
                calls.append((device, bound(self.group, device, family, name, arguments, threads)))

        def run() -> None:
            self.group.links.fork()
            self.group.links.exchange(messages)
            self.group.links.join()
            for device, call in calls:
                with self.group.on(device):
                    call()

        return run

    def _local(self, value: Any, device: int, part: int) -> Any:
        if is_on(value, self.own):
            return value.part(device, part)
        return value.arrays[device] if isinstance(value, (SharedOut, Replicated)) else value


def is_on(value: Any, side: Side) -> bool:
    """Whether a kernel's argument is a vector of a side."""
    return isinstance(value, SharedOut) and value.side is side


def bound(
    group: DeviceGroup, device: int, family: Family, name: str, values: Sequence[Any], threads: int
) -> Call:
    """Return a kernel with its arguments on one device of a group."""
    if group.kind == "cpu":
        return functools.partial(family[name], *values, threads=threads)
    with group.on(device):
        return family.bind(name, *values)


def messages_of(vector: SharedOut) -> list[Message]:
    """Return what brings copies of a vector's elements up to date."""
    found = []
    for transfer in vector.side.transfers:
        source, target, places = transfer.source, transfer.target, transfer.places
        end = transfer.begin + transfer.count
        received = vector.arrays[target][transfer.begin : end]
        if received.size != transfer.count:
            raise ValueError("the vector has no room for copies")
        sent = vector.own(source)
        if isinstance(places, slice):
            found.append(Message(source, target, sent[places], received))
            continue
        with vector.group.on(source):
            there = vector.group.members[source].to_device(places)
            packed = vector.group.xp.empty(transfer.count)
        found.append(Message(source, target, sent, received, there, packed))
    return found
