"""A sparse matrix in compressed rows on a device, with how its rows are shared out there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device

WARP = 32

LONG_ROW = 2048
"""A row with more entries than this gets a whole block of GPU threads."""


class RowLayout(Protocol):
    """What a matrix must offer to be used here; any engine's own type that does so will do."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def columns(self) -> int:
        """Number of columns."""

    @property
    def lanes(self) -> int:
        """GPU threads for a row that is not long."""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The layout arguments of the kernels in ``solvers/linalg/kernels``."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a matrix: starts (rows + 1,), indices (nnz,), values (nnz,), on one device.

    ``long_rows`` are those with more than ``long_length`` entries; ``lanes`` is the number of
    GPU threads for any other row, a power of two near the mean row length.
    """

    rows: int
    columns: int
    starts: Any
    indices: Any
    values: Any
    long_rows: Any
    long_length: int
    lanes: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The layout arguments of the kernels in ``solvers/linalg/kernels``."""
        return (
            self.rows,
            self.starts,
            self.indices,
            self.values,
            self.long_rows.size,
            self.long_rows,
            self.long_length,
            self.lanes,
        )


def rows_on(matrix: sp.csr_array, device: Device, long_row: int = LONG_ROW) -> Rows:
    """Copy a CSR matrix, indices ascending within each row, to a device."""
    index = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
    lengths = np.diff(matrix.indptr)
    mean = matrix.nnz / max(1, matrix.shape[0])
    return Rows(
        rows=int(matrix.shape[0]),
        columns=int(matrix.shape[1]),
        starts=device.to_device(matrix.indptr.astype(index)),
        indices=device.to_device(matrix.indices.astype(index)),
        values=device.to_device(matrix.data),
        long_rows=device.to_device(np.flatnonzero(lengths > long_row).astype(index)),
        long_length=long_row,
        lanes=min(WARP, 1 << max(0, round(np.log2(max(1.0, mean))))),
    )
