"""How the arrays of a batch get to the device: what all LPs share once, the rest by slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.kernels.upload import Upload

SLICE_BYTES = 64 * 2**20
"""Data of its own that a slice brings along, about."""


class Inputs:
    """Arrays that may have a row for each LP, or one for all; bit b of ``varying`` says which.

    Parameters
    ----------
    device : Device
    arrays : mapping from names to (count or 1, width) arrays
        In the order of the bits.
    """

    def __init__(self, device: Device, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._device = device
        self._names = tuple(arrays)
        self._own = {name: array for name, array in arrays.items() if array.shape[0] != 1}
        self._shared = {
            name: device.to_device(array.reshape(-1))
            for name, array in arrays.items()
            if name not in self._own
        }
        self.varying = sum(1 << bit for bit, name in enumerate(arrays) if name in self._own)
        self.own_bytes = sum(int(array[0].nbytes) for array in self._own.values())

    def is_own(self, name: str) -> bool:
        """Whether each LP has a row of this array."""
        return name in self._own

    def most_in_slice(self, slice_bytes: int = SLICE_BYTES) -> int:
        """Return the LPs of a slice at most for what they bring along."""
        most: int = slice_bytes // max(1, self.own_bytes)
        return max(1, most)

    def bring(self, first: int, last: int, upload: Upload) -> Sequence[Any]:
        """Return all arrays on the device, of the LPs from ``first`` to ``last``, and flat."""
        found = dict(self._shared)
        for name, array in self._own.items():
            rows = array[first:last]
            if rows.dtype == np.float64:
                found[name] = upload.bring(name, rows)
            else:  # few, and not numbers of eight bytes: the driver's own way
                found[name] = self._device.to_device(rows.reshape(-1))
        return [found[name] for name in self._names]
