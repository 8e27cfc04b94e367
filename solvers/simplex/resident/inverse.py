"""The dense inverse of a nucleus by LU, and which of its columns depend on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device

SMALLEST_PIVOT = 1e-10
"""Pivot element of the factorisation below which a column counts as dependent (of a scaled
matrix, whose coefficients are near one)."""

Dependent = list[tuple[int, int]]
"""Columns of a nucleus that depend on others, and for each the row that they leave without one."""


def inverse_of(device: Device, matrix: Any) -> tuple[Any, Dependent]:
    """Invert a dense matrix in place where possible.

    Parameters
    ----------
    device : Device
        Where ``matrix`` is.
    matrix : (k, k) array
        Is overwritten.

    Returns
    -------
    inverse : (k, k) array
        Contiguous by rows; of no use if there are dependent columns.
    dependent : list of (column, row)
        Empty for a regular matrix.
    """
    k = matrix.shape[0]
    if k == 0:
        return matrix, []
    identity = device.xp.eye(k)
    if device.kind == "cpu":
        from scipy.linalg import lapack

        factors, exchanges, _ = lapack.dgetrf(matrix)
        diagonal = np.diagonal(factors)
        dependent = _dependent(diagonal, exchanges)
        if dependent:
            return matrix, dependent
        solution, _ = lapack.dgetrs(factors, exchanges, identity)
        return np.ascontiguousarray(solution), []
    from cupyx.scipy import linalg

    factors, exchanges = linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)
    dependent = _dependent(
        device.to_host(device.xp.diagonal(factors).copy()), device.to_host(exchanges)
    )
    if dependent:
        return matrix, dependent
    solution = linalg.lu_solve((factors, exchanges), identity, overwrite_b=True, check_finite=False)
    return device.xp.ascontiguousarray(solution), []


def _dependent(diagonal: npt.NDArray[Any], exchanges: npt.NDArray[Any]) -> Dependent:
    """Return the columns whose pivot element vanished, and the rows left for them."""
    small = np.flatnonzero(~(np.abs(diagonal) > SMALLEST_PIVOT))  # a NaN counts as well
    if not small.size:
        return []
    order = np.arange(diagonal.size)
    for place, other in enumerate(exchanges):
        order[place], order[other] = order[other], order[place]
    return [(int(column), int(order[column])) for column in small]
