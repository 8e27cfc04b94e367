"""How results get home: through locked memory, that of one slice while the next is being solved.

On a GPU each slice writes to a block of memory of its own there; the driver copies that to
page-locked memory when the slice is done, and threads from there to the answer. Locked memory is
dear to get, so that the answer itself is ordinary memory, and slices take turns with what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.kernels.batch.answer import LpAnswers
from solvers.kernels.batch.kernels.check import FIGURES

COPIERS = 4
"""Threads that copy results to the answer: what limits them is that its memory is new."""

FEW_BYTES = 2**21
"""Results up to this are copied at once: starting threads takes longer."""

ALIGNMENT = 256
"""Bytes that the places of results in a block of memory are multiples of, as the driver's are."""

RESULTS = ("x", "row_dual", "ending", "iterations")
"""Results of every engine, by their names in :class:`LpAnswers`."""


def answer_arrays(
    device: Device, count: int, rows: int, columns: int, *, check: bool = False
) -> dict[str, Any]:
    """Return the fields of an answer of ``count`` LPs, to be written before anybody reads them.

    There are figures only if a GPU is to check the answers.
    """
    checked = check and device.kind == "cuda"
    return {
        "figures": np.empty((count, len(FIGURES))) if checked else None,
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
    """What kernels write about LPs ``first`` to ``last``: flat arrays, by their names.

    ``there`` are those on the device. On the CPU kernels write to the answer at once; on a GPU
    what comes home stands side by side, and travels at once.

    Parameters
    ----------
    device : Device
    answer : LpAnswers
        Gets :data:`RESULTS`, and ``figures`` where it has them.
    first, last : int
    more : mapping from names to arrays, optional
        With a row for each LP of the batch, for what else is to come home.
    """

    def __init__(
        self,
        device: Device,
        answer: LpAnswers,
        first: int,
        last: int,
        more: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self.device, self.first, self.last = device, first, last
        arrays = {name: getattr(answer, name) for name in RESULTS} | dict(more or {})
        if answer.figures is not None:
            arrays["figures"] = answer.figures
        self._targets = {name: array[first:last] for name, array in arrays.items()}
        if device.kind == "cpu":
            self.there: dict[str, Any] = {
                name: array.reshape(-1) for name, array in self._targets.items()
            }
            return
        sizes = [-(-array.nbytes // ALIGNMENT) * ALIGNMENT for array in self._targets.values()]
        ends = np.cumsum([0, *sizes]).tolist()
        self._block_there = device.xp.empty(ends[-1], dtype=np.uint8)
        self._block_here = locked_array(device, ends[-1], np.uint8)
        self.there, self._here = {}, {}
        for (name, array), at in zip(self._targets.items(), ends[:-1], strict=True):
            part = slice(at, at + array.nbytes)
            self.there[name] = self._block_there[part].view(array.dtype)
            self._here[name] = self._block_here[part].view(array.dtype).reshape(array.shape)

    def add_there(self, name: str, width: int) -> None:
        """Have the kernel write another array of floats, which stays on the device."""
        self.there[name] = self.device.xp.empty((self.last - self.first) * width)

    def send_home(self) -> None:
        """Have everything copied to the host when the work queued on this stream is done."""
        if self.device.kind == "cpu" or not self._block_here.size:
            return
        stream = self.device.xp.cuda.get_current_stream()
        self._block_there.get(stream=stream, out=self._block_here, blocking=False)

    def put_down(self, pool: ThreadPoolExecutor) -> None:
        """Copy what has arrived to its place in the answer."""
        if self.device.kind == "cpu":
            return
        if self._block_here.nbytes <= FEW_BYTES:
            self._copy(slice(None))
            return
        ends = np.linspace(0, self.last - self.first, COPIERS + 1).astype(int).tolist()
        list(pool.map(self._copy, map(slice, ends[:-1], ends[1:])))

    def _copy(self, rows: slice) -> None:
        for name, target in self._targets.items():
            target[rows] = self._here[name][rows]
