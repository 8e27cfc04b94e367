"""A sparse matrix in compressed rows on a device, with how its rows are shared out there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.device import Device

WARP = 32


@dataclass(frozen=True, eq=False)
class CompressedRows:
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
        """The layout arguments of every kernel in ``solvers/pdlp/kernels``."""
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

    @property
    def nonzeros(self) -> int:
        """Number of entries."""
        return int(self.values.size)


def to_device(matrix: sp.csr_array | sp.csc_array, device: Device, long_row: int) -> CompressedRows:
    """Copy A (as CSR), or A' (as the CSC of A), to a device."""
    rows, columns = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    lengths = np.diff(matrix.indptr)
    mean = matrix.nnz / max(1, rows)
    lanes = min(WARP, 1 << max(0, round(np.log2(max(1.0, mean)))))
    long_rows = np.flatnonzero(lengths > long_row).astype(matrix.indices.dtype)
    return CompressedRows(
        rows=int(rows),
        columns=int(columns),
        starts=device.to_device(matrix.indptr),
        indices=device.to_device(matrix.indices),
        values=device.to_device(matrix.data),
        long_rows=device.to_device(long_rows),
        long_length=long_row,
        lanes=lanes,
    )
