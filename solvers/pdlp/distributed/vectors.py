"""Vectors of which each device holds what it owns, and copies of what it reads of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.problem import FloatArray
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.sides import Side
from solvers.sparse.shape import IndexArray


@dataclass(eq=False)
class SharedOut:
    """A vector of one side: on each device its own elements and perhaps copies of others'."""

    group: DeviceGroup
    side: Side
    arrays: list[Any]
    """One on each device."""

    @classmethod
    def of(cls, group: DeviceGroup, side: Side, values: FloatArray) -> SharedOut:
        """Share host values (size,) in the side's order out, without copies of others' elements."""
        arrays = []
        for device, member in enumerate(group.members):
            with group.on(device):
                arrays.append(member.to_device(values[side.range_of(device)]))
        return cls(group, side, arrays)

    @classmethod
    def zeros(cls, group: DeviceGroup, side: Side) -> SharedOut:
        """Return a vector of zeros, with room for copies of others' elements."""
        arrays = []
        for device in range(side.devices):
            with group.on(device):
                arrays.append(group.xp.zeros(side.lengths[device]))
        return cls(group, side, arrays)

    @property
    def size(self) -> int:
        """Elements in all."""
        return self.side.size

    @property
    def shape(self) -> tuple[int]:
        """Elements in all, as of an array."""
        return (self.side.size,)

    def own(self, device: int) -> Any:
        """Return the elements that a device owns."""
        return self.arrays[device][: self.side.owned(device)]

    def part(self, device: int, part: int) -> Any:
        """Return the elements of one part of what a device owns."""
        bounds = self.side.bounds[device]
        return self.arrays[device][bounds[part] : bounds[part + 1]]

    def with_copies(self) -> SharedOut:
        """Make room for the elements of others that devices read, and return the vector.

        What was taken of it before is no part of it any more.
        """
        for device, length in enumerate(self.side.lengths):
            if self.arrays[device].size < length:
                with self.group.on(device):
                    wider = self.group.xp.zeros(length)
                    wider[: self.side.owned(device)] = self.own(device)
                    self.arrays[device] = wider
        return self

    def copy(self) -> SharedOut:
        """Return another vector with the same elements."""
        arrays = []
        for device in range(self.side.devices):
            with self.group.on(device):
                arrays.append(self.own(device).copy())
        return SharedOut(self.group, self.side, arrays)

    def fill(self, value: float) -> None:
        """Give all elements one value."""
        for device, array in enumerate(self.arrays):
            with self.group.on(device):
                array.fill(value)

    def set(self, values: FloatArray) -> None:
        """Overwrite the elements with host values (size,) in the side's order."""
        self.group.synchronize()  # the copy is going to wait for what is queued
        for device, member in enumerate(self.group.members):
            with self.group.on(device):
                member.overwrite(self.own(device), values[self.side.range_of(device)])

    def __setitem__(self, everything: Any, other: SharedOut) -> None:
        """Overwrite the elements with those of another vector of the same side."""
        for device in range(self.side.devices):
            with self.group.on(device):
                self.own(device)[everything] = other.own(device)

    def to_host(self) -> FloatArray:
        """Return the elements (size,) in the side's order."""
        found = np.empty(self.size)
        self.fetch(found)
        return found

    def fetch(self, found: FloatArray, order: IndexArray | None = None) -> None:
        """Copy the elements to a vector (size,), in the side's order or to places in another."""
        self.group.synchronize()
        for device, member in enumerate(self.group.members):
            own = self.side.range_of(device)
            with self.group.on(device):
                if order is None:
                    member.fetch(self.own(device), found[own])
                else:
                    member.fetch(self.own(device), found, order[own])
