"""How the arrays of a batch get to the device, and its results home.

What all LPs share travels once, the rest by slices. Each of many small transfers takes as long as
one that has them all, so arrays stand side by side in blocks of memory. On the host a block is
locked memory, to and from which the driver copies by itself. Answers are ordinary memory all the
same: what is locked is dear to get, and not there any more in a process that is forked.

On a GPU each slice writes to a block of memory of its own there; the driver copies that to
page-locked memory when the slice is done, and it is copied from there to the answer while the next
slice is being solved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.transfers import copy
from solvers.simplex.batch.data import BatchAnswer, Ending
from solvers.simplex.batch.kernels.check import FIGURES

ALIGNMENT = 256
"""Bytes that the places of arrays in a block are multiples of, as the driver's are."""

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""

TOGETHER_BYTES = 8 * 2**20
"""Data of a slice up to which it travels at once; beyond, an array while the next is copied to
locked memory by several cores: the driver's own way there is one core and a small buffer."""

RESULTS = ("x", "row_dual", "ending", "iterations")
"""What a kernel writes as the answer has it, by their names in :class:`BatchAnswer`."""


def locked_array(device: Device, size: int, kind: Any) -> npt.NDArray[Any]:
    """Return an array on the host that the device can write to by itself."""
    if device.kind == "cpu" or not size:
        return np.empty(size, dtype=kind)
    memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
    return np.frombuffer(memory, kind, size)


Shapes = Mapping[str, tuple[tuple[int, ...], npt.DTypeLike]]
"""Shapes and types of arrays, by their names."""


def side_by_side(block: Any, shapes: Shapes) -> dict[str, Any]:
    """Return arrays of shapes and types in one block of bytes; see :func:`bytes_of`."""
    found, at = {}, 0
    for name, (shape, kind) in shapes.items():
        size = math.prod(shape) * np.dtype(kind).itemsize
        found[name] = block[at : at + size].view(kind).reshape(shape)
        at += -(-size // ALIGNMENT) * ALIGNMENT
    return found


def bytes_of(shapes: Shapes) -> int:
    """Return the bytes of a block that has room for arrays of shapes and types."""
    sizes = (math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes.values())
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)


