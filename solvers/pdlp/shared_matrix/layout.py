"""A matrix by rows for several problems at once, and vectors side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.pdlp.shared_matrix.kernels.layout import LONG_ROW, PART, rows_of_unit

WIDTHS = (8, 16, 24, 32)
"""Numbers of problems that fit the lanes of a warp."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of ``rows`` rows on a device.

    Parameters
    ----------
    rows : int
    unit_table : (units, 4) int32
        First row, number of rows, part and parts of each unit; see ``kernels/layout.py``.
    starts : (rows + 1,) int32
    indices : (nnz,) int32
    values : (nnz,) float64
    partials : (parts, width) float64
        Where parts of very long rows are left.
    tickets : (parts,) int32
    width : int
        Problems that share it.
    """

    rows: int
    unit_table: Any
    starts: Any
    indices: Any
    values: Any
    partials: Any
    tickets: Any
    width: int

    @classmethod
    def of(
        cls,
        starts: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        values: FloatArray,
        width: int,
        device: Device,
    ) -> Matrix:
        """Lay a matrix out and copy it to the device."""
        table = units_of(np.diff(starts), width)
        parts = max(1, int(np.count_nonzero(table[:, 1] < 0)))
        return cls(
            rows=int(starts.size) - 1,
            unit_table=device.to_device(table),
            starts=device.to_device(starts.astype(np.int32)),
            indices=device.to_device(indices.astype(np.int32)),
            values=device.to_device(np.asarray(values, dtype=np.float64)),
            partials=device.xp.zeros((parts, width)),
            tickets=device.xp.zeros(parts, dtype=np.int32),
            width=width,
        )

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments by which kernels take it."""
        units = int(self.unit_table.shape[0])
        return (units, self.unit_table, self.starts, self.indices, self.values, self.width)

    @property
    def step_arguments(self) -> tuple[Any, ...]:
        """Those by which kernels take it that share very long rows out over blocks."""
        return (*self.arguments, self.partials, self.tickets)

    @property
    def units(self) -> int:
        """Blocks that a product keeps busy."""
        return int(self.unit_table.shape[0])


def units_of(lengths: npt.NDArray[Any], width: int) -> npt.NDArray[np.int32]:
    """Share rows of these lengths (rows,) out over units; return their table (units, 4)."""
    rows = np.arange(lengths.size)
    is_long = lengths > LONG_ROW
    begins_run = is_long.copy()
    begins_run[:1] = True
    begins_run[1:] |= is_long[:-1]
    run = np.maximum.accumulate(np.where(begins_run, rows, 0))
    first = np.flatnonzero((rows - run) % rows_of_unit(width) == 0)
    count = np.diff(np.append(first, lengths.size))
    count[is_long[first]] = 0
    parts = np.where(lengths[first] > PART, -(-lengths[first] // PART), 1)
    # a row in parts becomes that many units, with its partial sums behind those of the others
    split = parts > 1
    sums_before = np.cumsum(np.where(split, parts, 0)) - np.where(split, parts, 0)
    count = np.where(split, -1 - sums_before, count)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    columns = (np.repeat(first, parts), np.repeat(count, parts), part, np.repeat(parts, parts))
    return np.stack(columns, axis=1).astype(np.int32)


def interleaved(vectors: FloatArray, width: int) -> FloatArray:
    """Interleave vectors (K, size), or one for all (size,), into (size * width,).

    Problems that are missing, where K is less than the width, get what the first one has.
    """
    if vectors.ndim == 1:
        return np.repeat(vectors, width)
    columns = np.empty((vectors.shape[1], width))
    columns[:, : vectors.shape[0]] = vectors.T
    columns[:, vectors.shape[0] :] = vectors[0][:, None]
    return columns.ravel()


def separated(columns: FloatArray, width: int) -> FloatArray:
    """Return interleaved vectors (size * width,) as rows (width, size)."""
    return np.ascontiguousarray(columns.reshape(-1, width).T)
