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
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.simplex.batch.data import BatchAnswer, Ending
from solvers.simplex.batch.kernels.check import FIGURES

# How data of its own gets from a slice of the batch to the device.
#
# Ten thousand matrices of 5,000 entries are 400 MB. The driver's own way from pageable memory is a
# copy by one core into a small locked buffer; here several cores copy a whole slice into locked
# memory that is kept, and the transfer runs beside the launch before.


DIRECT_BYTES = 2 * 2**20
"""Less than this goes the driver's way."""

MOST_THREADS = 8
"""More cores than this do not copy faster."""


class Upload:
    """Brings rows of host arrays to the device; one object for each launch under way.

    ``bring`` may be called again for the same name only when the launch that used what it
    brought before is done: the locked memory is written anew.
    """

    def __init__(self, device: Device, most: int) -> None:
        self._device = device
        self._most = most
        self._locked: dict[str, FloatArray] = {}

    def bring(self, name: str, rows: FloatArray) -> Any:
        """Return rows (k, width) as a flat array on the device, k being at most ``most``."""
        flat = rows.reshape(-1)
        if self._device.kind == "cpu" or flat.nbytes < DIRECT_BYTES:
            return self._device.to_device(flat)
        if name not in self._locked:
            self._locked[name] = _locked(self._device, self._most * rows.shape[1])
        locked = self._locked[name][: flat.size]
        copy_by_threads(locked, flat)
        there = self._device.xp.empty(flat.size)
        there.set(locked, stream=self._device.xp.cuda.get_current_stream())
        return there


def copy_by_threads(target: FloatArray, source: FloatArray) -> None:
    """Copy a flat array with several cores; NumPy lets go of the interpreter lock meanwhile."""
    threads = max(1, min(MOST_THREADS, len(os.sched_getaffinity(0))))
    ends = np.linspace(0, source.size, threads + 1).astype(np.int64).tolist()

    def copy(part: int) -> None:
        here = slice(ends[part], ends[part + 1])
        target[here] = source[here]

    with ThreadPoolExecutor(max_workers=threads) as pool:
        list(pool.map(copy, range(threads)))


def _locked(device: Device, size: int) -> FloatArray:
    """Return page-locked host memory, from CuPy's pool of it."""
    memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(np.float64).itemsize)
    array: FloatArray = np.frombuffer(memory, np.float64, size)
    return array


ALIGNMENT = 256
"""Bytes that the places of arrays in a block are multiples of, as the driver's are."""

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""

TOGETHER_BYTES = 8 * 2**20
"""Data of a slice up to which it travels at once, copied to locked memory by one core."""

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
    device : Device
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
    """Brings the rows of a slice to the device, what is small together; one for each lane.

    ``bring`` may be called again only when the launch that used what it brought before is done:
    the locked memory is written anew.

    Parameters
    ----------
    device : Device
    most : int
        LPs of a slice at most.
    """

    def __init__(self, device: Device, most: int) -> None:
        self._device = device
        self._upload = Upload(device, most)
        self._locked = np.empty(0, dtype=np.uint8)

    def bring(self, rows: Mapping[str, npt.NDArray[Any]]) -> Mapping[str, Any]:
        """Return host arrays as flat arrays on the device, by the same names."""
        flat = {name: ((array.size,), array.dtype) for name, array in rows.items()}
        size = bytes_of(flat)
        if self._device.kind == "cpu" or size > TOGETHER_BYTES:
            return {name: self._alone(name, array) for name, array in rows.items()}
        if not size:
            return {}
        if self._locked.size < size:
            self._locked = locked_array(self._device, size, np.uint8)
        here = self._locked[:size]
        for name, target in side_by_side(here, flat).items():
            target[:] = rows[name].reshape(-1)
        there = self._device.xp.empty(size, dtype=np.uint8)
        there.set(here, stream=self._device.xp.cuda.get_current_stream())
        return side_by_side(there, flat)

    def _alone(self, name: str, rows: npt.NDArray[Any]) -> Any:
        if rows.dtype == np.float64:
            return self._upload.bring(name, rows)
        return self._device.to_device(rows.reshape(-1))  # few, and not numbers of eight bytes


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
    device : Device
    answer : BatchAnswer
        Gets :data:`RESULTS`, bases, rays, and ``figures`` where it has them.
    first, last : int
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