class Inputs:
    """Arrays that may have a row for each LP, or one for all.

    Parameters
    ----------
    arrays : mapping from names to (count or 1, width) arrays
    """

    def __init__(self, device: Device, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._device = device
        self._own = {name: array for name, array in arrays.items() if array.shape[0] != 1}
        shared = {name: array for name, array in arrays.items() if name not in self._own}
        self._shared = dict(
            zip(shared, to_device_together(device, list(shared.values())), strict=True)
        )
        self.own_bytes = sum(int(array[0].nbytes) for array in self._own.values())

    def varying_of(self, names: Sequence[str]) -> int:
        """Return which of these arrays have a row for each LP, a bit for each in their order."""
        return sum(1 << bit for bit, name in enumerate(names) if name in self._own)

    def most_in_slice(self, slice_bytes: int = SLICE_BYTES) -> int:
        """Return the LPs of a slice at most for what they bring along."""
        most: int = slice_bytes // max(1, self.own_bytes)
        return max(1, most)

    def bring(self, first: int, last: int, parcel: Parcel) -> Mapping[str, Any]:
        """Return all arrays on the device, of the LPs from ``first`` to ``last``, and flat."""
        own = {name: array[first:last] for name, array in self._own.items()}
        return {**self._shared, **parcel.bring(own)}


class Parcel:
    """Brings the rows of a slice to the device through locked memory; one for each lane.

    ``bring`` may be called again only when the launch that used what it brought before is done:
    the locked memory is written anew.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._locked = np.empty(0, dtype=np.uint8)

    def bring(self, rows: Mapping[str, npt.NDArray[Any]]) -> Mapping[str, Any]:
        """Return host arrays as flat arrays on the device, by the same names."""
        if self._device.kind == "cpu":
            return {name: array.reshape(-1) for name, array in rows.items()}
        flat = {name: ((array.size,), array.dtype) for name, array in rows.items()}
        size = bytes_of(flat)
        if not size:
            return {}
        if self._locked.size < size:
            self._locked = locked_array(self._device, size, np.uint8)
        here, there = self._locked[:size], self._device.xp.empty(size, dtype=np.uint8)
        stream = self._device.xp.cuda.get_current_stream()
        found = side_by_side(there, flat)
        for name, target in side_by_side(here, flat).items():
            copy(rows[name].reshape(-1), target)
            if size > TOGETHER_BYTES:
                found[name].set(target, stream=stream)
        if size <= TOGETHER_BYTES:
            there.set(here, stream=stream)
        return found


def to_device_together(device: Device, arrays: Sequence[npt.NDArray[Any]]) -> list[Any]:
    """Return flat copies of host arrays on the device; what is of one type travels at once.

    Each of many small transfers takes as long as one that has them all.
    """
    found: dict[int, Any] = {}
    for kind in {array.dtype for array in arrays}:
        places = [k for k, array in enumerate(arrays) if array.dtype == kind]
        ends = np.cumsum([0, *(arrays[k].size for k in places)]).tolist()
        there = device.to_device(np.concatenate([arrays[k].reshape(-1) for k in places]))
        found |= {k: there[ends[i] : ends[i + 1]] for i, k in enumerate(places)}
    return [found[k] for k in range(len(arrays))]


def empty_answer(
    device: Device, count: int, rows: int, columns: int, *, check: bool = False
) -> BatchAnswer:
    """Return an answer of ``count`` LPs, to be written before anybody reads it.

    There are figures only if a GPU is to check the answers.
    """
    figures = np.empty((count, len(FIGURES))) if check and device.kind == "cuda" else None
    return BatchAnswer(
        x=np.empty((count, columns)),
        row_dual=np.empty((count, rows)),
        ending=np.empty(count, dtype=np.int32),
        iterations=np.empty(count, dtype=np.int32),
        basis=np.empty((count, columns + rows), dtype=np.int8),
        device=device.kind,
        figures=figures,
    )


class SliceResults:
    """What kernels write about LPs ``first`` to ``last``: flat arrays, by their names.

    ``there`` are those on the device. On the CPU kernels write to the answer at once; on a GPU
    what comes home stands side by side, and travels at once.

    Parameters
    ----------
    answer : BatchAnswer
        Gets :data:`RESULTS`, bases, rays, and ``figures`` where it has them.
    """

    def __init__(self, device: Device, answer: BatchAnswer, first: int, last: int) -> None:
        self.device, self.first, self.last = device, first, last
        self._answer = answer
        arrays = {name: getattr(answer, name) for name in RESULTS}
        arrays["basis"] = answer.basis.view(np.uint8)  # which device code has a type for
        if answer.figures is not None:
            arrays["figures"] = answer.figures
        self._targets = {name: array[first:last] for name, array in arrays.items()}
        if device.kind == "cpu":
            self.there: dict[str, Any] = {
                name: array.reshape(-1) for name, array in self._targets.items()
            }
            self._add_there()
            return
        flat = {name: ((array.size,), array.dtype) for name, array in self._targets.items()}
        self._block_there = device.xp.empty(bytes_of(flat), dtype=np.uint8)
        self._block_here = locked_array(device, bytes_of(flat), np.uint8)
        self.there = side_by_side(self._block_there, flat)
        shapes = {name: (array.shape, array.dtype) for name, array in self._targets.items()}
        self._here = side_by_side(self._block_here, shapes)
        self._add_there()

    def _add_there(self) -> None:
        """Add what the kernel writes and what stays on the device: rays, and wide statuses."""
        count, xp = self.last - self.first, self.device.xp
        self.there["ray"] = xp.empty(count * self._answer.x.shape[1])
        self.there["statuses"] = xp.empty(count * self._answer.basis.shape[1], dtype=np.int32)

    def send_home(self) -> None:
        """Have everything copied to the host when the work queued on this stream is done."""
        if self.device.kind == "cpu" or not self._block_here.size:
            return
        stream = self.device.xp.cuda.get_current_stream()
        self._block_there.get(stream=stream, out=self._block_here, blocking=False)

    def put_down(self) -> None:
        """Copy what has arrived to its place in the answer.

        One core does: the device is busy with other slices meanwhile, and waking threads took
        longer than they gained, from 3 to 7 MB.
        """
        if self.device.kind == "cuda":
            for name, target in self._targets.items():
                target[:] = self._here[name]
        unbounded = np.flatnonzero(self._targets["ending"] == Ending.UNBOUNDED).tolist()
        if unbounded:
            rays = self.device.to_host(self.there["ray"]).reshape(self._targets["x"].shape)
            self._answer.rays.update({self.first + k: rays[k].copy() for k in unbounded})
