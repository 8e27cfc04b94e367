"""What is done once for all LPs: scaling, and the dictionary they start from where it is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.outcome import BasisStatus
from solvers.core.problem import FloatArray
from solvers.simplex.batch.data import BatchData, Ending, Settings, StatusArray
from solvers.simplex.batch.kernels.check import FAMILY, VARYING
from solvers.simplex.batch.kernels.simplex import BASES, DICTIONARY, SLACK
from solvers.simplex.batch.transfer import Inputs, SliceResults
from solvers.simplex.state import NO_SCALING_WITHIN, SCALING_PASSES, geometric_scales

# Checking an engine's answers on the device where they are, before they travel home.
#
# The engine's own data on the device serves for it: what was given, before any scaling, as it was
# brought there. On the CPU nothing is gained by checking before the answers are complete, so that
# it is left to who asked for them.


IndexArray = npt.NDArray[np.int32]


class DeviceCheck:
    """Launches the check of slices on a GPU; the pattern is brought there once.

    Parameters
    ----------
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


SAMPLED = 32
"""About how many members tell how to scale coefficients that differ from LP to LP."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A batch with all that the kernel reads beside it.

    ``given`` (count or 1, n + m) are the statuses to start from; with ``start`` DICTIONARY the
    dictionary stands by columns in ``dictionary`` (n * m,), and its basic and then its nonbasic
    variables in ``heads`` (m + n,).
    """

    data: BatchData
    row_scale: FloatArray
    column_scale: FloatArray
    given: StatusArray
    start: int
    dictionary: FloatArray
    heads: npt.NDArray[np.int32]


def prepare(data: BatchData, settings: Settings) -> Prepared:
    """Scale the matrix by what the members have in common, and start from a common basis once."""
    m, n = data.pattern.shape
    row_scale, column_scale = _scales(data)
    given = data.basis
    if given is None:
        given = np.full((1, n + m), BasisStatus.LOWER, dtype=np.int8)
        given[0, n:] = BasisStatus.BASIC
    start = SLACK if data.basis is None else BASES
    dictionary, heads = np.zeros(1), np.zeros(1, dtype=np.int32)
    if data.values.shape[0] == 1 and given.shape[0] == 1:
        start = DICTIONARY
        dictionary, heads, given = _dictionary(data, row_scale, column_scale, given, settings)
    return Prepared(data, row_scale, column_scale, given, start, dictionary, heads)


def _scales(data: BatchData) -> tuple[FloatArray, FloatArray]:
    m, n = data.pattern.shape
    sample = data.values[:: max(1, data.values.shape[0] // SAMPLED)]
    sizes = np.abs(sample).mean(axis=0)
    pattern = data.pattern
    if sizes.size and sizes.all() and is_full(pattern):
        return full_scales(sizes.reshape(m, n))
    mean = sp.csr_array((sizes, pattern.indices.copy(), pattern.indptr.copy()), shape=(m, n))
    mean.eliminate_zeros()
    return geometric_scales(mean) if mean.nnz else (np.ones(m), np.ones(n))


def full_scales(size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``geometric_scales`` of a matrix by its magnitudes (m, n), none of them zero.

    Rows and columns that stand side by side need no lists of who owns what.
    """
    m, n = size.shape
    row_scale, column_scale = np.ones(m), np.ones(n)
    if size.min() >= NO_SCALING_WITHIN[0] and size.max() <= NO_SCALING_WITHIN[1]:
        return row_scale, column_scale
    for _ in range(SCALING_PASSES):
        scaled = size * column_scale
        row_scale = 1.0 / np.sqrt(scaled.min(axis=1) * scaled.max(axis=1))
        scaled = size * row_scale[:, None]
        column_scale = 1.0 / np.sqrt(scaled.min(axis=0) * scaled.max(axis=0))
    return np.exp2(np.round(np.log2(row_scale))), np.exp2(np.round(np.log2(column_scale)))


def _dictionary(
    data: BatchData,
    row_scale: FloatArray,
    column_scale: FloatArray,
    given: StatusArray,
    settings: Settings,
) -> tuple[FloatArray, npt.NDArray[np.int32], StatusArray]:
    """Return the dictionary of the common basis by columns, its heads, and the basis repaired."""
    from solvers.native.simplex_batch_simplex import first_dictionary

    m, n = data.pattern.shape
    dictionary, heads = np.empty(n * m), np.empty(m + n, dtype=np.int32)
    status = given[0].astype(np.int32)
    first_dictionary(
        data.pattern.indptr.astype(np.int32, copy=False),
        data.pattern.indices.astype(np.int32, copy=False),
        data.values[0].astype(np.float64, copy=False),
        row_scale,
        column_scale,
        settings.parameters.as_array(),
        status,
        dictionary,
        heads,
    )
    return dictionary, heads, status.astype(np.int8).reshape(1, -1)
