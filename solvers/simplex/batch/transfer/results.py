"""How results get home: through locked memory, that of one slice while the next is being solved.

On a GPU each slice writes to a block of memory of its own there; the driver copies that to
page-locked memory when the slice is done, and it is copied from there to the answer, which is
ordinary memory; see ``memory``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.simplex.batch.transfer.answer import LpAnswers
from solvers.simplex.batch.transfer.kernels.check import FIGURES
from solvers.simplex.batch.transfer.memory import Shapes, bytes_of, locked_array, side_by_side

RESULTS = ("x", "row_dual", "ending", "iterations")
"""Results of every engine, by their names in :class:`LpAnswers`."""


def answer_arrays(
    device: Device,
    count: int,
    rows: int,
    columns: int,
    *,
    check: bool = False,
    more: Shapes | None = None,
) -> dict[str, Any]:
    """Return the fields of an answer of ``count`` LPs, to be written before anybody reads them.

    There are figures only if a GPU is to check the answers; ``more`` are fields of one engine.
    """
    shapes: dict[str, Any] = {
        "x": ((count, columns), np.float64),
        "row_dual": ((count, rows), np.float64),
        "ending": ((count,), np.int32),
        "iterations": ((count,), np.int32),
        **(more or {}),
    }
    if check and device.kind == "cuda":
        shapes["figures"] = ((count, len(FIGURES)), np.float64)
    found = {name: np.empty(shape, dtype=kind) for name, (shape, kind) in shapes.items()}
    return {**found, "device": device.kind}


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
        flat = {name: ((array.size,), array.dtype) for name, array in self._targets.items()}
        self._block_there = device.xp.empty(bytes_of(flat), dtype=np.uint8)
        self._block_here = locked_array(device, bytes_of(flat), np.uint8)
        self.there = side_by_side(self._block_there, flat)
        shapes = {name: (array.shape, array.dtype) for name, array in self._targets.items()}
        self._here = side_by_side(self._block_here, shapes)

    def add_there(self, name: str, width: int, kind: npt.DTypeLike = np.float64) -> None:
        """Have the kernel write another array, which stays on the device."""
        size = (self.last - self.first) * width
        self.there[name] = self.device.xp.empty(size, dtype=kind)

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
        if self.device.kind == "cpu":
            return
        for name, target in self._targets.items():
            target[:] = self._here[name]
