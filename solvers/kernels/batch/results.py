"""How results get home: through locked memory, that of one slice while the next is being solved.

On a GPU each slice writes to memory of its own there; the driver copies that to page-locked memory
when the slice is done, and some threads from there to the answer. Locked memory is dear to get, so
that the answer itself is ordinary memory, and slices take turns with what there is.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.kernels.batch.answer import LpAnswers

COPIERS = 4
"""Threads that copy results to the answer: what limits them is that its memory is new."""

FEW_BYTES = 2**19
"""Results up to this are copied at once: starting threads takes longer."""

RESULTS = ("x", "row_dual", "ending", "iterations")
"""Results of every engine, by their names in :class:`LpAnswers`."""


def answer_arrays(device: Device, count: int, rows: int, columns: int) -> dict[str, Any]:
    """Return the fields of an answer of ``count`` LPs, to be written before anybody reads them."""
    return {
        "x": np.empty((count, columns)),
        "row_dual": np.empty((count, rows)),
        "ending": np.empty(count, dtype=np.int32),
        "iterations": np.empty(count, dtype=np.int32),
        "device": device.kind,
    }


def locked_array(device: Device, size: int, kind: Any) -> npt.NDArray[Any]:
    """Return an array on the host that the device can write to by itself."""
    if device.kind == "cpu" or not size:
        return np.empty(size, dtype=kind)
    memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
    return np.frombuffer(memory, kind, size)


class SliceResults:
    """What a kernel writes about LPs ``first`` to ``last``: flat arrays, by their names.

    ``there`` are those on the device. On the CPU the kernel writes to the answer at once, but
    for what it has in another type.
    """

    def __init__(self, device: Device, answer: LpAnswers, first: int, last: int) -> None:
        self.device, self.first, self.last = device, first, last
        self.there: dict[str, Any] = {}
        self._here: dict[str, npt.NDArray[Any]] = {}
        self._targets: dict[str, npt.NDArray[Any]] = {}
        for name in RESULTS:
            whole = getattr(answer, name)
            self.add(name, whole, whole.dtype)

    def add(self, name: str, whole: npt.NDArray[Any], kind: Any) -> None:
        """Have the kernel write, in numbers of this type, an array with a row for each LP."""
        target = whole[self.first : self.last]
        if self.device.kind == "cpu":
            direct = target.dtype == kind
            self.there[name] = target.reshape(-1) if direct else np.empty(target.size, kind)
            if direct:
                return
            self._here[name] = self.there[name]
        else:
            self.there[name] = self.device.xp.empty(target.size, dtype=kind)
            self._here[name] = locked_array(self.device, target.size, kind)
        self._targets[name] = target

    def add_there(self, name: str, width: int) -> None:
        """Have the kernel write another array of floats, which stays on the device."""
        self.there[name] = self.device.xp.empty((self.last - self.first) * width)

    def send_home(self) -> None:
        """Have everything copied to the host when the work queued on this stream is done."""
        if self.device.kind == "cpu":
            return
        stream = self.device.xp.cuda.get_current_stream()
        for name, array in self._here.items():
            if array.size:
                self.there[name].get(stream=stream, out=array, blocking=False)

    def put_down(self, pool: ThreadPoolExecutor) -> None:
        """Copy what has arrived to its place in the answer."""
        if sum(array.nbytes for array in self._here.values()) <= FEW_BYTES:
            self._copy(slice(None))
            return
        ends = np.linspace(0, self.last - self.first, COPIERS + 1).astype(int).tolist()
        list(pool.map(self._copy, map(slice, ends[:-1], ends[1:])))

    def _copy(self, rows: slice) -> None:
        for name, target in self._targets.items():
            target[rows] = self._here[name].reshape(target.shape)[rows]
