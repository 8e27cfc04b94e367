"""Dense LU with partial pivoting by the libraries: LAPACK on a CPU, cuSOLVER on a GPU.

    factors = factorise(matrix, device)
    x = solve(factors, b)  # any number of right-hand sides, A or A'

What the paper's elimination is compared with. A GPU must be the current one
(``with device.activate()``).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.errors import ProblemError


class SingularMatrixError(ProblemError):
    """A column has no pivot; ``column`` is its number, counted from 0."""

    def __init__(self, column: int) -> None:
        super().__init__(
            f"The matrix is singular: once the columns before it are eliminated, column {column} "
            "holds nothing but zeros. It depends on those columns; replace it or leave it out."
        )
        self.column = column


@dataclass(frozen=True, eq=False)
class Factors:
    """P A = L U on a device, as the library holds it."""

    device: Device
    lu: Any
    """(n, n): U on and above the diagonal, the unit lower triangular L below."""
    rows: Any
    """(n,) of int32: the row with which each was interchanged, one after the other."""


def _library(device: Device) -> Any:
    if device.kind == "cpu":
        import scipy.linalg

        return scipy.linalg
    import cupyx.scipy.linalg

    return cupyx.scipy.linalg


def factorise(matrix: Any, device: Device) -> Factors:
    """Factorise a square matrix (n, n) of the host or the device, which is left as it is.

    Raises
    ------
    SingularMatrixError
        A pivot is zero.
    ProblemError
        The matrix is not square, or an entry is not finite.
    """
    held = device.to_device(matrix) if isinstance(matrix, np.ndarray) else matrix
    if held.ndim != 2 or held.shape[0] != held.shape[1]:
        raise ProblemError(f"LU needs a square matrix, and this one has the shape {held.shape}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zero pivots, which become an error here
        lu, rows = _library(device).lu_factor(held, check_finite=False)
    pivots = device.to_host(device.xp.diagonal(lu).copy())
    if not np.isfinite(pivots).all():
        column = int(np.argmin(np.isfinite(pivots)))
        raise ProblemError(
            f"Column {column} of the matrix has an entry that is not finite, or numbers ran out of "
            "range when it was eliminated; correct or scale it."
        )
    if not pivots.all():
        raise SingularMatrixError(int(np.argmin(pivots != 0.0)))
    return Factors(device, lu, rows)


def solve(factors: Factors, sides: Any, *, transposed: bool = False) -> Any:
    """Return x with A x = b, or A' x = b, for right-hand sides (n,) or (n, k) on the device."""
    return _library(factors.device).lu_solve(
        (factors.lu, factors.rows), sides, trans=int(transposed), check_finite=False
    )


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n) on the device."""
    return solve(factors, factors.device.xp.eye(factors.lu.shape[0]))
