"""Where results are written: on the host, in memory that a GPU writes to by itself.

On a GPU each slice writes to memory of its own there, and the driver copies that to its place in
the answer while the next slice is being solved. The answer's arrays are page-locked for that, so
that nothing is copied a second time, up to a size beyond which locked memory is no longer cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.kernels.batch.answer import LpAnswers

MOST_LOCKED = 2**29
"""Bytes of an array up to which it is page-locked: the system cannot swap it out."""

RESULTS = ("x", "row_dual", "ending", "iterations")
"""Results of every engine, by their names in :class:`LpAnswers`."""


def host_array(device: Device, shape: tuple[int, ...], kind: Any) -> npt.NDArray[Any]:
    """Return an array on the host, still to be written, that the device writes to quickly."""
    size = int(np.prod(shape))
    wanted = size * np.dtype(kind).itemsize
    if device.kind == "cpu" or not 0 < wanted <= MOST_LOCKED:
        return np.empty(shape, dtype=kind)
    memory = device.xp.cuda.alloc_pinned_memory(wanted)
    return np.frombuffer(memory, kind, size).reshape(shape)


def answer_arrays(device: Device, count: int, rows: int, columns: int) -> dict[str, Any]:
    """Return the fields of an answer of ``count`` LPs, to be written before anybody reads them."""
    return {
        "x": host_array(device, (count, columns), np.float64),
        "row_dual": host_array(device, (count, rows), np.float64),
        "ending": host_array(device, (count,), np.int32),
        "iterations": host_array(device, (count,), np.int32),
        "device": device.kind,
    }


class SliceResults:
    """What a kernel writes about LPs ``first`` to ``last``: flat arrays, by their names.

    ``there`` are those on the device and ``here`` those on the host, which are the same on the
    CPU: views of the answer.
    """

    def __init__(self, device: Device, answer: LpAnswers, first: int, last: int) -> None:
        self.device, self.first, self.last = device, first, last
        self.here: dict[str, Any] = {
            name: getattr(answer, name)[first:last].reshape(-1) for name in RESULTS
        }
        self.there = {name: self._there(array) for name, array in self.here.items()}

    def add(self, name: str, width: int, kind: Any) -> None:
        """Have the kernel write another array, which comes home to an array of the slice."""
        self.here[name] = host_array(self.device, ((self.last - self.first) * width,), kind)
        self.there[name] = self._there(self.here[name])

    def add_there(self, name: str, width: int) -> None:
        """Have the kernel write another array of floats, which stays there."""
        self.there[name] = self.device.xp.empty((self.last - self.first) * width)

    def send_home(self) -> None:
        """Have all that comes home copied when the work queued on this stream is done."""
        if self.device.kind == "cpu":
            return
        stream = self.device.xp.cuda.get_current_stream()
        for name, array in self.here.items():
            if array.size:
                self.there[name].get(stream=stream, out=array, blocking=False)

    def _there(self, array: npt.NDArray[Any]) -> Any:
        if self.device.kind == "cpu":
            return array
        return self.device.xp.empty(array.size, dtype=array.dtype)
