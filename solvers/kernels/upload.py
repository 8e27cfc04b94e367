"""How data of its own gets from a slice of the batch to the device.

Ten thousand matrices of 5,000 entries are 400 MB. The driver's own way from pageable memory is a
copy by one core into a small locked buffer; here several cores copy a whole slice into locked
memory that is kept, and the transfer runs beside the launch before.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray

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
