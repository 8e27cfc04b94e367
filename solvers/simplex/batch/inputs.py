"""How the arrays of a batch get to the device: what all LPs share once, the rest by slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.kernels.upload import Upload
from solvers.simplex.batch.memory import bytes_of, locked_array, side_by_side

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""

TOGETHER_BYTES = 8 * 2**20
"""Data of a slice up to which it travels at once, copied to locked memory by one core."""


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
