"""How results get home: through locked memory, that of one slice while the next is being solved.

On a GPU each slice writes to a block of memory of its own there; the driver copies that to
page-locked memory when the slice is done, and it is copied from there to the answer, which is
ordinary memory; see ``memory``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.simplex.batch.answer import BatchAnswer, Ending
from solvers.simplex.batch.kernels.check import FIGURES
from solvers.simplex.batch.memory import bytes_of, locked_array, side_by_side

RESULTS = ("x", "row_dual", "ending", "iterations")
"""What a kernel writes as the answer has it, by their names in :class:`BatchAnswer`."""


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
