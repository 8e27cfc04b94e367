"""Symmetric positive (semi)definite operators: a sparse matrix, or A D A' without forming it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.linalg.kernels.iteration import ITERATION

# A sparse matrix in compressed rows on a device, with how its rows are shared out there.


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


SYMMETRY_TOLERANCE = 1e-12
"""Largest |M - M'| that counts as rounding, relative to the largest entry."""


@dataclass(frozen=True, eq=False)
class Operator:
    """M (m, m) on a device: ``by_row`` itself, or A D A' where ``by_column`` is there.

    Parameters
    ----------
    device : Device
    by_row : RowLayout
        The symmetric M, or A (m, n).
    by_column : RowLayout, optional
        A' (n, m).
    weight : (n,) array on the device
        The diagonal of D, none of it negative; unused for a symmetric matrix.
    threads : int
        CPU threads at most; 0 for all.
    """

    device: Device
    by_row: RowLayout
    by_column: RowLayout | None
    weight: Any
    threads: int = 0

    @property
    def size(self) -> int:
        """Number of rows m."""
        return self.by_row.rows

    @property
    def is_normal(self) -> bool:
        """Whether M is A D A'."""
        return self.by_column is not None

    def gather(self, vector: Any, *, magnitudes: bool = False) -> Any:
        """Return what the row product takes: ``vector`` (m,), or D A' times it (n,)."""
        if self.by_column is None:
            return vector
        product = self.device.xp.empty(self.by_column.rows)
        self._multiply(self.by_column, vector, magnitudes, product)
        product *= self.weight
        return product

    def apply(self, vector: Any, *, magnitudes: bool = False) -> Any:
        """Return M times ``vector`` (m,), or |M| (an upper bound |A| D |A'|) times it."""
        product = self.device.xp.empty(self.size)
        gathered = self.gather(vector, magnitudes=magnitudes)
        self._multiply(self.by_row, gathered, magnitudes, product)
        return product

    def diagonal(self) -> Any:
        """Return the diagonal of M, (m,) on the device."""
        product = self.device.xp.empty(self.size)
        ITERATION["diagonal"](
            *self.by_row.arguments, self.weight, int(self.is_normal), product, threads=self.threads
        )
        return product

    def _multiply(self, rows: RowLayout, vector: Any, magnitudes: bool, product: Any) -> None:
        ITERATION["multiply"](
            *rows.arguments, vector, int(magnitudes), product, threads=self.threads
        )


def symmetric(matrix: Any, device: Device, *, threads: int = 0) -> Operator:
    """Make an operator of a symmetric sparse matrix.

    Raises
    ------
    ProblemError
        It is no matrix of real numbers, not square, not symmetric, or has an entry that is not
        finite.
    """
    csr = _canonical(matrix)
    if csr.shape[0] != csr.shape[1]:
        raise ProblemError(
            f"The matrix is {csr.shape[0]} x {csr.shape[1]}; conjugate gradients need a square one."
        )
    difference = abs(csr - csr.T).tocoo()
    largest = float(np.max(np.abs(csr.data), initial=0.0))
    if difference.nnz and difference.data.max() > SYMMETRY_TOLERANCE * largest:
        k = int(np.argmax(difference.data))
        i, j = int(difference.row[k]), int(difference.col[k])
        raise ProblemError(
            f"The matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by "
            f"{difference.data[k]:g}. Solve with its normal equations instead."
        )
    return Operator(device, rows_on(csr, device), None, device.xp.ones(1), threads)


def normal_equations(
    matrix: Any, device: Device, weight: npt.ArrayLike | None = None, *, threads: int = 0
) -> Operator:
    """Make the operator A D A' of a sparse matrix A (m, n) and weights (n,), by default 1.

    Raises
    ------
    ProblemError
        A weight is negative or not finite, their number is wrong, or an entry of A is not finite.
    """
    csr = _canonical(matrix)
    n = csr.shape[1]
    d = np.ones(n) if weight is None else real_array(np, weight, "weight")
    if d.shape != (n,):
        raise ProblemError(f"'weight' has shape {d.shape}; the matrix has {n} columns.")
    bad = ~(np.isfinite(d) & (d >= 0))
    if bad.any():
        j = int(np.flatnonzero(bad)[0])
        raise ProblemError(f"Weight {j} is {d[j]}; weights must be finite and not negative.")
    columns = sp.csr_array(csr.T)
    columns.sort_indices()
    return Operator(
        device, rows_on(csr, device), rows_on(columns, device), device.to_device(d), threads
    )


def jacobi(operator: Operator) -> Any:
    """Return the diagonal of B = D^-1, (m,) on the device: what conjugate gradients take.

    An empty row gets 0: no solution can do anything about it.

    Raises
    ------
    ProblemError
        A diagonal entry is negative, or zero in a row with entries: M is not semidefinite.
    """
    xp = operator.device.xp
    diagonal = operator.diagonal()
    suspect = ~(diagonal > 0)
    if not operator.is_normal and bool(suspect.any()):
        _refuse_indefinite(operator, diagonal)
    return xp.where(suspect, 0.0, 1.0 / xp.where(suspect, 1.0, diagonal))


def _refuse_indefinite(operator: Operator, diagonal: Any) -> None:
    """Raise for a negative diagonal entry, or a zero one in a row with other entries."""
    host = operator.device.to_host
    values = host(diagonal)
    sizes = host(operator.apply(operator.device.xp.ones(operator.size), magnitudes=True))
    bad = (values < 0) | ((values == 0) & (sizes > 0)) | ~np.isfinite(values)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ProblemError(
            f"Diagonal entry {i} of the matrix is {values[i]:g}; conjugate gradients need a "
            "positive definite matrix. Solve with its normal equations instead."
        )


def real_array(xp: Any, values: Any, name: str) -> Any:
    """Return values as an array of floats of a module.

    Raises
    ------
    ProblemError
        They are no real numbers; the message has the name.
    """
    try:
        own = values if hasattr(values, "dtype") else np.asarray(values)
        if own.dtype.kind == "c":
            raise TypeError("some of them are complex")
        return xp.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"'{name}' is no array of real numbers: {error}.") from error


def _canonical(matrix: Any) -> sp.csr_array:
    try:
        if sp.csr_array(matrix).dtype.kind == "c":
            raise TypeError("some entries are complex")
        csr = sp.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(
            f"A {type(matrix).__name__} is no sparse matrix of real numbers, nor what SciPy makes "
            f"one of: {error}."
        ) from error
    csr.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(csr.data))
    if bad.size:
        i = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        raise ProblemError(
            f"Entry ({i}, {int(csr.indices[bad[0]])}) of the matrix is {csr.data[bad[0]]}; "
            "entries must be finite."
        )
    return csr
