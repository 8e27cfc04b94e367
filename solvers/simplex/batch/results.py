"""Where results are written: on the host, in memory that a GPU writes to by itself.

On a GPU each slice writes to memory of its own there, and the driver copies that to its place in
the answer while the next slice is being solved. The answer's arrays are page-locked for that, so
that nothing is copied a second time, up to a size beyond which locked memory is no longer cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.simplex.batch.answer import BatchAnswer, Ending

MOST_LOCKED = 2**29
"""Bytes of results up to which they are in page-locked memory, which the system cannot swap out."""


@dataclass(frozen=True, eq=False)
class SliceResults:
    """What the kernel writes about LPs ``first`` to ``last``, on the device and flat.

    ``ray`` is read only where an LP of the slice is unbounded; ``basis`` has 32 bits there.
    """

    first: int
    last: int
    x: Any
    y: Any
    ray: Any
    basis: Any
    ending: Any
    iterations: Any
    statuses: npt.NDArray[np.int32]
    """Where ``basis`` arrives on the host."""


def empty_answer(device: Device, count: int, rows: int, columns: int) -> BatchAnswer:
    """Return an answer whose arrays are still to be written, all of them."""
    locked = device.kind == "cuda" and 8 * count * (rows + columns) <= MOST_LOCKED

    def empty(shape: tuple[int, ...], kind: Any) -> Any:
        if not locked or not min(shape):
            return np.empty(shape, dtype=kind)
        size = int(np.prod(shape))
        memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
        return np.frombuffer(memory, kind, size).reshape(shape)

    return BatchAnswer(
        x=empty((count, columns), np.float64),
        row_dual=empty((count, rows), np.float64),
        basis=np.empty((count, rows + columns), dtype=np.int8),
        ending=empty((count,), np.int32),
        iterations=empty((count,), np.int32),
        device=device.kind,
    )


def slice_results(device: Device, answer: BatchAnswer, first: int, last: int) -> SliceResults:
    """Return memory for the results of a slice: on the CPU the answer's own."""
    xp = device.xp
    count, n, m = last - first, answer.x.shape[1], answer.row_dual.shape[1]
    ray, basis = xp.empty(count * n), xp.empty(count * (n + m), dtype=np.int32)
    part = slice(first, last)
    if device.kind == "cpu":
        here = (answer.x, answer.row_dual, answer.ending, answer.iterations)
        x, y, ending, iterations = (array[part].reshape(-1) for array in here)
        return SliceResults(first, last, x, y, ray, basis, ending, iterations, basis)
    statuses = np.empty(count * (n + m), dtype=np.int32)
    if statuses.size:
        memory = device.xp.cuda.alloc_pinned_memory(statuses.nbytes)
        statuses = np.frombuffer(memory, np.int32, statuses.size)
    return SliceResults(
        first, last, xp.empty(count * n), xp.empty(count * m), ray, basis,
        xp.empty(count, dtype=np.int32), xp.empty(count, dtype=np.int32), statuses,
    )  # fmt: skip


def send_home(device: Device, found: SliceResults, answer: BatchAnswer) -> None:
    """Have the results copied to the answer when the work queued on this stream is done."""
    if device.kind == "cpu":
        return
    part = slice(found.first, found.last)
    stream = device.xp.cuda.get_current_stream()
    for there, here in (
        (found.x, answer.x[part]),
        (found.y, answer.row_dual[part]),
        (found.ending, answer.ending[part]),
        (found.iterations, answer.iterations[part]),
        (found.basis, found.statuses),
    ):
        if here.size:
            there.get(stream=stream, out=here.reshape(-1), blocking=False)


def put_down(device: Device, found: SliceResults, answer: BatchAnswer) -> None:
    """Finish the answer of a slice whose results have arrived."""
    part = slice(found.first, found.last)
    answer.basis[part] = found.statuses.reshape(answer.basis[part].shape)
    unbounded = np.flatnonzero(answer.ending[part] == Ending.UNBOUNDED).tolist()
    if unbounded:
        directions = device.to_host(found.ray).reshape(answer.x[part].shape)
        answer.rays.update({found.first + k: directions[k].copy() for k in unbounded})


def leave_out(answer: BatchAnswer, first: int) -> None:
    """Say that the LPs from ``first`` on had no turn."""
    for array in (answer.x, answer.row_dual, answer.basis, answer.iterations):
        array[first:] = 0
    answer.ending[first:] = Ending.NOT_REACHED
