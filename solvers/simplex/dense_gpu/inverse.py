"""The dense inverse of a nucleus by LU, and which of its columns depend on others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device

SMALLEST_PIVOT = 1e-10
"""Pivot element of the factorisation below which a column counts as dependent (of a scaled
matrix, whose coefficients are near one)."""

Dependent = list[tuple[int, int]]
"""Columns of a nucleus that depend on others, and for each the row that they leave without one."""


class SingularError(ArithmeticError):
    """The factorisation broke down, and does not say at which columns."""


def inverse_of(device: Device, matrix: Any) -> tuple[Any, Dependent]:
    """Invert a dense matrix in its own memory and that of the inverse.

    LAPACK and cuSOLVER count by columns; they are given the transposed matrix and return the
    transposed inverse, so that nothing has to be copied.

    Parameters
    ----------
    device : Device
        Where ``matrix`` is.
    matrix : (k, k) array
        Contiguous by rows; is overwritten.

    Returns
    -------
    inverse : (k, k) array
        Contiguous by rows; of no use if there are dependent columns.
    dependent : list of (column, row)
        Empty for a regular matrix.

    Raises
    ------
    SingularError
        cuSOLVER met a pivot that is exactly zero; ``inverse_on_host`` finds out where.
    """
    k = matrix.shape[0]
    if k == 0:
        return matrix, []
    if device.kind == "cpu":
        return inverse_on_host(matrix)
    from cupyx.scipy import linalg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of singular matrices
        factors, exchanges = linalg.lu_factor(matrix.T, overwrite_a=True, check_finite=False)
    diagonal = device.to_host(device.xp.diagonal(factors).copy())
    if np.isnan(diagonal).any():
        raise SingularError
    dependent = _dependent(diagonal, device.to_host(exchanges))
    if dependent:
        return matrix, dependent
    identity = device.xp.eye(k).T
    solution = linalg.lu_solve((factors, exchanges), identity, overwrite_b=True, check_finite=False)
    return solution.T, []


def inverse_on_host(matrix: npt.NDArray[np.float64]) -> tuple[Any, Dependent]:
    """Do the same with a host array, whose factorisation does not break down."""
    from scipy.linalg import lapack

    factors, exchanges, _ = lapack.dgetrf(matrix.T, overwrite_a=1)
    dependent = _dependent(np.diagonal(factors), exchanges)
    if dependent:
        return matrix, dependent
    identity = np.eye(matrix.shape[0]).T
    solution, _ = lapack.dgetrs(factors, exchanges, identity, overwrite_b=1)
    return solution.T, []


def _dependent(diagonal: npt.NDArray[Any], exchanges: npt.NDArray[Any]) -> Dependent:
    """Return the columns that found no pivot element, and the rows left for them."""
    small = np.flatnonzero(~(np.abs(diagonal) > SMALLEST_PIVOT))
    if not small.size:
        return []
    column = np.arange(diagonal.size)  # of the matrix, which is a row of the transposed one
    for place, other in enumerate(exchanges):
        column[place], column[other] = column[other], column[place]
    return [(int(column[row]), int(row)) for row in small]
