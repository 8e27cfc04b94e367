"""Checking an engine's answers on the device where they are, before they travel home.

The engine's own data on the device serves for it: what was given, before any scaling, as it was
brought there. On the CPU nothing is gained by checking before the answers are complete, so that it
is left to who asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.simplex.batch.data import Ending
from solvers.simplex.batch.kernels.check import FAMILY, VARYING
from solvers.simplex.batch.transfer import Inputs, SliceResults

IndexArray = npt.NDArray[np.int32]


class DeviceCheck:
    """Launches the check of slices on a GPU; the pattern is brought there once.

    Parameters
    ----------
    device : Device
    pattern : (m, n) CSR
        As in :class:`~solvers.simplex.batch.data.BatchData`.
    """

    def __init__(self, device: Device, pattern: sp.csr_array) -> None:
        self._shape = pattern.shape
        self._is_full = is_full(pattern)
        self._claims = claims_mask((Ending.OPTIMAL,))
        nothing = np.zeros(1, dtype=np.int32)
        by_columns = (nothing,) * 3 if self._is_full else columns_of(pattern)
        self._by_columns = [device.to_device(array) for array in by_columns]

    def launch(
        self, results: SliceResults, inputs: Inputs, arrays: Mapping[str, Any], pattern: list[Any]
    ) -> None:
        """Have the LPs of a slice checked when they are solved, on the current stream.

        Parameters
        ----------
        results : SliceResults
            With ``figures``, and what the engine's kernel writes.
        inputs : Inputs
        arrays : mapping
            What ``inputs`` brought to the device for these LPs.
        pattern : two arrays
            Starts of rows and column indices on the device.
        """
        there = results.there
        FAMILY["check"](
            results.last - results.first,
            *self._shape,
            *pattern,
            *self._by_columns,
            int(self._is_full),
            inputs.varying_of(VARYING),
            *(arrays[name] for name in VARYING),
            self._claims,
            there["ending"],
            there["x"],
            there["row_dual"],
            there["figures"],
        )


def claims_mask(endings: Iterable[int]) -> int:
    """Return the bits of endings, as the kernel takes them."""
    return sum(1 << int(ending) for ending in endings)


def is_full(pattern: sp.csr_array) -> bool:
    """Whether every row has all columns, in their order: what follows is quicker then."""
    m, n = pattern.shape
    if pattern.nnz != m * n:
        return False
    return bool((pattern.indices.reshape(m, n) == np.arange(n)).all())


def columns_of(pattern: sp.csr_array) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return a pattern by columns: starts (n + 1,), rows, and places in the order of rows."""
    m, n = pattern.shape
    places = np.arange(pattern.nnz, dtype=np.int32)
    turned = sp.csr_array((places, pattern.indices, pattern.indptr), shape=(m, n)).tocsc()
    return (
        turned.indptr.astype(np.int32, copy=False),
        _or_one(turned.indices.astype(np.int32, copy=False)),
        _or_one(turned.data),
    )


def _or_one(array: IndexArray) -> IndexArray:
    """Return the array, or one zero for none: what is passed to a kernel has an address."""
    return array if array.size else np.zeros(1, dtype=np.int32)
